"""Updates of an existing index: add documents, delete some, start a new epoch."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from indexer.documents import Document
from indexer.engines.attachment import Attachment
from indexer.engines.base import Engine
from indexer.engines.write_order import ClaimCheck, WriteResult, skip_claim_check
from indexer.errors import EpochChanged
from indexer.indexing.build import AnalysisOptions, BuildReport, build_index
from indexer.indexing.notifications import DocumentVersion, WriteListener
from indexer.indexing.vector_check import require_fitting_vectors
from indexer.progress import Progress, no_progress
from indexer.runtime.document_spool import DocumentSpool

_MAX_TRIES = 3


def add_documents(
    documents: Iterable[Document],
    engine: Engine,
    index: str,
    progress: Progress = no_progress,
    *,
    processes: int = 1,
    listener: WriteListener | None = None,
    sequence: int | None = None,
    check_claim: ClaimCheck = skip_claim_check,
) -> int:
    """Add or replace documents, analysed with the phrase model of the index; return the number written.

    ``sequence`` and ``check_claim`` are those of ``Engine.add_documents``. Raise BadInput, before anything is written,
    for a document whose vector does not fit the index, and EpochChanged if the index is rebuilt again and again
    meanwhile.
    """
    from indexer.analysis.analyzer import Analyzer

    engine.open_reader(index)  # fails before the documents are read if there is no index
    with DocumentSpool() as spool:
        spool.fill(documents, progress)
        for _ in range(_MAX_TRIES):
            reader = engine.open_reader(index)
            require_fitting_vectors(spool, reader.info)
            ids = [document.id for document in spool]
            write_name = listener.before_write(index, reader.info.epoch, ids) if listener else b""
            analysed = Analyzer(reader.model).analyse_all(
                spool, processes=processes, total=spool.count, progress=progress
            )
            with closing(analysed):  # ends its processes if a write fails
                result = engine.add_documents(index, analysed, sequence=sequence, check_claim=check_claim)
            sequence = result.sequence
            if engine.open_reader(index).info.epoch == reader.info.epoch:
                if listener:
                    written = (document for document in spool if document.id not in result.superseded)
                    versions = {document.id: DocumentVersion.from_document(document) for document in written}
                    listener.after_write(index, reader.info.epoch, versions, sequence, write_name)
                return result.count
            # A refresh came between: the documents were analysed with the model of a former epoch.
    raise EpochChanged(f"index {index!r} was rebuilt {_MAX_TRIES} times during the update", fix="run it again")


def delete_documents(
    engine: Engine, index: str, ids: Iterable[str], *, listener: WriteListener | None = None
) -> WriteResult:
    """Delete documents; the result tells how many of them there were and which there were not."""
    epoch, unique_ids = engine.open_reader(index).info.epoch, list(dict.fromkeys(ids))
    write_name = listener.before_write(index, epoch, unique_ids) if listener else b""
    result = engine.delete_documents(index, unique_ids)
    if listener:
        deleted = [id for id in unique_ids if id not in result.superseded]
        listener.after_write(index, epoch, dict.fromkeys(deleted), result.sequence, write_name)
    return result


def refresh_index(engine: Engine, index: str, progress: Progress = no_progress, *, processes: int = 0) -> BuildReport:
    """Build a new epoch from the documents that the index has now."""
    reader = engine.open_reader(index)
    documents = (analysed.document for analysed in reader.scan())
    analysis = AnalysisOptions.from_index(reader.info)
    attachment = Attachment.from_info(reader.info)
    return build_index(
        documents, engine, index, analysis, progress, processes=processes, force=True, attachment=attachment
    )
