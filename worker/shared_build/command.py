"""``phrasecom attach --shared``: the coordinator with the engine, the queue and the credentials of the settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from indexer.engines.attachment import Attachment
from indexer.engines.base import Engine
from indexer.errors import BadInput, StoreUnavailable
from indexer.indexing.build import AnalysisOptions
from indexer.progress import Progress
from indexer.readers.elasticsearch_index import connect_to_source
from indexer.readers.rejects import Rejects
from indexer.readers.shared_source import require_own_ids
from indexer.records import FieldMap
from indexer.settings import Settings
from worker.jobs.config import load_work_config
from worker.redis_connection import REDIS_FIX
from worker.service.container import ServiceContainer
from worker.shared_build.coordinator import SharedBuild, SharedBuildReport, SourceAddress
from worker.shared_build.slice_jobs import SliceJobs


@dataclass(frozen=True)
class SharedAttach:
    """What ``attach`` was asked for; ``fields`` name the one for vectors, if any are read."""

    source: str
    index: str
    fields: FieldMap
    api_key: str | None
    attachment: Attachment | None
    force: bool


def attach_shared(
    asked: SharedAttach,
    engine: Engine,
    settings: Settings,
    rejects: Rejects,
    progress: Progress,
    warn: Callable[[str], None],
) -> SharedBuildReport | None:
    """Share the build out to the workers on the queue of the settings.

    Return None, with nothing built, if the documents are so few that they are all mined here.
    """
    require_own_ids(asked.fields)
    if asked.attachment is None:
        raise BadInput("the cluster of the source has no id yet", fix="form the cluster, or leave --shared out")
    container = ServiceContainer(load_work_config(settings), engine=engine)
    with closing(container):
        try:
            container.store.ping()
        except StoreUnavailable as error:
            raise StoreUnavailable(f"a build is shared out over Redis, but {error.detail}", fix=REDIS_FIX) from error
        connection, name = connect_to_source(asked.source, asked.api_key, settings.engine_timeout_seconds)
        with closing(connection.client):
            return SharedBuild(
                engine,
                asked.index,
                SourceAddress(connection, name, asked.fields, settings.max_document_bytes),
                SliceJobs(container, warn),
                AnalysisOptions.from_settings(settings),
                asked.attachment,
                rejects,
                progress,
                settings.index_processes,
            ).run(force=asked.force)
