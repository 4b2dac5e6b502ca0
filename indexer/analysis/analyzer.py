"""Analyse documents with the phrase model of an epoch, one or many at a time.

Both ways go through the same arrays, so that they give the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from indexer.analysis.salience import SalienceOptions
from indexer.analysis.salient_phrases import analyse_batch, analyse_segmented_batch
from indexer.documents import AnalysedDocument, Document
from indexer.mining.mined_batches import BatchPart, SegmentedCorpus
from indexer.model.phrase_model import PhraseModel
from indexer.model.query_words import QueryWord, split_query
from indexer.progress import Progress, no_progress
from indexer.runtime.document_spool import DocumentSpool, split_into_parts_and_reader
from indexer.runtime.process_pool import map_in_order
from indexer.runtime.transfer import pack_for_transfer, unpack_transferred
from indexer.segmentation.batch import CompiledModel, find_phrases

Prepared = TypeVar("Prepared")
BATCH_SIZE = 512
"""Documents analysed at a time."""


class Analyzer:
    """Turns documents into what an engine stores, with the model of an epoch."""

    def __init__(self, model: PhraseModel) -> None:
        self.model = model
        self._compiled = CompiledModel(model)
        self._options = SalienceOptions.from_model(model)

    def analyse(self, document: Document, allowed: Collection[str] | None = None) -> AnalysedDocument:
        """Analyse one document; ``allowed``: analyse it as if the model had only these phrases."""
        return analyse_batch(self._compiled, self._options, [document], allowed)[0]

    def split_query(self, text: str) -> list[QueryWord]:
        """Return the words of a query, without function words unless it has nothing else."""
        return split_query(text, self.model)

    def find_phrases(self, documents: Sequence[Document]) -> list[str]:
        """Return every phrase of the model that ``analyse`` may find in the documents, nested ones and pairs too."""
        return find_phrases(self._compiled, documents)

    def analyse_all(
        self,
        documents: Iterable[Document],
        *,
        processes: int = 1,
        total: int = 0,
        progress: Progress = no_progress,
    ) -> Generator[AnalysedDocument, None, None]:
        """Yield the documents analysed, in their order; ``processes`` > 1 shares the work.

        ``total`` is the number of documents reported to ``progress``.
        """
        return self.analyse_and_prepare_all(
            documents, _return_unchanged, processes=processes, total=total, progress=progress
        )

    def analyse_and_prepare_all(
        self,
        documents: Iterable[Document],
        prepare: Callable[[AnalysedDocument], Prepared],
        *,
        processes: int = 1,
        total: int = 0,
        progress: Progress = no_progress,
    ) -> Generator[Prepared, None, None]:
        """Analyse the documents and yield ``prepare(analysed)`` for each, computed in the process that analysed it."""
        parts, read_part = split_into_parts_and_reader(documents, BATCH_SIZE)
        pack = pack_for_transfer if processes > 1 else _return_unchanged

        def analyse_part(part: Any) -> list[Any]:
            analysed = analyse_batch(self._compiled, self._options, read_part(part))
            return [pack(prepare(document)) for document in analysed]

        return _unpack_and_report_progress(map_in_order(analyse_part, parts, processes), read_part, total, progress)

    def analyse_and_prepare_segmented(
        self,
        corpus: SegmentedCorpus,
        spool: DocumentSpool,
        prepare: Callable[[AnalysedDocument], Prepared],
        *,
        processes: int = 1,
        progress: Progress = no_progress,
    ) -> Generator[Prepared, None, None]:
        """Do as ``analyse_and_prepare_all`` for documents that are segmented already.

        ``corpus`` has their segmentation and ``spool`` the documents, in the same order.
        """
        pack = pack_for_transfer if processes > 1 else _return_unchanged

        def read_part(part: BatchPart) -> list[Document]:
            return spool.read(*part[1:])

        read_segmented = corpus.load_part_reader()

        def analyse_part(part: BatchPart) -> list[Any]:
            analysed = analyse_segmented_batch(self._compiled, self._options, read_part(part), read_segmented(part))
            return [pack(prepare(document)) for document in analysed]

        return _unpack_and_report_progress(
            map_in_order(analyse_part, corpus.iterate_parts(BATCH_SIZE), processes), read_part, spool.count, progress
        )


def _unpack_and_report_progress(
    results_by_part: Generator[tuple[Any, list[Any]], None, None],
    read_part: Callable[[Any], list[Document]],
    total: int,
    progress: Progress,
) -> Generator[Any, None, None]:
    done = 0
    with closing(results_by_part):  # ends its processes when this generator is closed
        for part, received in results_by_part:
            yield from unpack_transferred(partial(read_part, part), received)
            done += len(received)
            progress("analyse", done, total)


def _return_unchanged(prepared: Any) -> Any:
    return prepared
