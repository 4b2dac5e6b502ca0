"""The Elasticsearch node for tests and trials: assembled once, and never left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.support.paths import ROOT

ASSEMBLE = ROOT / "deploy" / "elasticsearch" / "assemble.py"
NODE = ROOT / "deploy" / "elasticsearch" / "node.py"


def run_assemble(*arguments: str, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = os.environ | ({"PHRASECOM_CACHE": str(cache)} if cache else {})
    return subprocess.run([sys.executable, ASSEMBLE, *arguments], capture_output=True, text=True, check=False, env=env)


@pytest.fixture
def home(elasticsearch_url: str) -> Path:
    """The assembled home; depends on the running server, which skips the test where none can be assembled."""
    return Path(run_assemble().stdout.strip())


def wait_until_ended(pid: int) -> bool:
    for _ in range(3000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def is_answering(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_assembling_again_leaves_the_home_alone(home: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    assert Path(run_assemble().stdout.strip()) == home
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


def test_a_half_made_home_is_made_anew_by_two_runs_at_once(home: Path, tmp_path: Path) -> None:
    half_made = tmp_path / "home"
    (half_made / "lib").mkdir(parents=True)
    (half_made / "lib" / "cut-short.jar").write_bytes(b"")
    both = [
        subprocess.Popen([sys.executable, ASSEMBLE, half_made], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for run in both:
        _, stderr = run.communicate()
        assert run.returncode == 0, stderr
    assert (half_made / "assembled").read_text() == (home / "assembled").read_text()
    assert not (half_made / "lib" / "cut-short.jar").exists()
    assert list(tmp_path.glob(".making-*")) == []


def test_a_jar_that_is_not_the_locked_one_is_never_used(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    from deploy.elasticsearch import assemble as assemble_module

    wrong = [dataclasses.replace(jar, sha256="0" * 64) for jar in assemble_module.read_lock()[:1]]
    monkeypatch.setattr(assemble_module, "read_lock", lambda: wrong)
    with pytest.raises(assemble_module.AssemblyError, match=r"checksum|download"):
        assemble_module.download_jars(tmp_path / "jars")


def test_a_killed_node_starts_again_on_its_data(home: Path, tmp_path: Path) -> None:
    from deploy.elasticsearch.node import Node

    node = Node(work=tmp_path / "work", home=home).start()
    try:
        request = urllib.request.Request(
            node.url + "/kept/_doc/1?refresh=true", b'{"a": 1}', {"Content-Type": "application/json"}, method="PUT"
        )
        urllib.request.urlopen(request).close()
        node.kill()
        node.start()
        node.get("/_cluster/health/kept?wait_for_status=yellow&timeout=30s")
        assert node.get("/kept/_count")["count"] == 1
    finally:
        node.stop()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_node_never_outlives_its_parent(home: Path, tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, str(NODE), "--heap", "256m", "--work", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().strip()
        assert is_answering(url)
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        parent.send_signal(how)
    assert len(children) == 1
    assert wait_until_ended(int(children[0]))
    assert not is_answering(url)


def test_a_node_that_cannot_start_says_why(home: Path) -> None:
    from deploy.elasticsearch.node import Node, NodeError

    node = Node(home=home, settings={"no.such.setting": 1})
    try:
        with pytest.raises(NodeError, match=r"no\.such\.setting"):
            node.start()
    finally:
        node.stop()
