"""A comparison from start to end: sides -> neighbourhood -> problem -> sorting -> answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from indexer.engines import open_engine
from indexer.engines.base import Engine, Groups, Neighbourhood, Reader
from indexer.errors import BadParameter, EpochChanged
from indexer.runtime.collecting import collecting_later
from worker.analysers import Analysers
from worker.answer.builder import Found, present
from worker.answer.comparison import Comparison
from worker.answer.near_duplicates import Folder
from worker.explain.candidates import Candidates
from worker.explain.neighbourhood import LocalGraph, Pair, local_graph, reach
from worker.explain.pair_features import pose
from worker.explain.placing import place_together
from worker.explain.query_side import for_a_query, ranked_for_a_query
from worker.explain.resolver import Limits, resolve
from worker.explain.side import Side
from worker.explain.spec import GRAPHS, Question, ask
from worker.methods import METHODS
from worker.methods.base import Problem, Sorting
from worker.methods.log_evidence import measured
from worker.methods.relevance import prepare

T = TypeVar("T")
Progress = Callable[[float, str], None]
READS_NEIGHBOURS = ("topic_label", "context_fuzzy")
"""Methods that look at the words around a phrase in other documents."""
READS_COUNTS = ("patent_com",)
"""Methods that ask how often a phrase occurs in a set; the others, whether it does."""
READS_WEIGHTS = ("string_fuzzy",)
"""Methods that ask what the words of a phrase weigh on a side that need not hold all of it."""
_TRIES = 3
"""How often a comparison starts again because a new epoch came in."""


class Comparer:
    """One open engine, many comparisons; may be shared by threads."""

    def __init__(self, engine: Engine | str, *, limits: Limits | None = None) -> None:
        self.engine = open_engine(engine) if isinstance(engine, str) else engine
        self.limits = limits or Limits()
        self._readers: dict[str, Reader] = {}
        self._analysers = Analysers()

    question = staticmethod(ask)
    """A checked question, to be compared or explained."""

    def compare(self, question: Question, progress: Progress | None = None) -> Comparison:
        """The answer, all of it from one epoch."""
        (answer,) = self.compare_as([question], progress)
        return answer

    def compare_as(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Comparison]:
        """The answers to one question that is to be shown in several ways (cap, candidates), found once."""
        return self._in_one_epoch(questions, lambda reader: self._compare(reader, questions, progress or _silent))

    def explain(self, questions: Sequence[Question]) -> Iterator[Comparison]:
        """The answers to many questions about one index, for one caller, each as it is ready.

        All sides are fetched in one request and all neighbourhoods reached in one. Where more documents are reached
        than one neighbourhood holds, an answer may therefore differ a little from the one to its question alone.
        """
        if not questions:
            return
        first = questions[0]
        if any(_apart(question, first) for question in questions):
            raise BadParameter(
                "questions explained together differ in index, rights or graph", fix="compare them singly"
            )
        pairs, found = self._in_one_epoch(questions, lambda reader: self._prepare(reader, questions))
        folder = Folder(pairs[0].a.reader.model)
        for question, pair in zip(questions, pairs, strict=True):
            with collecting_later():
                (answer,) = _answers([question], pair, found, folder, _Watch(), alone=len(questions) == 1)
            yield answer

    def close(self) -> None:
        self.engine.close()

    def _compare(self, reader: Reader, questions: Sequence[Question], progress: Progress) -> list[Comparison]:
        watch, question = _Watch(), questions[0]
        (pair,) = self._pairs(reader, [question])
        watch.lap("fetch")
        progress(0.3, "fetched both sides")
        found = None if question.full else reach(reader, [pair], size=question.neighbours, groups=question.groups)
        progress(0.8, "reached the neighbourhood")
        return _answers(questions, pair, found, Folder(reader.model), watch, alone=True)

    def _prepare(self, reader: Reader, questions: Sequence[Question]) -> tuple[list[Pair], Neighbourhood]:
        pairs = self._pairs(reader, questions)
        place_together(side for pair in pairs for side in (pair.a, pair.b))
        size = max(question.neighbours for question in questions)
        return pairs, reach(reader, pairs, size=size, groups=questions[0].groups)

    def _pairs(self, reader: Reader, questions: Sequence[Question]) -> list[Pair]:
        sides = [side for question in questions for side in (question.a, question.b)]
        analyser = None if all(side.ids for side in sides) else self._analysers.of(reader)
        found = resolve(reader, sides, limits=self.limits, groups=questions[0].groups, analyser=analyser)
        return [
            Pair(a, b, Candidates.of(a, b, question.k))
            for question, a, b in zip(questions, found[::2], found[1::2], strict=True)
        ]

    def _in_one_epoch(self, questions: Sequence[Question], step: Callable[[Reader], T]) -> T:
        """Run a step on the current epoch of the questions' index, again if another replaces it meanwhile."""
        with collecting_later():
            for _ in range(_TRIES - 1):
                try:
                    return step(self._reader(questions))
                except EpochChanged:
                    self._readers.pop(questions[0].index, None)
            return step(self._reader(questions))

    def _reader(self, questions: Sequence[Question]) -> Reader:
        """One is kept until it says that its epoch is over. Who reads no document would never hear of that."""
        index = questions[0].index
        deaf = any(q.full or {q.a.kind, q.b.kind} <= {"query", "text"} for q in questions)
        reader = None if deaf else self._readers.get(index)
        if reader is None:
            reader = self._readers[index] = self.engine.open(index)
        return reader


