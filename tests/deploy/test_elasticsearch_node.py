"""The Elasticsearch that tests and trials run on: assembled once, never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASSEMBLE = ROOT / "deploy" / "elasticsearch" / "assemble.py"
NODE = ROOT / "deploy" / "elasticsearch" / "node.py"


def assemble(*arguments: str, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = os.environ | ({"PHRASECOM_CACHE": str(cache)} if cache else {})
    return subprocess.run([sys.executable, ASSEMBLE, *arguments], capture_output=True, text=True, check=False, env=env)


@pytest.fixture
def home(elasticsearch_url: str) -> Path:
    """The home in the cache; asking for the running server first means that it can be made here at all."""
    return Path(assemble().stdout.strip())


def ends(pid: int) -> bool:
    for _ in range(3000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_assembling_again_leaves_the_home_alone(home: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    assert Path(assemble().stdout.strip()) == home
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
        _, told = run.communicate()
        assert run.returncode == 0, told
    assert (half_made / "assembled").read_text() == (home / "assembled").read_text()
    assert not (half_made / "lib" / "cut-short.jar").exists()
    assert list(tmp_path.glob(".making-*")) == []


def test_a_jar_that_is_not_the_locked_one_is_never_used(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    from deploy.elasticsearch import assemble as assembling

    wrong = [dataclasses.replace(jar, sha256="0" * 64) for jar in assembling.read_lock()[:1]]
    monkeypatch.setattr(assembling, "read_lock", lambda: wrong)
    with pytest.raises(assembling.AssemblyError, match=r"checksum|download"):
        assembling.download_jars(tmp_path / "jars")


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
        assert answers(url)
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        parent.send_signal(how)
    assert len(children) == 1
    assert ends(int(children[0]))
    assert not answers(url)


def test_a_node_that_cannot_start_says_why(home: Path) -> None:
    from deploy.elasticsearch.node import Node, NodeError

    node = Node(home=home, settings={"no.such.setting": 1})
    try:
        with pytest.raises(NodeError, match=r"no\.such\.setting"):
            node.start()
    finally:
        node.stop()
