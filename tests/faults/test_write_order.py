"""Documents submitted again and again while workers stop and go on, and the index is locked: the last one stays."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import IndexBusy
from indexer.indexing.update import add_documents
from tests.support.background_thread import BackgroundThread
from tests.support.corpora import fault_corpus
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment
from tests.support.engines import ENGINE_KINDS, open_elasticsearch
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, assert_no_bad_replies, record_result
from tests.support.faults.job_tracker import JobEndCounter, JobTracker
from tests.support.faults.observer import ApiObserver
from tests.support.faults.worker_killer import find_job_owner
from tests.support.polling import wait_until
from worker.jobs.config import JobLimits, WorkConfig

PAIRS = 1000 if IS_FULL_RUN else 15
"""Documents that are submitted twice, for each engine."""
STOPS = 50 if IS_FULL_RUN else 1
LEASE_SECONDS = 2.0
DOCUMENTS_PATH = f"/v1/indexes/{fault_corpus.INDEX}/documents"
JOBS_PATH = "/v1/jobs"
ANSWERED = {"index": fault_corpus.INDEX, "a": {"id": "d0"}, "b": {"id": "d1"}}


@pytest.fixture(params=ENGINE_KINDS)
def corpus_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn with the corpus."""
    if request.param == "elasticsearch":
        with open_elasticsearch(request.getfixturevalue("elasticsearch_url")) as engine:
            fault_corpus.build_corpus(engine.address, prefix=engine.prefix)  # type: ignore[attr-defined]
            yield engine
    else:
        fault_corpus.build_corpus(str(tmp_path / "engine"))
        with open_engine(str(tmp_path / "engine")) as engine:
            yield engine


def make_deployment(folder: Path, engine: Engine) -> Deployment:
    """Return a deployment whose workers lose their lease after two seconds."""
    prefix = getattr(engine, "prefix", None)
    options = {} if prefix is None else {"prefix": prefix}

    def make_command(deployment: Deployment) -> list[str]:
        limits = JobLimits(lease_seconds=LEASE_SECONDS, max_lost_workers=1000)
        config = WorkConfig(
            engine=engine.address,
            engine_options=options,
            redis_url=deployment.store_url,
            reap_interval=0.5,
            limits=limits,
        )
        encoded = json.dumps(dataclasses.asdict(config))
        return [sys.executable, "-m", "tests.support.run_worker", encoded, "interactive,bulk", "1"]

    settings = {"max_queue": 5000} | ({} if prefix is None else {"index_prefix": prefix})
    return Deployment(folder, engine.address, settings=settings, make_worker_command=make_command)


def make_body(id: str, title: str, acl: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"documents": [{"id": id, "title": title, "text": "The web graph of mail.", "acl": list(acl)}]}


class Disturber(BackgroundThread):
    """Locks the index as a rebuild does, and suspends random workers, now and then for longer than their lease."""

    def __init__(self, deployment: Deployment, engine: Engine, seed: int) -> None:
        super().__init__()
        self._deployment, self._engine = deployment, engine
        self._random = random.Random(seed)
        self.locks = self.stops = 0

    def _run(self) -> None:
        while not self._stopping.wait(self._random.uniform(0.05, 0.5)):
            if self._random.random() < 0.5:
                self._lock_index()
            else:
                self._suspend_worker()

    def _lock_index(self) -> None:
        with suppress(IndexBusy), self._engine.start_build(fault_corpus.INDEX):
            self.locks += 1
            time.sleep(self._random.choice((0.05, 0.3, 1.5)))

    def _suspend_worker(self) -> None:
        worker = self._random.choice(self._deployment.workers.processes)
        with suspend_processes(worker.list_processes()[1:]):
            self.stops += 1
            time.sleep(self._random.choice((0.1, 0.5, 2 * LEASE_SECONDS)))


