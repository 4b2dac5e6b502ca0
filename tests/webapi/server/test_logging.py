"""With JSON logs every line that a service writes is JSON, and with text logs every line is text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indexer.net import find_free_port
from tests.support.paths import ROOT
from tests.support.polling import wait_until


@contextmanager
def run_command(command: list[str], log: Path, ready_line: str, environment: dict[str, str]) -> Iterator[None]:
    """Run a command from its ready line until SIGTERM has ended it."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "indexer", *command], cwd=ROOT, stdout=out, stderr=out, env=os.environ | environment
        )
    try:
        wait_until(lambda: ready_line in log.read_text() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
        process.wait()


def read_events(log: Path) -> list[dict[str, Any]]:
    """Return the event of every line; fail at a line that is none."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert all({"time", "level", "logger", "event"} <= set(one) for one in events)
    return events


def test_every_line_of_a_web_server_is_json(engine_folder: Path, tmp_path: Path) -> None:
    log, port = tmp_path / "log", find_free_port()
    command = ["serve", "--inline", "--json", "--port", str(port), "--engine", str(engine_folder)]
    with run_command(command, log, "Booting worker", {}):
        pass
    last_events = {one["logger"]: one["event"] for one in read_events(log)}
    assert "gunicorn.error" in last_events and "Shutting down" in last_events["gunicorn.error"]


def test_every_line_of_a_worker_is_json(engine_folder: Path, valkey_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = ["worker", "--log-format", "json", "--engine", str(engine_folder)]
    with run_command(command, log, " ready.", {"PHRASECOM_REDIS_URL": valkey_url}):
        pass
    logged = [one["event"] for one in read_events(log)]
    assert any(" ready." in event for event in logged) and any("Warm shutdown" in event for event in logged)


def test_text_is_text_in_every_line(engine_folder: Path, tmp_path: Path) -> None:
    log, port = tmp_path / "log", find_free_port()
    command = ["serve", "--inline", "--log-format", "text", "--port", str(port), "--engine", str(engine_folder)]
    with run_command(command, log, "Booting worker", {}):
        pass
    assert all(" gunicorn.error: " in line for line in log.read_text().splitlines())
