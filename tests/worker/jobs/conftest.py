"""Real Celery worker processes on a real Valkey."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.fake_comparer import PREFIX, VALKEY, count_name, counters, gate_name
from worker.jobs.config import WorkConfig
from worker.jobs.job import JobLimits
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

TAG = "PHRASECOM_TEST_TAG"
ROOT = Path(__file__).parents[3]
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An embedded engine with the index ``papers``: d1 to d12, d9 for staff only. Copy it to write to it."""
    folder = tmp_path_factory.mktemp("corpus") / "engine"
    with open_engine(str(folder)) as engine:
        build_index(documents(), engine, "papers", processes=1)
    return folder


def documents() -> list[Document]:
    said = "The web graph is crawled. Link analysis ranks the pages of the web graph. A random walk stays on it. "
    return [
        Document(
            f"d{n}",
            f"Web graphs and link analysis, part {n}",
            said * 3 + f"Topic models find topic {n % 3}.",
            date=f"2011-03-{n:02d}",
            facets={"source": ["BBC" if n % 2 else "CNN"]},
            acl=("staff",) if n == 9 else (),
        )
        for n in range(1, 13)
    ]


@pytest.fixture(scope="session")
def shared_config(valkey_url: str, corpus: Path) -> WorkConfig:
    """For tests that leave the processes they use as they were."""
    return _config(valkey_url, corpus)


@pytest.fixture
def config(
    request: pytest.FixtureRequest,
    valkey_url: str,
    corpus: Path,
    shared_config: WorkConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[WorkConfig]:
    """Everything of this test under a prefix of its own, unless it uses the shared worker."""
    config = shared_config if "worker" in request.fixturenames else _config(valkey_url, corpus)
    monkeypatch.setenv(VALKEY, valkey_url)
    monkeypatch.setenv(PREFIX, config.key_prefix)
    monkeypatch.setenv(TAG, uuid.uuid4().hex[:8])
    yield config
    let_go(os.environ[TAG], 10**6)  # what this test left waiting must not wait in a process of the next


def _config(valkey_url: str, corpus: Path) -> WorkConfig:
    """A prefix of its own, and leases short enough to watch them run out, long enough for a busy machine."""
    prefix = f"{{test-{uuid.uuid4().hex[:12]}}}:"
    return WorkConfig(
        engine=str(corpus),
        redis_url=valkey_url,
        key_prefix=prefix,
        comparer="tests.support.fake_comparer:Comparer",
        soft_limit_seconds=180,
        hard_limit_seconds=240,
        reap_interval=0.2,
        limits=JobLimits(lease_seconds=3.0, resend_seconds=5.0, max_attempts=3),
    )


@pytest.fixture
def service(config: WorkConfig) -> Iterator[ServiceContainer]:
    service = ServiceContainer(config)
    yield service
    service.close()


@pytest.fixture
def desk(service: ServiceContainer) -> Iterator[JobGateway]:
    desk = JobGateway(service)
    yield desk
    desk.close()


@pytest.fixture(scope="session")
def worker(shared_config: WorkConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One worker with two processes for every test that does not stop or kill it."""
    log = tmp_path_factory.mktemp("worker") / "log"
    counting = {VALKEY: shared_config.redis_url, PREFIX: shared_config.key_prefix}
    process = launch(shared_config, log, concurrency=2, environment=counting)
    yield
    _end([process])


@pytest.fixture
def start(config: WorkConfig, tmp_path: Path) -> Iterator[Start]:
    """Start a worker process; all are stopped at the end. Its log is ``worker-<n>.log``."""
    running: list[subprocess.Popen[bytes]] = []

    def run(queues: str = "interactive,bulk", changed: WorkConfig | None = None) -> subprocess.Popen[bytes]:
        running.append(launch(changed or config, tmp_path / f"worker-{len(running)}.log", queues))
        return running[-1]

    yield run
    _end(running)


def launch(
    config: WorkConfig,
    log: Path,
    queues: str = "interactive,bulk",
    concurrency: int = 1,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """A worker process that is ready for work."""
    written = json.dumps(dataclasses.asdict(config))
    command = [sys.executable, "-m", "tests.support.run_worker", written, queues, str(concurrency)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=out, env=os.environ | (environment or {}) | {"PYTHONPATH": "."}
        )
    until(lambda: b" ready." in log.read_bytes(), why=lambda: log.read_text(errors="replace"))
    return process


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(check: Callable[[], object], seconds: float = 120, why: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, why()
        time.sleep(0.02)


def tagged(words: str) -> str:
    """The words as this test alone asks them: what others asked of a shared server is not found by chance."""
    return f"{words} {os.environ[TAG]}" if TAG in os.environ else words


def let_go(words: str, times: int = 1) -> None:
    """Let a computation of these words that holds go on: the first so many of them, or so many of its steps."""
    with counters() as client:
        for name in {words, tagged(words)}:
            client.set(gate_name(name), times)


def computed(words: str) -> int:
    """How often a computation of these words was started, with this test's tag or without one."""
    with counters() as client:
        found = client.mget(count_name(tagged(words)), count_name(words))
    return max(int(count) if isinstance(count, bytes) else 0 for count in found)