@contextmanager
def suspend_processes(processes: list[psutil.Process]) -> Iterator[None]:
    """Send SIGSTOP, and SIGCONT at the end."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    try:
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


def test_the_last_submission_of_a_document_stays(tmp_path: Path, corpus_engine: Engine) -> None:
    dice = random.Random(11)
    expected: dict[str, str] = {}
    with make_deployment(tmp_path, corpus_engine) as deployment:
        jobs, job_ends = JobTracker(deployment), JobEndCounter(deployment.store_url)
        with ApiObserver(deployment, ANSWERED) as observer, Disturber(deployment, corpus_engine, 5) as disturber:
            for n in range(PAIRS):
                id = f"w{n}"
                for title, acl in (("first", ()), ("second", ("staff",))):
                    jobs.submit(make_body(id, title, acl), DOCUMENTS_PATH)
                    expected[id] = title
                if dice.random() < 0.1:
                    _add_by_command(corpus_engine, id)
                    expected[id] = "command"
                wait_until(lambda: len(jobs.accepted) - len(job_ends.ended_at) < 40, MAX_WAIT_SECONDS)
            jobs.follow_all(JOBS_PATH, 2 * MAX_WAIT_SECONDS)
        job_ends.stop()
        reader = corpus_engine.open_reader(fault_corpus.INDEX)
        documents = dict(zip(expected, reader.fetch(list(expected)), strict=True))
        wrong = {id: document for id, document in documents.items() if _get_title(document) != expected[id]}
        served = _read_titles(deployment, list(expected))
    more = {"locks": disturber.locks, "stops": disturber.stops, "reordered": len(wrong)}
    result = FaultResult.from_run(
        f"order of {len(expected)} pairs of writes ({corpus_engine.kind})",
        jobs, job_ends.find_repeated(jobs.accepted), None, observer, **more,
    )  # fmt: skip
    record_result(result)
    assert_no_bad_replies(observer, jobs)
    assert not wrong and served == expected
    assert result.is_complete() and not result.failed, result
    assert disturber.locks and disturber.stops


def _add_by_command(engine: Engine, id: str) -> None:
    def add() -> bool:
        try:
            document = Document(id, "command", "The web graph of mail.")
            return add_documents([document], engine, fault_corpus.INDEX) == 1
        except IndexBusy:
            return False

    wait_until(add, MAX_WAIT_SECONDS)


def _get_title(document: Any) -> str | None:
    return None if document is None else str(document.document.title)


def _read_titles(deployment: Deployment, ids: list[str]) -> dict[str, str]:
    """Return what the service says of the documents."""
    with deployment.make_client() as client:
        return {id: client.request("GET", f"{DOCUMENTS_PATH}/{id}").json()["title"] for id in ids}


def test_a_worker_that_was_suspended_while_it_waited_for_the_index_writes_nothing(tmp_path: Path) -> None:
    """The worker is stopped past its lease, another one does its job, a newer document is confirmed, it goes on."""
    fault_corpus.build_corpus(str(tmp_path / "engine"))
    with (
        open_engine(str(tmp_path / "engine")) as engine,
        make_deployment(tmp_path, engine) as deployment,
        ApiObserver(deployment, ANSWERED) as observer,
    ):
        jobs, job_ends = JobTracker(deployment), JobEndCounter(deployment.store_url)
        store = deployment.open_job_store()
        reader = engine.open_reader(fault_corpus.INDEX)
        wrong = []
        for n in range(STOPS):
            id = f"s{n}"
            with engine.start_build(fault_corpus.INDEX):
                first = jobs.submit(make_body(id, "first"), DOCUMENTS_PATH)
                assert first is not None
                wait_until(lambda job=first: find_job_owner(store, job)[0] > 0, MAX_WAIT_SECONDS)
                owner = find_job_owner(store, first)[0]
                os.kill(owner, signal.SIGSTOP)
            wait_until(lambda job=first: job in job_ends.ended_at, MAX_WAIT_SECONDS)
            second = jobs.submit(make_body(id, "second"), DOCUMENTS_PATH)
            wait_until(lambda job=second: job in job_ends.ended_at, MAX_WAIT_SECONDS)
            os.kill(owner, signal.SIGCONT)
            wait_until(lambda pid=owner: _is_idle(deployment, pid), MAX_WAIT_SECONDS)
            if _get_title(reader.fetch([id])[0]) != "second":
                wrong.append(id)
        jobs.follow_all(JOBS_PATH)
        store.client.close()
        job_ends.stop()
    result = FaultResult.from_run(
        "workers suspended past their lease", jobs, job_ends.find_repeated(jobs.accepted), None, observer,
        stops=STOPS, undone=len(wrong),
    )  # fmt: skip
    record_result(result)
    assert_no_bad_replies(observer, jobs)
    assert not wrong and result.is_complete() and not result.failed, result


def _is_idle(deployment: Deployment, pid: int) -> bool:
    """Return whether the worker that a process belongs to has ended every task it received, by its log."""
    worker = next(w for w in deployment.workers.processes if any(p.pid == pid for p in w.list_processes()))
    log = worker.log.read_text(errors="replace")
    return log.count("] received") == log.count("] succeeded in")
