"""``phrasecom demo`` as a process: it comes up, answers, and leaves nothing behind however it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.corpora.small_corpus import made_up, write_lines


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus; the index made by the first test serves the others."""
    folder = tmp_path_factory.mktemp("demo")
    write_lines(folder / "corpus.jsonl", made_up(60))
    return folder


def start(place: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "indexer", "demo", "--corpus", "corpus.jsonl", "--port", "0", *arguments]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PHRASECOM_")}
    return subprocess.Popen(
        command, cwd=place, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


@pytest.fixture
def running(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo that has printed its address and waits."""
    demo = start(place)
    assert demo.stdout is not None
    said = []
    for line in demo.stdout:
        said.append(line)
        if "Ctrl-C stops it" in line:
            break
    else:
        pytest.fail("".join(said) + demo.communicate()[1])
    yield demo
    if demo.poll() is None:
        demo.kill()
    demo.communicate()


def test_once_prints_the_comparison_that_the_running_service_gave(place: Path) -> None:
    demo = start(place, "--once")
    out, err = demo.communicate(timeout=300)
    assert demo.returncode == 0, err
    answer = json.loads(out)
    assert answer["index"] == "demo"
    assert answer["a"]["ids"][0].partition("-")[0] == answer["b"]["ids"][0].partition("-")[0] == "bees"
    assert "60 documents" in err
    assert [path.name for path in place.glob("corpus*")] == ["corpus.jsonl"]


def test_a_second_run_uses_the_index_that_is_there(place: Path) -> None:
    for _ in range(2):
        demo = start(place, "--once")
        _, err = demo.communicate(timeout=300)
        assert demo.returncode == 0, err
    assert "already there" in err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_is_ended_no_process_is_left(running: subprocess.Popen[str], how: signal.Signals) -> None:
    family = psutil.Process(running.pid).children(recursive=True)
    names = " ".join(word for process in family for word in process.cmdline())
    assert "valkey" in names
    assert "worker" in names
    assert "serve" in names
    running.send_signal(how)
    running.wait(300)
    assert running.returncode == (0 if how != signal.SIGKILL else -signal.SIGKILL)
    _, alive = psutil.wait_procs(family, timeout=300)
    assert alive == []


def test_a_port_in_use_is_one_line_with_the_fix(place: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        demo = start(place, "--port", str(port))
        out, err = demo.communicate(timeout=300)
    assert (demo.returncode, out) == (2, "")
    assert err == (
        f"phrasecom: cannot listen on 127.0.0.1 port {port}: Address already in use; "
        "choose another with --port, or end what listens there\n"
    )
