"""``phrasecom demo`` as a process: it starts, answers, and leaves no process behind however it ends."""

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

from tests.support.corpora.small_corpus import generate_documents, write_jsonl


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus; the tests share the index that the first of them builds."""
    folder = tmp_path_factory.mktemp("demo")
    write_jsonl(folder / "corpus.jsonl", generate_documents(60))
    return folder


def start_demo(demo_folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "indexer", "demo", "--corpus", "corpus.jsonl", "--port", "0", *arguments]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PHRASECOM_")}
    return subprocess.Popen(
        command,
        cwd=demo_folder,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.fixture
def running_demo(demo_folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo that has printed its address and is waiting."""
    demo = start_demo(demo_folder)
    assert demo.stdout is not None
    lines = []
    for line in demo.stdout:
        lines.append(line)
        if "press Ctrl-C to stop" in line:
            break
    else:
        pytest.fail("".join(lines) + demo.communicate()[1])
    yield demo
    if demo.poll() is None:
        demo.kill()
    demo.communicate()


def test_once_prints_the_comparison_that_the_running_service_gave(demo_folder: Path) -> None:
    demo = start_demo(demo_folder, "--once")
    out, err = demo.communicate(timeout=300)
    assert demo.returncode == 0, err
    answer = json.loads(out)
    assert answer["index"] == "demo"
    assert answer["a"]["ids"][0].partition("-")[0] == answer["b"]["ids"][0].partition("-")[0] == "bees"
    assert "60 documents" in err
    assert [path.name for path in demo_folder.glob("corpus*")] == ["corpus.jsonl"]


def test_a_second_run_uses_the_existing_index(demo_folder: Path) -> None:
    for _ in range(2):
        demo = start_demo(demo_folder, "--once")
        _, err = demo.communicate(timeout=300)
        assert demo.returncode == 0, err
    assert "phrases, unchanged" in err


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_however_the_demo_ends(
    running_demo: subprocess.Popen[str], stop_signal: signal.Signals
) -> None:
    family = psutil.Process(running_demo.pid).children(recursive=True)
    names = " ".join(word for process in family for word in process.cmdline())
    assert "valkey" in names
    assert "worker" in names
    assert "serve" in names
    running_demo.send_signal(stop_signal)
    running_demo.wait(300)
    assert running_demo.returncode == (0 if stop_signal != signal.SIGKILL else -signal.SIGKILL)
    _, alive = psutil.wait_procs(family, timeout=300)
    assert alive == []


def test_a_port_in_use_is_one_line_with_the_fix(demo_folder: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        demo = start_demo(demo_folder, "--port", str(port))
        out, err = demo.communicate(timeout=300)
    assert (demo.returncode, out) == (2, "")
    assert err == (
        f"phrasecom: cannot listen on 127.0.0.1 port {port}: Address already in use; "
        "choose another with --port, or stop the process that uses it\n"
    )
