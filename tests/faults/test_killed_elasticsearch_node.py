"""One node of a three-node Elasticsearch cluster killed and started again: answers are complete or not given."""

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
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.polling import wait_until
from worker.comparer import Comparer, compare

JOBS = 300 if IS_FULL_RUN else 30
DOWN_SECONDS = 10.0 if IS_FULL_RUN else 3.0
SPREAD = {"shards": 3, "replicas": 1, "prefix": "faults-"}


@pytest.mark.elasticsearch
def test_no_job_is_lost_and_no_answer_is_incomplete_when_a_node_is_killed(tmp_path: Path) -> None:
    answered, *requests = islice(fault_corpus.list_requests(), JOBS + 1)
    unused_requests = iter(list(fault_corpus.list_requests())[JOBS + 1 :])
    settings = {"index_prefix": "faults-", "shards": 3, "replicas": 1}
    with Cluster(tmp_path) as cluster:
        fault_corpus.build_corpus(cluster.url, **SPREAD)
        cluster.wait_until_green()
        with Deployment(tmp_path, cluster.url, settings=settings) as deployment, deployment.make_client() as client:
            client.compare(fault_corpus.INDEX, answered["a"], answered["b"])
            jobs, job_ends, recoveries = JobTracker(deployment), JobEndCounter(deployment.store_url), []
            sender = threading.Thread(target=jobs.submit_all, args=(requests, job_ends.ended_at), daemon=True)
            with ApiObserver(deployment, answered) as observer:
                sender.start()
                for n, victim in enumerate(_choose_victims(cluster)):
                    wait_until(lambda n=n: len(jobs.accepted) > (n + 1) * JOBS / 4, MAX_WAIT_SECONDS)  # type: ignore[misc]
                    cluster.nodes[victim].kill()
                    killed = time.monotonic()
                    open_jobs = set(jobs.accepted) - set(job_ends.ended_at)
                    measure_wait(lambda: deployment.can_compute(next(unused_requests)), deployment.web.read_log_tail)
                    recoveries.append(time.monotonic() - killed)
                    time.sleep(DOWN_SECONDS)
                    cluster.nodes[victim].start()
                    cluster.wait_until_green()
                    recoveries += [job_ends.ended_at[id] - killed for id in open_jobs if id in job_ends.ended_at]
                sender.join()
                jobs.follow_all()
            job_ends.stop()
            repeated = job_ends.find_repeated(jobs.accepted) | set(jobs.find_changed_answers())
            incomplete = _find_incomplete_answers(cluster, deployment, jobs)
    result = FaultResult.from_run(
        "Elasticsearch node killed -9", jobs, repeated, max(recoveries), observer, half_answers=len(incomplete)
    )
    record_result(result)
    assert not incomplete, incomplete[:2]
    assert_no_bad_replies(observer, jobs)
    assert result.accepted == JOBS and result.is_complete(), result
    assert set(jobs.count_failure_codes()) <= {"engine-unavailable"}


def _choose_victims(cluster: Cluster) -> list[str]:
    """Return a node that is not the master and, in a full run, the master."""
    master = cluster.find_master()
    other = next(name for name in NODE_NAMES if name != master)
    return [other, master] if IS_FULL_RUN else [other]


def _find_incomplete_answers(cluster: Cluster, deployment: Deployment, jobs: JobTracker) -> list[str]:
    """Return the answers given during the fault that differ from those of the complete cluster."""
    incomplete = []
    with open_engine(cluster.url, **SPREAD) as engine, deployment.make_client() as client:
        comparer = Comparer(engine)
        for id, job in jobs.outcomes.items():
            if job.state == "done":
                answer = client.request("GET", f"/v1/comparisons/{id}").json()
                request = jobs.accepted[id]
                expected = compare(
                    request["a"]["id"], request["b"]["id"], index=fault_corpus.INDEX, engine=comparer
                ).to_dict()
                if _summarise(answer) != _summarise(expected):
                    incomplete.append(f"{id}: {_summarise(answer)} is not {_summarise(expected)}")
    return incomplete


def _summarise(answer: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the phrases of an answer and the size of its neighbourhood."""
    lists = [[entry["phrase"] for entry in answer[name]] for name in ("common", "distinct_a", "distinct_b")]
    return (*lists, answer["stats"]["documents"], answer["stats"]["edges"])
