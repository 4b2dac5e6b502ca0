"""The parts that web and worker processes share, opened when first needed."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from indexer.engines.base import Engine
from indexer.errors import BadSetting
from worker.cache.key_value import Keys, MemoryKeys, RedisKeys
from worker.cache.versions import Mirror
from worker.index_catalog import Library
from worker.jobs.config import WorkConfig
from worker.jobs.job import JobStore, Queue
from worker.jobs.lease import Reaper
from worker.jobs.memory_store import MemoryJobs
from worker.jobs.redis_store import RedisJobs, connect
from worker.jobs.statistics import Stopwatch

log = logging.getLogger(__name__)


class Service:
    """With a Redis URL jobs go to Celery workers; without one, threads of this process run them."""

    def __init__(
        self, config: WorkConfig, *, engine: Engine | None = None, took: Callable[[float], None] | None = None
    ) -> None:
        """``took`` hears the seconds of each request to Elasticsearch; without it ``stopwatch`` does."""
        self.config = config
        self.stopwatch = Stopwatch()
        self._took = took or self.stopwatch.took
        self.inline = not config.redis_url
        self._given_engine = engine
        self._opening = threading.RLock()
        self._listeners: list[Callable[[str], None]] = []
        self._reaper: Reaper | None = None
        self.store: JobStore
        self.keys: Keys
        if self.inline:
            self.store = MemoryJobs(config.limits, lambda id: self._publish(f"job {id}"))
            self.keys = MemoryKeys(self._publish)
        else:
            self.redis = connect(config.redis_url)
            self.store = RedisJobs(self.redis, config.limits, config.key_prefix)
            self.keys = RedisKeys(self.redis, config.key_prefix)

    @property
    def engine(self) -> Engine:
        return self.library.engine

    @property
    def library(self) -> Library:
        with self._opening:
            return self._library

    @cached_property
    def _library(self) -> Library:
        if self._given_engine is not None:
            return Library(self._given_engine, self.config.max_set)
        from indexer.engines import open_engine

        engine = open_engine(self.config.engine, **self.config.engine_options)
        engine.time_requests(self._took)
        return Library(engine, self.config.max_set)

    @property
    def comparer(self) -> Any:
        with self._opening:
            return self._comparer

    @cached_property
    def _comparer(self) -> Any:
        from worker.explain.resolver import Limits

        limits = Limits(self.config.max_set, self.config.max_text_bytes)
        return _factory(self.config.comparer)(self.library.engine, limits=limits)

    @property
    def mirror(self) -> Mirror:
        with self._opening:
            return self._mirror

    @cached_property
    def _mirror(self) -> Mirror:
        config = self.config
        return Mirror(
            self.keys,
            self.library,
            epoch_ttl=config.epoch_ttl,
            document_ttl=config.document_ttl,
            rights_ttl=config.rights_ttl,
        )

    def announce(self, id: str, queue: Queue) -> None:
        """Let a worker know of a queued job."""
        if self.inline:
            with self._opening:
                self._threads.submit(self.run_here, id)
        else:
            with self._opening:
                announce = self._announce
            announce(id, queue)

    def run_here(self, id: str) -> None:
        """Run a job in this process, all its pieces one after the other."""
        from worker.jobs.runner import run_job
        from worker.service.job_handlers import works

        try:
            while run_job(self.store, id, works(self)):
                pass
        except Exception:  # a thread of the pool has nobody to tell
            log.exception("job %s", id)

    def listen(self, listener: Callable[[str], None]) -> None:
        """Inline only: hear what would go over the events channel."""
        self._listeners.append(listener)

    def _publish(self, message: str) -> None:
        for listener in self._listeners:
            listener(message)

    def close(self) -> None:
        """Let go of connections, threads and the engine it opened itself."""
        if self.inline:
            with self._opening:
                self._threads.shutdown(wait=False, cancel_futures=True)
            if self._reaper is not None:
                self._reaper.stop()
        else:
            self.redis.close()
        if "_library" in self.__dict__ and self._given_engine is None:
            self._library.engine.close()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        if isinstance(self.store, MemoryJobs):
            self._reaper = Reaper(self.store, self.announce, self.config.reap_every, "inline")
            self._reaper.start()
        return ThreadPoolExecutor(self.config.inline_threads, thread_name_prefix="inline")

    @cached_property
    def _announce(self) -> Callable[[str, Queue], None]:
        from worker.jobs.celery_queue import announce, make_app

        app = make_app(self.config)
        return lambda id, queue: announce(app, id, queue)


def _factory(written: str) -> Any:
    module, _, name = written.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadSetting(f"cannot load the comparer {written!r}: {error}", fix="name it as module:factory") from error
