"""A source with a few hundred documents, and what is needed to share out a build of it to real workers."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from elasticsearch import Elasticsearch, helpers

from indexer.engines.base import Engine, Reader
from indexer.indexing.build import AnalysisOptions, BuildReport, build_index
from indexer.progress import Progress, no_progress
from indexer.readers.elasticsearch_index import connect_to_source, find_attachment, read_elasticsearch_index
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap
from indexer.vectors import VECTOR_SETTING
from tests.support.corpora.small_corpus import generate_documents
from tests.support.engines import open_elasticsearch
from tests.support.faults.worker_killer import find_job_owner
from tests.support.workers import launch_worker, make_work_config, stop_workers
from worker.jobs.config import WorkConfig
from worker.jobs.redis_store import RedisJobStore
from worker.redis_connection import connect
from worker.service.container import ServiceContainer
from worker.shared_build.coordinator import SharedBuild, SharedBuildReport, SourceAddress
from worker.shared_build.slice_jobs import SliceJobs

FIELDS = FieldMap.parse(["title=headline", "text=body", "acl=", "vector=place"])
DOCUMENTS = 300
SAMPLED = AnalysisOptions(sample_documents=80)
MAX_DOCUMENT_BYTES = 2**20


def make_stories(count: int = DOCUMENTS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ids and bodies: with words of their own and vectors, one of them without text, and a few without vector."""
    rng = np.random.default_rng(3)
    for number, document in enumerate(generate_documents(count)):
        text = f"{document.text} A neologism{number} and rareword{number % 50} were there."
        body: dict[str, Any] = {"headline": document.title, "body": text if number != 7 else ""}
        if number % 40:
            body["place"] = rng.standard_normal(8).tolist()
        yield document.id, body


class SharedBuildSite:
    """An engine with workers on its queue, and a source on the same server."""

    def __init__(self, url: str, engine: Engine, config: WorkConfig, folder: Path) -> None:
        self.client, self.engine, self.config, self.folder = Elasticsearch(url), engine, config, folder
        self.name = f"stories-{uuid.uuid4().hex[:8]}"
        self.address = f"{url}/{self.name}"
        self.put_source(self.name)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.ordinary: BuildReport | None = None
        """Of a build in one process."""

    def put_source(self, name: str) -> None:
        """Create an index with the stories."""
        mappings = {"properties": {"place": {"type": "dense_vector", "dims": 8}}}
        self.client.indices.create(index=name, mappings=mappings, settings={"number_of_shards": 2})
        actions = ({"_index": name, "_id": id, "_source": body} for id, body in make_stories())
        helpers.bulk(self.client, actions, refresh=True)

    def start_worker(self) -> subprocess.Popen[bytes]:
        log = self.folder / f"worker-{len(self.workers)}.log"
        self.workers.append(launch_worker(self.config, log, "bulk"))
        return self.workers[-1]

    def build_here(self, index: str) -> BuildReport:
        rejects = Rejects()
        documents = read_elasticsearch_index(self.address, rejects, FIELDS, MAX_DOCUMENT_BYTES)
        attachment = find_attachment(self.address, FIELDS)
        return build_index(documents, self.engine, index, SAMPLED, rejects=rejects, processes=1, attachment=attachment)

    def build_shared(
        self,
        index: str,
        analysis: AnalysisOptions = SAMPLED,
        progress: Progress = no_progress,
        engine: Engine | None = None,
        address: str = "",
        config: WorkConfig | None = None,
        api_key: str | None = None,
        **options: Any,
    ) -> SharedBuildReport | None:
        """Build as ``attach --shared`` does; ``address``: of another source."""
        attachment = find_attachment(address or self.address, FIELDS)
        assert attachment is not None
        with ExitStack() as closing:
            connection, name = connect_to_source(address or self.address, api_key, 30.0)
            closing.callback(connection.client.close)
            container = ServiceContainer(config or self.config, engine=engine or self.engine)
            closing.callback(container.close)
            source = SourceAddress(connection, name, FIELDS, MAX_DOCUMENT_BYTES)
            jobs, rejects = SliceJobs(container), Rejects()
            build = SharedBuild(engine or self.engine, index, source, jobs, analysis, attachment, rejects, progress, 1)
            return build.run(**options)

    def list_running_slices(self) -> dict[str, int]:
        """Return the slices that run now, and the process that runs each."""
        with self.open_store() as store:
            ids = [id.decode() for id in cast("list[bytes]", store.client.zrange(store.prefix + "due", 0, -1))]
            owners = {id: find_job_owner(store, id)[0] for id in ids}
            return {id: pid for id, pid in owners.items() if pid}

    def count_open_slices(self) -> int:
        with self.open_store() as store:
            return sum(store.get_statistics().open_jobs.values())

    @contextmanager
    def open_store(self) -> Iterator[RedisJobStore]:
        with connect(self.config.redis_url) as client:
            yield RedisJobStore(client, self.config.limits, self.config.key_prefix)

    def list_index_names(self) -> set[str]:
        """Return the concrete indexes of the engine's server that are ours."""
        return set(self.client.indices.get(index=f"{self.config.engine_options['prefix']}*").body)

    def close(self) -> None:
        stop_workers(self.workers)
        self.client.indices.delete(index=self.name, ignore_unavailable=True)
        self.client.close()


@contextmanager
def open_site(
    elasticsearch_url: str, valkey_url: str, folder: Path, lease_seconds: float = 3.0
) -> Iterator[SharedBuildSite]:
    """Open a site; after ``lease_seconds`` the slice of a lost worker is given to another."""
    with open_elasticsearch(elasticsearch_url) as engine:
        options = {"prefix": getattr(engine, "prefix", "")}
        config = replace(make_work_config(valkey_url, folder), engine=elasticsearch_url, engine_options=options)
        limits = replace(config.limits, lease_seconds=lease_seconds, resend_seconds=lease_seconds)
        config = replace(config, limits=limits)
        site = SharedBuildSite(elasticsearch_url, engine, config, folder)
        yield site
        site.close()


EQUAL_ARRAYS = (
    "quality", "document_frequency", "word_document_frequency", "phrase_word_ids", "topic_vectors",
    "topic_centroid", "reservoir_phrase_ids", "reservoir_vectors", "reservoir_places", "centroid_counts",
)  # fmt: skip
"""Fields of a model that do not depend on the order in which slices are merged."""


def require_equal(shared: Reader, ordinary: Reader) -> None:
    """Compare two epochs of the same documents; sums may differ in their last digits."""
    for name in ("phrases", "display_forms", "words"):
        assert list(getattr(shared.model, name)) == list(getattr(ordinary.model, name)), name
    for name in EQUAL_ARRAYS:
        assert np.array_equal(getattr(shared.model, name), getattr(ordinary.model, name)), name
    for name in ("degree", "background"):
        np.testing.assert_allclose(getattr(shared.model, name), getattr(ordinary.model, name), rtol=1e-9)
    np.testing.assert_allclose(
        shared.model.phrase_topic_vectors.astype(float), ordinary.model.phrase_topic_vectors.astype(float), atol=2e-3
    )
    by_id = [{each.document.id: each for each in reader.scan()} for reader in (shared, ordinary)]
    assert by_id[0] == by_id[1]
    for name in ("asked", "edges", "pairs", "mined_documents", VECTOR_SETTING):
        assert shared.info.settings.get(name) == ordinary.info.settings.get(name), name
