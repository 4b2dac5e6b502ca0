"""Elasticsearch that is slow, hangs, drops connections, refuses with 429, or may not be written: jobs wait it out."""

from __future__ import annotations

import threading
import time
import uuid
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
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.faults.proxy import Proxy
from tests.support.polling import wait_until

JOBS = 60 if IS_FULL_RUN else 6
SECONDS = 12.0 if IS_FULL_RUN else 5.0
"""How long the illness lasts at least."""
TIMEOUTS = {"engine_timeout_seconds": 4, "web_engine_seconds": 2}
"""Short enough that a server which hangs for ``SECONDS`` is seen to."""


@dataclass
class Sick:
    """A house whose Elasticsearch is reached through the proxy; ``engine`` goes around it."""

    house: Deployment
    proxy: Proxy
    engine: ElasticsearchEngine
    questions: Iterator[dict[str, Any]]

    def some(self) -> list[dict[str, Any]]:
        return list(islice(self.questions, JOBS))


@pytest.fixture(scope="module")
def sick(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sick]:
    prefix = f"test-{uuid.uuid4().hex[:12]}-"
    fault_corpus.build_corpus(elasticsearch_url, prefix=prefix)
    folder = tmp_path_factory.mktemp("sick")
    with Proxy(elasticsearch_url) as proxy, open_engine(elasticsearch_url, prefix=prefix) as engine:
        with Deployment(folder, proxy.url, settings={"index_prefix": prefix} | TIMEOUTS) as house:
            assert isinstance(engine, ElasticsearchEngine)
            yield Sick(house, proxy, engine, fault_corpus.list_requests())
        engine.delete_index(fault_corpus.INDEX)


ILLNESSES: dict[str, Callable[[Proxy], None]] = {
    "Elasticsearch slow (0.5 s an answer)": lambda proxy: setattr(proxy, "delay", 0.5),
    "Elasticsearch hangs": lambda proxy: setattr(proxy, "delay", 60.0),
    "Elasticsearch drops half its answers": lambda proxy: setattr(proxy, "cut", 0.5),
    "Elasticsearch answers 429": lambda proxy: setattr(proxy, "refuse", True),
}


@pytest.mark.parametrize("fault", ILLNESSES)
def test_jobs_wait_until_elasticsearch_is_well_again(fault: str, sick: Sick) -> None:
    known, *asked = sick.some()
    with sick.house.make_client() as client:
        client.compare(fault_corpus.INDEX, known["a"], known["b"])
    crowd, endings = JobTracker(sick.house), JobEndCounter(sick.house.store_url)
    asking = threading.Thread(target=crowd.submit_all, args=(asked, endings.ended_at), daemon=True)
    with ApiObserver(sick.house, known) as watch:
        asking.start()
        wait_until(lambda: len(crowd.accepted) >= 2, MAX_WAIT_SECONDS)
        ILLNESSES[fault](sick.proxy)
        time.sleep(SECONDS)
        done = sick.proxy.reset()
        well, waiting = time.monotonic(), set(crowd.accepted) - set(endings.ended_at)
        recovery = measure_wait(lambda: sick.house.can_compute(next(sick.questions)), sick.house.web.read_log_tail)
        asking.join()
        crowd.follow_all()
    endings.stop()
    recovery = max([recovery, *(endings.ended_at[id] - well for id in waiting if id in endings.ended_at)])
    row = FaultResult.from_run(
        fault,
        crowd,
        endings.find_repeated(crowd.accepted) | set(crowd.find_changed_answers()),
        recovery,
        watch,
        did=done,
    )
    record_result(row)
    assert any(done.values()), "nothing was done to any request"
    assert not watch.bad_replies and not crowd.bad_replies, (watch.bad_replies[:3], crowd.bad_replies[:3])
    assert row.accepted == len(asked) and row.is_complete(), row
    assert set(crowd.count_failure_codes()) <= {"engine-unavailable"}


def test_documents_wait_while_the_disk_is_full(sick: Sick) -> None:
    """Elasticsearch itself closes an index for writing when its disk is nearly full, and opens it again."""
    index = f"{sick.engine.prefix}{fault_corpus.INDEX}"
    settings = sick.engine.connection.client.indices
    full = {"index.blocks.read_only_allow_delete": True}
    (known,) = islice(sick.questions, 1)
    crowd = JobTracker(sick.house)
    with ApiObserver(sick.house, known, sick.questions) as watch:
        settings.put_settings(index=index, settings=full)
        for n in range(JOBS):
            document = {"id": f"late{n}", "text": f"The web graph number {n} waits for the random walk."}
            crowd.submit({"documents": [document]}, f"/v1/indexes/{fault_corpus.INDEX}/documents")
        time.sleep(SECONDS)
        early = sick.engine.open_reader(fault_corpus.INDEX).fetch([f"late{n}" for n in range(JOBS)])
        settings.put_settings(index=index, settings={"index.blocks.read_only_allow_delete": None})
        well = time.monotonic()
        crowd.follow_all("/v1/jobs")
    recovery = time.monotonic() - well
    stored = sick.engine.open_reader(fault_corpus.INDEX).fetch([f"late{n}" for n in range(JOBS)])
    missing = [n for n, document in enumerate(stored) if document is None]
    row = FaultResult.from_run("Elasticsearch read-only (disk full)", crowd, (), recovery, watch, documents=JOBS)
    record_result(row)
    assert not any(early), "the index took documents while it was closed"
    assert not watch.bad_replies and not crowd.bad_replies, (watch.bad_replies[:3], crowd.bad_replies[:3])
    assert set(watch.refusals) <= {"/readyz"}, "reading needs no writing"
    assert row.accepted == JOBS == row.finished and row.is_complete() and not missing, (row, missing)


def test_a_server_that_hangs_is_not_tried_out_by_everybody(elasticsearch_url: str) -> None:
    with Proxy(elasticsearch_url) as proxy:
        proxy.delay_seconds = 60.0
        with open_engine(proxy.url, timeout=1.0, breaker_pause=600.0) as engine:
            with pytest.raises(EngineUnavailable):
                engine.list_indexes()
            asked = proxy.reset()["delayed"]
            for _ in range(20):
                with pytest.raises(EngineUnavailable, match="a moment ago"):
                    engine.list_indexes()
            assert asked and proxy.connection_count == 1
        with open_engine(proxy.url, timeout=60.0, breaker_pause=0.01) as engine:
            assert isinstance(engine.list_indexes(), list)


def test_a_build_whose_last_answer_is_lost_is_not_undone(elasticsearch_url: str) -> None:
    """The step that shows the new epoch is done, but nobody hears of it: the client asks again, and is told 404."""
    prefix = f"test-{uuid.uuid4().hex[:12]}-"
    with Proxy(elasticsearch_url) as proxy, open_engine(elasticsearch_url, prefix=prefix) as engine:
        for turn in range(2):
            proxy.lose_answer_to = b"POST /_aliases"
            fault_corpus.build_corpus(proxy.url, prefix=prefix)
            assert proxy.fault_counts["cut"] == turn + 1
            assert engine.open_reader(fault_corpus.INDEX).info.documents == fault_corpus.SIZE
        engine.delete_index(fault_corpus.INDEX)
