"""A full disk: a clear error, nothing left behind, and an index that works as before. On a real small file system."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
set -u
mount -t tmpfs -o size=2m none "$DISK"
run() { "$PYTHON" -m indexer "$@"; echo "status $?"; }
run index small.jsonl --index small --engine "$DISK/engine" --json
ls -R "$DISK" | sort > before.txt
run index large.jsonl --index large --engine "$DISK/engine" --json
ls -R "$DISK" | sort > after_build.txt
run add large.jsonl --index small --engine "$DISK/engine" --json
ls -R "$DISK" | sort > after_add.txt
TMPDIR="$DISK" run index large.jsonl --index large --engine engine --json
run doctor --engine "$DISK/engine" --json
run search word1 --index small --engine "$DISK/engine" --json
mount -o remount,ro "$DISK"
run search word1 --index small --engine "$DISK/engine" --json
"""
NAMESPACE = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else [])]


def write_documents(path: Path, count: int, words: int) -> None:
    rng = random.Random(count)
    texts = (" ".join(f"word{rng.randrange(5000)}" for _ in range(words)) + " word1" for _ in range(count))
    path.write_text(
        "".join(json.dumps({"id": f"{path.stem}-{n}", "text": text}) + "\n" for n, text in enumerate(texts))
    )


@pytest.mark.slow
def test_a_full_disk_ends_a_command_with_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    probe = [*NAMESPACE, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("this machine does not allow to mount a file system")
    write_documents(tmp_path / "small.jsonl", 20, 30)
    write_documents(tmp_path / "large.jsonl", 600, 600)
    (tmp_path / "disk").mkdir()
    environment = {**os.environ, "DISK": str(tmp_path / "disk"), "PYTHON": sys.executable}
    environment |= {"PYTHONPATH": os.getcwd(), "PHRASECOM_INDEX_PROCESSES": "1"}  # noqa: PTH109
    done = subprocess.run(
        [*NAMESPACE, "bash", "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    statuses = [line for line in done.stdout.splitlines() if line.startswith("status")]
    assert statuses == ["status 0", "status 2", "status 2", "status 2", "status 0", "status 0", "status 2"]
    errors = [json.loads(line) for line in done.stderr.splitlines()]
    codes = [error["code"] for error in errors]
    assert codes == ["engine-unavailable", "engine-unavailable", "unavailable", "bad-setting"]
    assert all("space" in error["fix"] for error in errors[:3])
    assert "Read-only file system" in errors[3]["detail"], "which tantivy cannot read, and which is no damage"
    names = ("before.txt", "after_build.txt", "after_add.txt")
    before, after_build, after_add = ((tmp_path / name).read_text() for name in names)
    assert before == after_build == after_add
