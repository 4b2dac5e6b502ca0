"""Elasticsearch that is slow, hangs, drops connections, refuses with 429 or is read-only: jobs wait until it works."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest

from indexer.engines import open_engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.errors import EngineUnavailable
from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment, measure_wait
from tests.support.engines import make_prefix
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.faults.proxy import Proxy
from tests.support.polling import wait_until

JOBS = 60 if IS_FULL_RUN else 6
FAULT_SECONDS = 12.0 if IS_FULL_RUN else 5.0
"""Minimum duration of a fault."""
TIMEOUTS = {"engine_timeout_seconds": 4, "web_engine_seconds": 2}
"""Short enough that a server which hangs for ``FAULT_SECONDS`` is noticed."""


@dataclass
class FailingService:
    """A deployment that reaches Elasticsearch through the proxy; ``engine`` reaches it directly."""

    deployment: Deployment
    proxy: Proxy
    engine: ElasticsearchEngine
    requests: Iterator[dict[str, Any]]

    def take_requests(self) -> list[dict[str, Any]]:
        return list(islice(self.requests, JOBS))


@pytest.fixture(scope="module")
def service(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FailingService]:
    prefix = make_prefix()
    fault_corpus.build_corpus(elasticsearch_url, prefix=prefix)
    folder = tmp_path_factory.mktemp("failing")
    with Proxy(elasticsearch_url) as proxy, open_engine(elasticsearch_url, prefix=prefix) as engine:
        with Deployment(folder, proxy.url, settings={"index_prefix": prefix} | TIMEOUTS) as deployment:
            assert isinstance(engine, ElasticsearchEngine)
            yield FailingService(deployment, proxy, engine, fault_corpus.list_requests())
        engine.delete_index(fault_corpus.INDEX)


FAULTS: dict[str, Callable[[Proxy], None]] = {
    "Elasticsearch slow (0.5 s an answer)": lambda proxy: setattr(proxy, "delay_seconds", 0.5),
    "Elasticsearch hangs": lambda proxy: setattr(proxy, "delay_seconds", 60.0),
    "Elasticsearch drops half its answers": lambda proxy: setattr(proxy, "cut_share", 0.5),
    "Elasticsearch answers 429": lambda proxy: setattr(proxy, "is_refusing", True),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_jobs_wait_until_elasticsearch_works_again(fault: str, service: FailingService) -> None:
    answered, *requests = service.take_requests()
    with service.deployment.make_client() as client:
        client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
    jobs, job_ends = JobTracker(service.deployment), JobEndCounter(service.deployment.store_url)
    sender = threading.Thread(target=jobs.submit_all, args=(requests, job_ends.ended_at), daemon=True)
    with ApiObserver(service.deployment, answered) as observer:
        sender.start()
        wait_until(lambda: len(jobs.accepted) >= 2, MAX_WAIT_SECONDS)
        FAULTS[fault](service.proxy)
        time.sleep(FAULT_SECONDS)
        fault_counts = service.proxy.reset()
        recovered, waiting = time.monotonic(), set(jobs.accepted) - set(job_ends.ended_at)
        recovery = measure_wait(
            lambda: service.deployment.can_compute(next(service.requests)), service.deployment.web.read_log_tail
        )
        sender.join()
        jobs.follow_all()
    job_ends.stop()
    recovery = max([recovery, *(job_ends.ended_at[id] - recovered for id in waiting if id in job_ends.ended_at)])
    result = FaultResult.from_run(
        fault,
        jobs,
        job_ends.find_repeated(jobs.accepted) | set(jobs.find_changed_answers()),
        recovery,
        observer,
        did=fault_counts,
    )
    record_result(result)
    assert any(fault_counts.values()), "nothing was done to any request"
    assert_no_bad_replies(observer, jobs)
    assert result.accepted == len(requests) and result.is_complete(), result
    assert set(jobs.count_failure_codes()) <= {"engine-unavailable"}


def test_documents_wait_while_the_disk_is_full(service: FailingService) -> None:
    """Elasticsearch itself makes an index read-only when its disk is nearly full, and writable again."""
    index = f"{service.engine.prefix}{fault_corpus.INDEX}"
    settings = service.engine.connection.client.indices
    full = {"index.blocks.read_only_allow_delete": True}
    (answered,) = islice(service.requests, 1)
    jobs = JobTracker(service.deployment)
    with ApiObserver(service.deployment, answered, service.requests) as observer:
        settings.put_settings(index=index, settings=full)
        for n in range(JOBS):
            document = {"id": f"late{n}", "text": f"The web graph number {n} waits for the random walk."}
            jobs.submit({"documents": [document]}, f"/v1/indexes/{fault_corpus.INDEX}/documents")
        time.sleep(FAULT_SECONDS)
        early = service.engine.open_reader(fault_corpus.INDEX).fetch([f"late{n}" for n in range(JOBS)])
        settings.put_settings(index=index, settings={"index.blocks.read_only_allow_delete": None})
        recovered = time.monotonic()
        jobs.follow_all("/v1/jobs")
    recovery = time.monotonic() - recovered
    stored = service.engine.open_reader(fault_corpus.INDEX).fetch([f"late{n}" for n in range(JOBS)])
    missing = [n for n, document in enumerate(stored) if document is None]
    result = FaultResult.from_run("Elasticsearch read-only (disk full)", jobs, (), recovery, observer, documents=JOBS)
    record_result(result)
    assert not any(early), "the index took documents while it was closed"
    assert_no_bad_replies(observer, jobs)
    assert set(observer.refusals) <= {"/readyz"}, "reading needs no writing"
    assert result.accepted == JOBS == result.finished and result.is_complete() and not missing, (result, missing)


def test_after_one_timeout_a_hanging_server_gets_no_more_requests_for_a_while(elasticsearch_url: str) -> None:
    with Proxy(elasticsearch_url) as proxy:
        proxy.delay_seconds = 60.0
        with open_engine(proxy.url, timeout=1.0, breaker_pause=600.0) as engine:
            with pytest.raises(EngineUnavailable):
                engine.list_indexes()
            delayed = proxy.reset()["delayed"]
            for _ in range(20):
                with pytest.raises(EngineUnavailable, match="a recent request timed out"):
                    engine.list_indexes()
            assert delayed and proxy.connection_count == 1
        with open_engine(proxy.url, timeout=60.0, breaker_pause=0.01) as engine:
            assert isinstance(engine.list_indexes(), list)


def test_a_build_is_kept_when_the_answer_to_its_last_request_is_lost(elasticsearch_url: str) -> None:
    """The new epoch is visible but its acknowledgement is lost: the client repeats the request and gets 404."""
    prefix = make_prefix()
    with Proxy(elasticsearch_url) as proxy, open_engine(elasticsearch_url, prefix=prefix) as engine:
        for turn in range(2):
            proxy.lose_answer_to = b"POST /_aliases"
            fault_corpus.build_corpus(proxy.url, prefix=prefix)
            assert proxy.fault_counts["cut"] == turn + 1
            assert engine.open_reader(fault_corpus.INDEX).info.documents == fault_corpus.SIZE
        engine.delete_index(fault_corpus.INDEX)
