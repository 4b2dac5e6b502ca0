"""Mining a corpus into a phrase model, and analysing documents with it.

``mine`` reads a stream once and returns the model of an epoch. ``Analyser`` turns a document into what an engine
stores; one document or many at a time go through the same arrays, so both ways give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from indexer.documents import AnalysedDocument, Document
from indexer.errors import BadSetting
from indexer.lemmas import Lemmas
from indexer.phrases.build import build_model
from indexer.phrases.choosing import analyse_batch
from indexer.phrases.corpus import Corpus, Progress, code, no_progress
from indexer.phrases.heap import give_back
from indexer.phrases.mining import Mined, Thresholds, mine_phrases
from indexer.phrases.model import PhraseModel
from indexer.phrases.processes import in_order
from indexer.phrases.quality import good_phrases
from indexer.phrases.reading import Reading
from indexer.phrases.travel import arrived, travelling
from indexer.salience import MU, K

Prepared = TypeVar("Prepared")
BATCH = 512
"""Documents analysed at a time."""


def mine(
    documents: Iterable[Document],
    *,
    language: str = "en",
    good_phrases_file: str | Path | None = None,
    min_support: int | None = None,
    k: int = K,
    mu: float = MU,
    salience: str = "default",
    thresholds: Thresholds = Thresholds(),  # noqa: B008
    processes: int = 1,
    total: int = 0,
    progress: Progress = no_progress,
    learnt: Callable[[Corpus, Mined], None] | None = None,
) -> PhraseModel:
    """The phrase model of a corpus; reads the stream once.

    ``salience`` is ``default`` or ``paper``; ``learnt`` is shown what mining found before the model is made.
    """
    if salience not in ("default", "paper"):
        raise BadSetting(f"no salience named {salience!r}", fix="use default or paper")
    lemmas = Lemmas(language)
    corpus = code(documents, lemmas, progress, total, processes)
    lemmas.clear()
    give_back()
    titles = good_phrases(good_phrases_file)
    mined = mine_phrases(corpus, lemmas, titles, thresholds, min_support, progress=progress, processes=processes)
    if learnt:
        learnt(corpus, mined)
    settings: dict[str, object] = {
        "language": language,
        "min_support": mined.support,
        "k": k,
        "mu": mu,
        "salience": salience,
        "known_phrases": mined.known,
        "notes": [lemmas.note] if lemmas.note else [],
    }
    return build_model(corpus, mined, settings, progress, processes)


class Analyser:
    """Analyses documents with the model of an epoch."""

    def __init__(self, model: PhraseModel, lemmas: Mapping[str, str] | None = None) -> None:
        """``lemmas``: of words that are known already."""
        self.model = model
        self._reading = Reading(model)
        self._reading.lemmas.update(lemmas or {})

    def analyse(self, document: Document) -> AnalysedDocument:
        return analyse_batch(self._reading, [document])[0]

    def analyse_all(
        self,
        documents: Iterable[Document],
        *,
        processes: int = 1,
        total: int = 0,
        progress: Progress = no_progress,
    ) -> Iterator[AnalysedDocument]:
        """In the order they come; ``processes`` > 1 shares the work."""
        return self.prepare_all(documents, _as_it_is, processes=processes, total=total, progress=progress)

    def prepare_all(
        self,
        documents: Iterable[Document],
        prepare: Callable[[AnalysedDocument], Prepared],
        *,
        processes: int = 1,
        total: int = 0,
        progress: Progress = no_progress,
    ) -> Iterator[Prepared]:
        """The same, each document as ``prepare`` makes it in the process that analysed it."""
        done = 0
        for part in self._batches(documents, processes, prepare):
            yield from part
            done += len(part)
            progress("analyse", done, total)

    def _batches(
        self, documents: Iterable[Document], processes: int, prepare: Callable[[AnalysedDocument], Prepared]
    ) -> Iterator[list[Prepared]]:
        source = iter(documents)
        parts = iter(lambda: list(islice(source, BATCH)), [])

        if processes < 2:
            for part in parts:
                yield [prepare(read) for read in analyse_batch(self._reading, part)]
            return

        def work(part: list[Document]) -> list[Any]:
            return [travelling(prepare(read)) for read in analyse_batch(self._reading, part)]

        for part, ready in in_order(work, parts, processes):
            yield [arrived(document, one) for document, one in zip(part, ready, strict=True)]


def _as_it_is(analysed: AnalysedDocument) -> AnalysedDocument:
    return analysed


__all__ = ["Analyser", "Thresholds", "mine"]
