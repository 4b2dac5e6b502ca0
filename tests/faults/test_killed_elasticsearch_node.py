"""A node of a three-node Elasticsearch cluster killed -9 and started again: answers are whole or they are not given."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from indexer.engines import open_engine
from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment, measure_wait
from tests.support.faults.cluster import NODE_NAMES, Cluster
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.polling import wait_until
from worker.comparer import Comparer, compare

JOBS = 300 if IS_FULL_RUN else 30
SECONDS = 10.0 if IS_FULL_RUN else 3.0
SPREAD = {"shards": 3, "replicas": 1, "prefix": "faults-"}


@pytest.mark.elasticsearch
def test_no_job_is_lost_and_no_answer_is_half_when_a_node_is_killed(tmp_path: Path) -> None:
    known, *asked = islice(fault_corpus.list_requests(), JOBS + 1)
    fresh = iter(list(fault_corpus.list_requests())[JOBS + 1 :])
    settings = {"index_prefix": "faults-", "shards": 3, "replicas": 1}
    with Cluster(tmp_path) as cluster:
        fault_corpus.build_corpus(cluster.url, **SPREAD)
        cluster.wait_until_green()
        with Deployment(tmp_path, cluster.url, settings=settings) as house, house.make_client() as client:
            client.compare(fault_corpus.INDEX, known["a"], known["b"])
            crowd, endings, recoveries = JobTracker(house), JobEndCounter(house.store_url), []
            asking = threading.Thread(target=crowd.submit_all, args=(asked, endings.ended_at), daemon=True)
            with ApiObserver(house, known) as watch:
                asking.start()
                for n, victim in enumerate(_victims(cluster)):
                    wait_until(lambda n=n: len(crowd.accepted) > (n + 1) * JOBS / 4, MAX_WAIT_SECONDS)  # type: ignore[misc]
                    cluster.nodes[victim].kill()
                    killed = time.monotonic()
                    open_then = set(crowd.accepted) - set(endings.ended_at)
                    measure_wait(lambda: house.can_compute(next(fresh)), house.web.read_log_tail)
                    recoveries.append(time.monotonic() - killed)
                    time.sleep(SECONDS)
                    cluster.nodes[victim].start()
                    cluster.wait_until_green()
                    recoveries += [endings.ended_at[id] - killed for id in open_then if id in endings.ended_at]
                asking.join()
                crowd.follow_all()
            endings.stop()
            twice = endings.find_repeated(crowd.accepted) | set(crowd.find_changed_answers())
            half = _half_answers(cluster, house, crowd)
    row = FaultResult.from_run(
        "Elasticsearch node killed -9", crowd, twice, max(recoveries), watch, half_answers=len(half)
    )
    record_result(row)
    assert not half, half[:2]
    assert not watch.bad_replies and not crowd.bad_replies, (watch.bad_replies[:3], crowd.bad_replies[:3])
    assert row.accepted == JOBS and row.is_complete(), row
    assert set(crowd.count_failure_codes()) <= {"engine-unavailable"}


def _victims(cluster: Cluster) -> list[str]:
    """One that is not the master, and (in full) the master."""
    master = cluster.find_master()
    other = next(name for name in NODE_NAMES if name != master)
    return [other, master] if IS_FULL_RUN else [other]


def _half_answers(cluster: Cluster, house: Deployment, crowd: JobTracker) -> list[str]:
    """Answers given meanwhile that differ from those of the whole cluster."""
    wrong = []
    with open_engine(cluster.url, **SPREAD) as engine, house.make_client() as client:
        comparer = Comparer(engine)
        for id, ended in crowd.outcomes.items():
            if ended.state == "done":
                given = client.request("GET", f"/v1/comparisons/{id}").json()
                asked = crowd.accepted[id]
                whole = compare(asked["a"]["id"], asked["b"]["id"], index=fault_corpus.INDEX, engine=comparer).to_dict()
                if _told(given) != _told(whole):
                    wrong.append(f"{id}: {_told(given)} is not {_told(whole)}")
    return wrong


def _told(answer: Mapping[str, Any]) -> tuple[object, ...]:
    """What an answer says, and on how much it rests."""
    lists = [[entry["phrase"] for entry in answer[name]] for name in ("common", "distinct_a", "distinct_b")]
    return (*lists, answer["stats"]["documents"], answer["stats"]["edges"])
