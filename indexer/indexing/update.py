"""Changing an index that is there: add documents, take some out, start a new epoch."""

from __future__ import annotations

from collections.abc import Iterable

from indexer.documents import Document
from indexer.engines.attachment import Attached
from indexer.engines.base import Engine
from indexer.errors import EpochChanged
from indexer.indexing.build import Analysis, BuildReport, build_index
from indexer.indexing.notifications import Audience, Version
from indexer.progress import Progress, no_progress
from indexer.runtime.document_spool import Spool

_TRIES = 3


def add_documents(
    documents: Iterable[Document],
    engine: Engine,
    index: str,
    progress: Progress = no_progress,
    *,
    processes: int = 1,
    audience: Audience | None = None,
) -> int:
    """Add or replace documents, analysed with the index's own phrase model. The number written."""
    from indexer.analysis.analyzer import Analyser

    engine.open(index)  # an index that is not there is told before the reading
    with Spool() as spool:
        spool.fill(documents, progress)
        for _ in range(_TRIES):
            reader = engine.open(index)
            if audience:
                audience.writing(index, reader.info.epoch, [document.id for document in spool])
            analysed = Analyser(reader.model).analyse_all(
                spool, processes=processes, total=spool.count, progress=progress
            )
            written = engine.add(index, analysed)
            if engine.open(index).info.epoch == reader.info.epoch:
                if audience:
                    audience.wrote(index, reader.info.epoch, {d.id: Version.of(d) for d in spool})
                return written
            # A refresh came between: these were analysed with the model of an epoch that is gone.
    raise EpochChanged(f"index {index!r} was rebuilt {_TRIES} times meanwhile", fix="run it again")


def delete_documents(engine: Engine, index: str, ids: Iterable[str], *, audience: Audience | None = None) -> int:
    """Take documents out; the number that were there."""
    epoch, wanted = engine.open(index).info.epoch, list(dict.fromkeys(ids))
    if audience:
        audience.writing(index, epoch, wanted)
    deleted = engine.delete(index, wanted)
    if audience:
        audience.wrote(index, epoch, dict.fromkeys(wanted))
    return deleted


def refresh_index(engine: Engine, index: str, progress: Progress = no_progress, *, processes: int = 0) -> BuildReport:
    """Mine again from the live documents and make that the new epoch."""
    reader = engine.open(index)
    documents = (analysed.document for analysed in reader.scan())
    analysis = Analysis.of_index(reader.info)
    attached = Attached.of(reader.info)
    return build_index(documents, engine, index, analysis, progress, processes=processes, force=True, attached=attached)
