"""Child processes that end with the process that started them."""

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
    """Have the kernel end this process when its parent ends in whatever way (Linux)."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _prepare_child(parent: int) -> None:
    die_with_parent()
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)


class ChildProcesses:
    """Child processes in the order they were started, each with a log file; stopped in the reverse order."""

    def __init__(self, logs: Path, grace_seconds: float = 15.0) -> None:
        self._logs = logs
        self._grace_seconds = grace_seconds
        """Time for a child to end by itself."""
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str], stdin: bytes | None = None) -> int:
        """Start a child and return its process id. Call this from the main thread: the kernel watches the thread that
        forked."""
        self._logs.mkdir(parents=True, exist_ok=True)
        parent = os.getpid()
        with self._log_path(name).open("wb") as log:
            child = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches only this process, which stops them in order
                preexec_fn=lambda: _prepare_child(parent),
            )
        self._running[name] = child
        if stdin is not None and child.stdin is not None:
            child.stdin.write(stdin)
            child.stdin.close()
        return child.pid

    def check_alive(self) -> None:
        """Raise Unavailable if a child has ended by itself."""
        for name, child in self._running.items():
            if child.poll() is not None:
                log = self._log_path(name)
                lines = log.read_text(errors="replace").strip().splitlines() or ["its log is empty"]
                raise Unavailable(f"the {name} stopped ({child.returncode}): {lines[-1]}", fix=f"see {log}")

    def has_logged(self, name: str, text: str) -> bool:
        """Return whether the log of a child contains a text."""
        return text in self._log_path(name).read_text(errors="replace")

    def wait_for_exit(self) -> None:
        """Wait until a child ends; raise Unavailable then."""
        while True:
            self.check_alive()
            time.sleep(0.5)

    def stop(self) -> None:
        """Stop all children; a second Ctrl-C meanwhile is ignored, as it would leave some of them running."""
        with _signals_ignored():
            self._stop_all()

    def _stop_all(self) -> None:
        for child in reversed(self._running.values()):
            child.terminate()
            try:
                child.wait(self._grace_seconds)
            except subprocess.TimeoutExpired:
                _kill_group(child)
        self._running.clear()

    def _log_path(self, name: str) -> Path:
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
def _signals_ignored() -> Iterator[None]:
    before = {number: signal.signal(number, signal.SIG_IGN) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
