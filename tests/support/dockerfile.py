"""Reads deploy/Dockerfile, and replays it without Docker.

``python -m tests.support.dockerfile FOLDER [PYTHON]`` replays the build in FOLDER instead of ``/`` and prints the
version of the result. It takes some minutes and needs a package registry.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

DOCKERFILE = ROOT / "deploy" / "Dockerfile"


@dataclass(frozen=True, slots=True)
class Step:
    instruction: str
    """FROM, COPY, RUN, ..."""
    arguments: str


def read_stages() -> list[list[Step]]:
    """Return the steps of each stage; the first is its FROM."""
    text = DOCKERFILE.read_text()
    lines = re.sub(r"\\\n", " ", text).splitlines()
    stages: list[list[Step]] = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        instruction, _, arguments = line.partition(" ")
        if instruction == "FROM":
            stages.append([])
        stages[-1].append(Step(instruction, arguments.strip()))
    return stages


def parse_copy(step: Step) -> tuple[list[str], str]:
    """Return the sources and the target of a COPY."""
    *sources, target = step.arguments.split()
    return sources, target


def replay_build(folder: Path, python: str) -> None:
    """Replay the first stage, which builds the content of the image."""
    for step in read_stages()[0]:
        if step.instruction == "COPY":
            sources, target = parse_copy(step)
            for source in sources:
                _copy_files(ROOT / source, folder / target.lstrip("/"), into=target.endswith("/"))
        elif step.instruction == "RUN":
            command = step.arguments.replace("/opt/", f"{folder}/opt/").replace("/src", f"{folder}/src")
            command = re.sub(r"^python ", f"{python} ", command)
            print("RUN", command, flush=True)
            clean = {"PATH": os.environ["PATH"], "HOME": str(folder)}
            pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
            subprocess.run(["bash", "-euc", command], cwd=folder, check=True, env=clean | pip)
    subprocess.run([str(folder / "opt/phrasecom/bin/phrasecom"), "--version"], cwd=folder, check=True)


def _copy_files(source: Path, target: Path, *, into: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        return
    target.mkdir(parents=True, exist_ok=True) if into else target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    target.mkdir(parents=True)
    replay_build(target, sys.argv[2] if len(sys.argv) > 2 else sys.executable)
