"""The parts that web and worker processes share (store, caches, engine, comparer), opened when first needed."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from indexer.engines.base import Engine
from indexer.errors import BadSetting
from worker.cache.key_value import KeyValueStore, MemoryKeyValueStore, RedisKeyValueStore
from worker.cache.versions import VersionCache
from worker.index_catalog import IndexCatalog
from worker.jobs.config import WorkConfig
from worker.jobs.job import QueueName
from worker.jobs.memory_store import MemoryJobStore
from worker.jobs.reaper import Reaper
from worker.jobs.redis_store import RedisJobStore
from worker.jobs.runner import run_job_chunk
from worker.jobs.statistics import DurationRecorder
from worker.jobs.store import JobStore
from worker.redis_connection import connect
from worker.service.build_slices import SliceRunner
from worker.service.job_handlers import make_job_handlers

if TYPE_CHECKING:
    from worker.comparer import Comparer

log = logging.getLogger(__name__)


class ServiceContainer:
    """The shared parts of one process; may be used from several threads.

    With a Redis URL jobs go to Celery workers; without one, threads of this process run them.
    """

    def __init__(
        self,
        config: WorkConfig,
        *,
        engine: Engine | None = None,
        on_engine_request: Callable[[float], None] | None = None,
    ) -> None:
        """Connect to Redis; the engine is opened later, unless an open one is passed.

        ``on_engine_request`` is called with the seconds of each request to Elasticsearch; by default they are
        recorded in ``engine_durations``.
        """
        self.config = config
        self.engine_durations = DurationRecorder()
        self._on_engine_request = on_engine_request or self.engine_durations.record
        self.is_inline = not config.redis_url
        self._passed_engine = engine
        self._opening = threading.RLock()
        self._listeners: list[Callable[[str], None]] = []
        self._reaper: Reaper | None = None
        self.store: JobStore
        self.key_values: KeyValueStore
        if self.is_inline:
            self.store = MemoryJobStore(config.limits, lambda id: self._publish(f"job {id}"))
            self.key_values = MemoryKeyValueStore(self._publish)
        else:
            self.redis = connect(config.redis_url)
            self.store = RedisJobStore(self.redis, config.limits, config.key_prefix)
            self.key_values = RedisKeyValueStore(self.redis, config.key_prefix)

    @property
    def engine(self) -> Engine:
        return self.catalog.engine

    @property
    def catalog(self) -> IndexCatalog:
        with self._opening:
            return self._catalog

    @cached_property
    def _catalog(self) -> IndexCatalog:
        if self._passed_engine is not None:
            return IndexCatalog(self._passed_engine, self.config.max_set)
        from indexer.engines import open_engine

        engine = open_engine(self.config.engine, **self.config.engine_options)
        engine.time_requests(self._on_engine_request)
        return IndexCatalog(engine, self.config.max_set)

    @property
    def comparer(self) -> Comparer:
        with self._opening:
            return self._comparer

    @cached_property
    def _comparer(self) -> Comparer:
        from worker.explain.side_limits import SideLimits

        limits = SideLimits(self.config.max_set, self.config.max_text_bytes)
        comparer: Comparer = _load_factory(self.config.comparer)(self.catalog.engine, limits=limits)
        return comparer

    @property
    def versions(self) -> VersionCache:
        with self._opening:
            return self._versions

    @cached_property
    def _versions(self) -> VersionCache:
        config = self.config
        return VersionCache(
            self.key_values,
            self.catalog,
            epoch_ttl=config.epoch_ttl,
            document_ttl=config.document_ttl,
            acl_ttl=config.acl_ttl,
        )

    @property
    def slice_runner(self) -> SliceRunner:
        with self._opening:
            return self._slice_runner

    @cached_property
    def _slice_runner(self) -> SliceRunner:
        return SliceRunner(self)

    def announce_job(self, id: str, queue: QueueName) -> None:
        """Notify the workers of a queued job; raise StoreUnavailable when the broker cannot be reached."""
        if self.is_inline:
            with self._opening:
                self._threads.submit(self.run_inline, id)
        else:
            with self._opening:
                announce = self._announce
            announce(id, queue)

    def run_inline(self, id: str) -> None:
        """Run a job in this thread, all its chunks one after the other."""
        try:
            while run_job_chunk(self.store, id, make_job_handlers(self)):
                pass
        except Exception:  # the result of a pool thread is never read
            log.exception("job %s failed", id)

    def add_listener(self, listener: Callable[[str], None]) -> None:
        """Add a listener for the messages that go over the events channel of Redis; inline only."""
        self._listeners.append(listener)

    def _publish(self, message: str) -> None:
        for listener in self._listeners:
            listener(message)

    def close(self) -> None:
        """Close connections, threads and the engine, unless an open engine was passed."""
        if self.is_inline:
            with self._opening:
                self._threads.shutdown(wait=False, cancel_futures=True)
            if self._reaper is not None:
                self._reaper.stop()
        else:
            self.redis.close()
        if "_catalog" in self.__dict__ and self._passed_engine is None:
            self._catalog.engine.close()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        self._reaper = Reaper(self.store, self.announce_job, self.config.reap_interval, "inline")
        self._reaper.start()
        return ThreadPoolExecutor(self.config.inline_threads, thread_name_prefix="inline")

    @cached_property
    def _announce(self) -> Callable[[str, QueueName], None]:
        from worker.jobs.celery_queue import announce_job, make_celery_app  # an inline server needs no Celery

        app = make_celery_app(self.config)
        return lambda id, queue: announce_job(app, id, queue)


def _load_factory(path: str) -> Any:
    """Return the factory that ``module:factory`` names; raise BadSetting if there is none."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadSetting(f"cannot load the comparer {path!r}: {error}", fix="write it as module:factory") from error
