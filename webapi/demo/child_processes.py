"""Processes that live no longer than the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from indexer.errors import Unavailable

_PR_SET_PDEATHSIG = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Have the kernel end this process when its parent ends, however that comes about (Linux)."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _before_exec(parent: int) -> None:
    die_with_parent()
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


class Children:
    """Child processes in the order they were started, each with a log file; stopped in the reverse order."""

    def __init__(self, logs: Path, patience: float = 15.0) -> None:
        self._logs = logs
        self._patience = patience
        """Seconds a child has to end by itself."""
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str], stdin: bytes | None = None) -> int:
        """The child's process id. Call this from the main thread: the kernel watches the thread that forked."""
        self._logs.mkdir(parents=True, exist_ok=True)
        parent = os.getpid()
        with self._log(name).open("wb") as log:
            child = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us; we stop them in order
                preexec_fn=lambda: _before_exec(parent),
            )
        self._running[name] = child
        if stdin is not None and child.stdin is not None:
            child.stdin.write(stdin)
            child.stdin.close()
        return child.pid

    def check(self) -> None:
        """Raise Unavailable when one of them has ended by itself."""
        for name, child in self._running.items():
            if child.poll() is not None:
                log = self._log(name)
                lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
                raise Unavailable(f"the {name} stopped ({child.returncode}): {lines[-1]}", fix=f"see {log}")

    def has_said(self, name: str, words: str) -> bool:
        return words in self._log(name).read_text(errors="replace")

    def wait(self) -> None:
        """Until one of them ends."""
        while True:
            self.check()
            time.sleep(0.5)

    def stop(self) -> None:
        """A second Ctrl-C while this goes on is ignored: it would leave half of them running."""
        with _undisturbed():
            self._stop()

    def _stop(self) -> None:
        for child in reversed(self._running.values()):
            child.terminate()
            try:
                child.wait(self._patience)
            except subprocess.TimeoutExpired:
                _kill_group(child)
        self._running.clear()

    def _log(self, name: str) -> Path:
        return self._logs / f"{name.replace(' ', '-')}.log"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    child.wait()


@contextmanager
def _undisturbed() -> Iterator[None]:
    before = {number: signal.signal(number, signal.SIG_IGN) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
