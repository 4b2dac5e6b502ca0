"""Prometheus metrics: counters that requests update, and a collector of values that are read at each scrape.

There is one registry in each process; the counts of several processes are added up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from indexer.engines.search_types import IndexInfo
from indexer.errors import PhraseComError
from worker.access import Caller
from worker.jobs.job import QUEUES
from worker.jobs.statistics import DURATION_BUCKETS, JobStatistics
from worker.service.gateway import JobGateway

ANSWERS_SENT = Counter("phrasecom_answers", "Answers sent, by source", ["source"])
REQUESTS_ANSWERED = Counter("phrasecom_requests", "Requests answered", ["endpoint", "status"])
REQUEST_SECONDS = Histogram(
    "phrasecom_request_seconds",
    "Duration of requests",
    ["endpoint"],
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
WAITING_REQUESTS = Gauge("phrasecom_waiting_requests", "Requests waiting for a job", multiprocess_mode="livesum")
ELASTICSEARCH_SECONDS = Histogram(
    "phrasecom_elasticsearch_seconds",
    "Duration of requests from the web server to Elasticsearch",
    buckets=DURATION_BUCKETS,
)
_OPEN_STATES: Final = ("queued", "running")


class QueueCollector(Collector):
    """Queues, ended jobs, indexes that the caller may use, and what can be reached, at the moment of a scrape.

    It sends a few requests to the job store and the engine, and is created for each scrape.
    """

    def __init__(self, gateway: JobGateway, caller: Caller) -> None:
        self._gateway = gateway
        self._caller = caller

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("phrasecom_up", "Whether a component is usable: store, worker, engine", labels=["part"])
        statistics = _get_statistics(self._gateway)
        up.add_metric(["store"], float(_is_store_usable(self._gateway)))
        if statistics is not None:
            up.add_metric(["worker"], float(statistics.has_worker))
            yield from _collect_jobs(statistics)
        infos = _list_index_infos(self._gateway, self._caller)
        up.add_metric(["engine"], float(infos is not None))
        yield from _collect_epochs(infos or ())
        yield from _collect_sources(self._gateway, infos or ())
        yield up


def _is_store_usable(gateway: JobGateway) -> bool:
    try:
        gateway.ping_store()
    except PhraseComError:
        return False
    return True


def _get_statistics(gateway: JobGateway) -> JobStatistics | None:
    try:
        return gateway.get_statistics()
    except PhraseComError:
        return None


def _list_index_infos(gateway: JobGateway, caller: Caller) -> list[IndexInfo] | None:
    """Return the caller's indexes that can be read; None when the engine does not answer at once."""
    try:
        gateway.ping_engine()
        return [info for name in gateway.list_indexes(caller) if (info := _get_index_info(gateway, name))]
    except PhraseComError:
        return None


def _get_index_info(gateway: JobGateway, name: str) -> IndexInfo | None:
    try:
        return gateway.get_index_info(name)
    except PhraseComError:
        return None


def _collect_sources(gateway: JobGateway, infos: Iterable[IndexInfo]) -> Iterator[Metric]:
    """Yield how far attached indexes are behind their sources, by two requests for each; none for one that fails."""
    documents = GaugeMetricFamily(
        "phrasecom_source_documents", "Documents in the source of an attached index", labels=["index"]
    )
    writes = GaugeMetricFamily(
        "phrasecom_source_writes",
        "Writes to the source since the index was attached or followed; NaN: unknown until it is attached again",
        labels=["index"],
    )
    for info in infos:
        with suppress(PhraseComError):
            source = gateway.get_source(info)
            if source is not None:
                count = source.count_writes()
                writes.add_metric([info.name], math.nan if count is None else count)
                documents.add_metric([info.name], source.count_documents())
    yield from (documents, writes)


def _collect_jobs(statistics: JobStatistics) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("phrasecom_jobs", "Jobs that are queued or running", labels=["queue", "state"])
    age = GaugeMetricFamily(
        "phrasecom_queue_age_seconds",
        "Time since the oldest queued job was last queued",
        labels=["queue"],
    )
    standstill = GaugeMetricFamily(
        "phrasecom_standstill_seconds", "Longest time that an unfinished job has made no progress", labels=["queue"]
    )
    for queue in QUEUES:
        age.add_metric([queue], statistics.oldest_queued_seconds.get(queue, 0.0))
        standstill.add_metric([queue], statistics.stalled_seconds.get(queue, 0.0))
        for state in _OPEN_STATES:
            jobs.add_metric([queue, state], statistics.open_jobs.get((queue, state), 0))
    ended = CounterMetricFamily("phrasecom_jobs_ended", "Finished jobs, by outcome", labels=["state", "code"])
    for labels in sorted({("done", ""), ("failed", "internal"), *statistics.ended_jobs}):
        ended.add_metric(list(labels), statistics.ended_jobs.get(labels, 0))
    seconds = HistogramMetricFamily(
        "phrasecom_worker_elasticsearch_seconds", "Duration of requests from workers to Elasticsearch"
    )
    durations = statistics.elasticsearch_durations
    seconds.add_metric([], durations.cumulative_counts(), sum_value=durations.seconds)
    yield from (jobs, age, standstill, ended, seconds)


def _collect_epochs(infos: Iterable[IndexInfo]) -> Iterator[Metric]:
    age = GaugeMetricFamily("phrasecom_epoch_age_seconds", "Time since an index was built", labels=["index"])
    documents = GaugeMetricFamily("phrasecom_index_documents", "Documents in an index", labels=["index"])
    drift = GaugeMetricFamily(
        "phrasecom_index_drift",
        "Share of documents added, changed or deleted since the index was built",
        labels=["index"],
    )
    for info in infos:
        age.add_metric([info.name], max(0.0, time.time() - datetime.fromisoformat(info.created).timestamp()))
        documents.add_metric([info.name], info.documents)
        drift.add_metric([info.name], info.drift)
    yield from (age, documents, drift)
