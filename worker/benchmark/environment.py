"""What every measurement works with: the corpus, the open engines, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from indexer.engines.base import Engine
from worker import json_bytes
from worker.benchmark.corpus import Corpus
from worker.benchmark.rows import Figures
from worker.benchmark.timing import Times
from worker.benchmark.workload import Page, Pair, draw
from worker.comparer import Comparer
from worker.explain.spec import Question

EMBEDDED, ELASTICSEARCH = "embedded", "elasticsearch"


class Unmeasured(Exception):
    """A row that cannot be measured here; the message says why."""


@dataclass
class Setting:
    corpus: Corpus
    engines: dict[str, Engine]
    """By kind; the embedded one is always there."""
    cases: int = 200
    """Pairs that are compared."""
    budget: float = 20.0
    """Seconds after which a row ends, if it has a few cases."""
    _comparers: dict[str, Comparer] = field(default_factory=dict)

    def comparer(self, kind: str) -> Comparer:
        if kind not in self._comparers:
            self._comparers[kind] = Comparer(self.engines[kind])
        return self._comparers[kind]

    def index(self, kind: str, size: int = 0) -> str:
        """The index of the first so many documents (0: all of them), built unless it is there."""
        return self.corpus.index(self.engines[kind], size or self.corpus.documents)

    @cached_property
    def drawn(self) -> tuple[list[Pair], list[Page]]:
        """From the small corpus, so that the same ones are there at every size."""
        small = self.corpus.small
        ids = [document.id for document in self.corpus.read(small)]
        pairs, pages = draw(self.engines[EMBEDDED].open(self.index(EMBEDDED, small)), ids, self.cases)
        if not pairs:
            raise Unmeasured("no two documents of the corpus are alike")
        return pairs, pages

    def questions(self, kind: str, size: int = 0) -> list[Question]:
        """The pairs as questions about an index."""
        comparer, index = self.comparer(kind), self.index(kind, size)
        return [pair.question(comparer, index) for pair in self.drawn[0]]

    def cold(self, kind: str, size: int = 0) -> Callable[[int], bytes]:
        """One comparison from the question to the bytes of its answer."""
        comparer, questions = self.comparer(kind), self.questions(kind, size)
        return lambda case: answer(comparer, questions[case % len(questions)])


def answer(comparer: Comparer, question: Question) -> bytes:
    return json_bytes.dumps(comparer.compare(question).to_dict())


def in_ms(ours: Times, against: Times | None = None, note: str = "") -> Figures:
    """Medians and 95th percentiles in milliseconds."""
    return Figures(
        1000 * ours.median,
        None if against is None else 1000 * against.median,
        1000 * ours.p95,
        None if against is None else 1000 * against.p95,
        len(ours),
        note,
    )
