"""What a scrape looks up at that moment: queues, ended jobs, epochs, and what can be reached."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from indexer.engines.base import Engine, IndexInfo
from indexer.errors import PhraseComError
from worker.access import Caller
from worker.jobs.celery_queue import QUEUES
from worker.jobs.statistics import Census
from worker.service.container import Service

_STATES: Final = ("queued", "running")


class State(Collector):
    """Reads the job store and the engine, so it costs a few requests; made anew for each scrape.

    Of indexes it tells those that the caller may use.
    """

    def __init__(self, service: Service, caller: Caller) -> None:
        self._service = service
        self._caller = caller

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("phrasecom_up", "Whether a part can be reached: store, worker, engine", labels=["part"])
        census = _census(self._service)
        up.add_metric(["store"], float(census is not None))
        if census is not None:
            up.add_metric(["worker"], float(census.worker))
            yield from _jobs(census)
        infos = _infos(self._service, self._caller)
        up.add_metric(["engine"], float(infos is not None))
        yield from _epochs(infos or ())
        yield up


def _census(service: Service) -> Census | None:
    try:
        return service.store.census()
    except PhraseComError:
        return None


def _infos(service: Service, caller: Caller) -> list[IndexInfo] | None:
    """Of every index of theirs that can be read; None when the engine does not answer at once."""
    try:
        engine = service.engine
        engine.ping()
        names = filter(caller.may_use, engine.indexes())
        return [info for name in names if (info := _info(engine, name))]
    except PhraseComError:
        return None


def _info(engine: Engine, name: str) -> IndexInfo | None:
    try:
        return engine.info(name)
    except PhraseComError:
        return None


def _jobs(census: Census) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("phrasecom_jobs", "Jobs that are not over", labels=["queue", "state"])
    age = GaugeMetricFamily(
        "phrasecom_queue_age_seconds",
        "How long the oldest job that nobody runs has waited since it was last queued",
        labels=["queue"],
    )
    still = GaugeMetricFamily(
        "phrasecom_standstill_seconds", "How long the oldest job that is not over has got no further", labels=["queue"]
    )
    for queue in QUEUES:
        age.add_metric([queue], census.oldest.get(queue, 0.0))
        still.add_metric([queue], census.standstill.get(queue, 0.0))
        for state in _STATES:
            jobs.add_metric([queue, state], census.jobs.get((queue, state), 0))
    ended = CounterMetricFamily("phrasecom_jobs_ended", "Jobs that are over, and how", labels=["state", "code"])
    for how in sorted({("done", ""), ("failed", "internal"), *census.ended}):
        ended.add_metric(list(how), census.ended.get(how, 0))
    took = HistogramMetricFamily(
        "phrasecom_worker_elasticsearch_seconds", "How long workers' requests to Elasticsearch took"
    )
    took.add_metric([], census.elasticsearch.cumulative(), sum_value=census.elasticsearch.seconds)
    yield from (jobs, age, still, ended, took)


def _epochs(infos: Iterable[IndexInfo]) -> Iterator[Metric]:
    age = GaugeMetricFamily("phrasecom_epoch_age_seconds", "How long ago an index was built", labels=["index"])
    documents = GaugeMetricFamily("phrasecom_index_documents", "Documents of an index", labels=["index"])
    drift = GaugeMetricFamily(
        "phrasecom_index_drift", "Share of documents that came, changed or went since", labels=["index"]
    )
    for info in infos:
        age.add_metric([info.name], max(0.0, time.time() - datetime.fromisoformat(info.created).timestamp()))
        documents.add_metric([info.name], info.documents)
        drift.add_metric([info.name], info.drift)
    yield from (age, documents, drift)
