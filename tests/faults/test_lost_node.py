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
from tests.support.faults.clients import Crowd, Endings
from tests.support.faults.cluster import NAMES, Cluster
from tests.support.faults.deployment import PATIENCE, House, seconds_until
from tests.support.faults.job_ledger import FULL, Row, keep
from tests.support.faults.observer import Watch
from tests.worker.jobs.conftest import until
from worker.comparer import Comparer, compare

JOBS = 300 if FULL else 30
SECONDS = 10.0 if FULL else 3.0
SPREAD = {"shards": 3, "replicas": 1, "prefix": "faults-"}


@pytest.mark.elasticsearch
def test_no_job_is_lost_and_no_answer_is_half_when_a_node_is_killed(tmp_path: Path) -> None:
    known, *asked = islice(fault_corpus.questions(), JOBS + 1)
    fresh = iter(list(fault_corpus.questions())[JOBS + 1 :])
    settings = {"index_prefix": "faults-", "shards": 3, "replicas": 1}
    with Cluster(tmp_path) as cluster:
        fault_corpus.build(cluster.url, **SPREAD)
        cluster.wait_until_whole()
        with House(tmp_path, cluster.url, settings=settings) as house, house.client() as client:
            client.compare(fault_corpus.INDEX, known["a"], known["b"])
            crowd, endings, recoveries = Crowd(house), Endings(house.store_url), []
            asking = threading.Thread(target=crowd.ask_all, args=(asked, endings.last), daemon=True)
            with Watch(house, known) as watch:
                asking.start()
                for n, victim in enumerate(_victims(cluster)):
                    until(lambda n=n: len(crowd.accepted) > (n + 1) * JOBS / 4, PATIENCE)  # type: ignore[misc]
                    cluster.nodes[victim].kill()
                    killed = time.monotonic()
                    open_then = set(crowd.accepted) - set(endings.last)
                    seconds_until(lambda: house.computes(next(fresh)), house.web.said)
                    recoveries.append(time.monotonic() - killed)
                    time.sleep(SECONDS)
                    cluster.nodes[victim].start()
                    cluster.wait_until_whole()
                    recoveries += [endings.last[id] - killed for id in open_then if id in endings.last]
                asking.join()
                crowd.follow_all()
            endings.stop()
            twice = endings.twice(crowd.accepted) | set(crowd.changed())
            half = _half_answers(cluster, house, crowd)
    row = Row.of("Elasticsearch node killed -9", crowd, twice, max(recoveries), watch, half_answers=len(half))
    keep(row)
    assert not half, half[:2]
    assert not watch.wrong and not crowd.wrong, (watch.wrong[:3], crowd.wrong[:3])
    assert row.accepted == JOBS and row.adds_up(), row
    assert set(crowd.reasons()) <= {"engine-unavailable"}


def _victims(cluster: Cluster) -> list[str]:
    """One that is not the master, and (in full) the master."""
    master = cluster.master()
    other = next(name for name in NAMES if name != master)
    return [other, master] if FULL else [other]


def _half_answers(cluster: Cluster, house: House, crowd: Crowd) -> list[str]:
    """Answers given meanwhile that differ from those of the whole cluster."""
    wrong = []
    with open_engine(cluster.url, **SPREAD) as engine, house.client() as client:
        comparer = Comparer(engine)
        for id, ended in crowd.ended.items():
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
