"""Real gunicorn servers as processes of their own."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.polling import wait_until
from webapi.client import Client
from worker.jobs.config import WorkConfig

WAIT_HEADER = {"Prefer": "wait=60"}
"""Asks for an answer that must come: servers started here allow such a long wait, for the sake of busy machines."""
_LISTENING = re.compile(r"Listening at: (http://[\w.:]+)")


@dataclass(frozen=True)
class RunningServer:
    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def make_client(self) -> Client:
        return Client(self.url, timeout=180)

    def stop(self) -> None:
        """Terminate the process, and kill it if it does not end within two minutes."""
        self.process.terminate()
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def is_up(self) -> bool:
        try:
            with self.make_client() as client:
                return client.request("GET", "/healthz").status == 200
        except OSError:
            return False


StartServer = Callable[..., RunningServer]
"""Starts a web server process: ``(changed_config, **settings)``."""


def launch_server(
    config: WorkConfig,
    log: Path,
    settings: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> RunningServer:
    """Start a web server process on a free port and return it once it answers."""
    server_settings = json.dumps({"port": 0, "max_wait_seconds": 60, **(settings or {})})
    command = [
        sys.executable,
        "-m",
        "tests.support.run_server",
        json.dumps(dataclasses.asdict(config)),
        server_settings,
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=out, env=os.environ | (environment or {}) | {"PYTHONPATH": "."}
        )

    def read_log() -> str:
        return log.read_text(errors="replace")

    wait_until(lambda: _LISTENING.search(read_log()), explain=read_log)
    address = _LISTENING.search(read_log())
    assert address is not None
    server = RunningServer(address[1], process, log)
    wait_until(server.is_up, explain=read_log)
    return server