def _apart(one: Question, other: Question) -> bool:
    """Whether two questions cannot share what is read for them."""
    return one.full or (one.index, one.groups) != (other.index, other.groups)


def _answers(
    shown: Sequence[Question], pair: Pair, found: Neighbourhood | None, folder: Folder, watch: _Watch, *, alone: bool
) -> list[Comparison]:
    """What is found about a pair, shown in every way that is asked for."""
    question = shown[0]
    graph = _graph(question, pair, found, alone=alone)
    watch.lap("neighbourhood")
    problem, sorting = _sort(question, pair, graph)
    watch.lap("solve")
    answers = [present(one, Found(pair, graph, problem, sorting), folder) for one in shown]
    watch.lap("evidence")
    for answer in answers:
        answer.stats.ms.update(watch.ms)
    return answers


def _graph(question: Question, pair: Pair, found: Neighbourhood | None, *, alone: bool) -> LocalGraph:
    if found is None:
        from worker.explain.full_graph import full_graph

        return full_graph(pair, question.groups, question.without)
    return local_graph(pair, found, size=question.neighbours, without=question.without, alone=alone)


def _sort(question: Question, pair: Pair, graph: LocalGraph) -> tuple[Problem, Sorting]:
    """The problem and how the method sorts it."""
    query = _query(question, pair)
    parameters = for_a_query(question.parameters) if query else question.parameters
    literal = question.full and question.preset == "paper"
    problem = pose(
        pair,
        graph,
        parameters,
        whole_members=literal,
        counted=question.method in READS_COUNTS,
        weighed=question.method in READS_WEIGHTS or (query is not None and not _phrases(pair, query)),
    )
    if question.method in READS_NEIGHBOURS:
        problem = replace(problem, texts=_texts(pair, graph, question.groups))
    if query:  # in an order of its own
        return problem, ranked_for_a_query(problem, measured(problem, prepare(problem, question.method)), query)
    return problem, METHODS[question.method].sort(problem)


def _query(question: Question, pair: Pair) -> Literal["a", "b"] | None:
    """Which side is a query to be sorted by; the literal methods make no difference."""
    if question.method != "cda" or question.parameters.threshold != "log" or pair.a.kind == pair.b.kind:
        return None
    return "a" if pair.a.kind == "query" else "b" if pair.b.kind == "query" else None


def _phrases(pair: Pair, side: Literal["a", "b"]) -> Sequence[str]:
    return pair.candidates.of_a if side == "a" else pair.candidates.of_b


def _texts(pair: Pair, graph: LocalGraph, groups: Groups) -> list[list[str]]:
    """Lemmas of the neighbourhood's documents, one request more."""
    found = pair.a.reader.fetch(graph.indexed(), groups)
    return [document.tokens.split() for document in found if document is not None]


class _Watch:
    """Milliseconds of each step."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.ms[name] = round(1000 * (now - self._last), 2)
        self._last = now


def _silent(share: float, doing: str) -> None:
    """Tells nobody."""


def compare(
    a: str | Side,
    b: str | Side,
    *,
    index: str,
    engine: str | Engine | Comparer | None = None,
    method: str = "cda",
    preset: str = "default",
    graph: str | bool = "neighbourhood",
    **options: Any,
) -> Comparison:
    """Compare two sides, written as on the shell. For many pairs, open a Comparer once and hand it in as engine.

    ``graph`` is what to solve on, ``neighbourhood`` or ``full``; True puts the neighbourhood into the answer.
    """
    if not isinstance(graph, bool) and graph not in GRAPHS:
        raise BadParameter(f"no graph named {graph!r}", fix=f"use one of {', '.join(GRAPHS)}")
    sides = [side if isinstance(side, Side) else Side.from_text(side) for side in (a, b)]
    comparer = engine if isinstance(engine, Comparer) else Comparer(engine if engine is not None else _default_engine())
    try:
        question = comparer.question(
            index,
            *sides,
            method=method,
            preset=preset,
            options={"graph": graph is True, **options},
            full=graph == "full",
        )
        return comparer.compare(question)
    finally:
        if isinstance(engine, str) or engine is None:
            comparer.close()


def _default_engine() -> str:
    from indexer.settings import load_settings

    return load_settings().engine
