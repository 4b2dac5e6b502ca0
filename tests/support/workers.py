"""Real Celery worker processes on a real Valkey."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.polling import wait_until
from worker.jobs.config import JobLimits, WorkConfig

StartWorker = Callable[..., subprocess.Popen[bytes]]
"""Starts a worker process: ``(queues, changed_config)``."""


def make_work_config(valkey_url: str, engine_folder: Path) -> WorkConfig:
    """Return a configuration with a key prefix of its own and the fake comparer.

    Leases are short enough to see them run out, and long enough for a busy machine.
    """
    return WorkConfig(
        engine=str(engine_folder),
        redis_url=valkey_url,
        key_prefix=f"{{test-{uuid.uuid4().hex[:12]}}}:",
        comparer="tests.support.fake_comparer:FakeComparer",
        soft_limit_seconds=180,
        hard_limit_seconds=240,
        reap_interval=0.2,
        limits=JobLimits(lease_seconds=3.0, resend_seconds=5.0, max_attempts=3),
    )


def launch_worker(
    config: WorkConfig,
    log: Path,
    queues: str = "interactive,bulk",
    concurrency: int = 1,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a worker process and return it once it is ready for jobs."""
    command = [sys.executable, "-m", "tests.support.run_worker", json.dumps(dataclasses.asdict(config))]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, queues, str(concurrency)],
            cwd=ROOT,
            stdout=out,
            stderr=out,
            env=os.environ | (environment or {}) | {"PYTHONPATH": "."},
        )
    wait_until(lambda: b" ready." in log.read_bytes(), explain=lambda: log.read_text(errors="replace"))
    return process


def stop_workers(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Terminate the processes, and kill those that do not end within a minute."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
