"""Mining a corpus into a phrase model, and analysing documents with it.

``mine`` reads a stream once and returns the model of an epoch. ``Analyser`` turns a document into what an engine
stores; one document or many at a time go through the same arrays, so both ways give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from indexer.analysis.salience import MU, K
from indexer.analysis.salient_phrases import analyse_batch, described
from indexer.documents import AnalysedDocument, Document
from indexer.errors import BadSetting
from indexer.mining.encoded_corpus import Corpus, Progress, code, no_progress
from indexer.mining.mined_batches import Kept, Part
from indexer.mining.model_builder import build_model, topics_of
from indexer.mining.phrase_quality import good_phrases
from indexer.mining.pipeline import Mined, Thresholds, document_frequency, mine_phrases
from indexer.model.phrase_model import PhraseModel
from indexer.runtime.document_spool import Spool, in_parts
from indexer.runtime.memory import give_back
from indexer.runtime.process_pool import beside, in_order
from indexer.runtime.transfer import arrived, travelling
from indexer.segmentation.batch import Reading
from indexer.text.lemmatizer import Lemmas

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
    keeping: Callable[[Kept], None] | None = None,
) -> PhraseModel:
    """The phrase model of a corpus; reads the stream once.

    ``salience`` is ``default`` or ``paper``; ``learnt`` is shown what mining found before the model is made, and
    ``keeping`` is handed what spares an analysis of the same documents (``Analyser.prepare_kept``) to read them again.
    """
    if salience not in ("default", "paper"):
        raise BadSetting(f"no salience named {salience!r}", fix="use default or paper")
    lemmas = Lemmas(language)
    corpus = code(documents, lemmas, progress, total, processes, sizes=keeping is not None)
    lemmas.clear()
    give_back()
    titles = good_phrases(good_phrases_file)
    frequency = document_frequency(corpus)
    with beside(partial(topics_of, corpus, frequency), processes) as topics:  # much of mining is the work of one
        mined = mine_phrases(
            corpus, lemmas, titles, frequency, thresholds, min_support, progress=progress, processes=processes
        )
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
    return build_model(corpus, mined, topics, settings, progress, processes, keeping)


class Analyser:
    """Analyses documents with the model of an epoch."""

    def __init__(self, model: PhraseModel) -> None:
        self.model = model
        self._reading = Reading(model)

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
        parts, documents_of = in_parts(documents, BATCH)
        sent = travelling if processes > 1 else _as_it_is

        def work(part: Any) -> list[Any]:
            return [sent(prepare(read)) for read in analyse_batch(self._reading, documents_of(part))]

        return _told(in_order(work, parts, processes), documents_of, total, progress)

    def prepare_kept(
        self,
        kept: Kept,
        spool: Spool,
        prepare: Callable[[AnalysedDocument], Prepared],
        *,
        processes: int = 1,
        progress: Progress = no_progress,
    ) -> Iterator[Prepared]:
        """The same of the documents that the model was mined from, with what mining has read in them."""

        sent = travelling if processes > 1 else _as_it_is

        def documents_of(part: Part) -> list[Document]:
            return spool.read(*part[1:])

        def work(part: Part) -> list[Any]:
            return [sent(prepare(read)) for read in described(self._reading, documents_of(part), kept.read(part))]

        return _told(in_order(work, kept.parts(BATCH), processes), documents_of, spool.count, progress)


def _told(
    ready: Iterator[tuple[Any, list[Any]]],
    documents_of: Callable[[Any], list[Document]],
    total: int,
    progress: Progress,
) -> Iterator[Any]:
    done = 0
    for part, made in ready:
        yield from arrived(partial(documents_of, part), made)
        done += len(made)
        progress("analyse", done, total)


def _as_it_is(ready: Any) -> Any:
    return ready


__all__ = ["Analyser", "Thresholds", "mine"]
