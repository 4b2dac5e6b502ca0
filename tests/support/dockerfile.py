"""Reading deploy/Dockerfile, and doing what it says without Docker.

``python -m tests.support.dockerfile FOLDER [PYTHON]`` replays the build: copies what it copies, runs what it runs, with
FOLDER in the place of ``/``, and asks the result for its version. Some minutes, and it needs a package registry.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"


@dataclass(frozen=True, slots=True)
class Step:
    instruction: str
    """FROM, COPY, RUN, ..."""
    arguments: str


def read_stages() -> list[list[Step]]:
    """Each begins with its FROM."""
    text = DOCKERFILE.read_text()
    lines = re.sub(r"\\\n", " ", text).splitlines()
    found: list[list[Step]] = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append(Step(word, rest.strip()))
    return found


def parse_copy(step: Step) -> tuple[list[str], str]:
    """What a COPY from the context takes, and where to."""
    *sources, target = step.arguments.split()
    return sources, target


def replay_build(folder: Path, python: str) -> None:
    """The first stage: the one that makes what the image holds."""
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
    made = Path(sys.argv[1]).resolve()
    made.mkdir(parents=True)
    replay_build(made, sys.argv[2] if len(sys.argv) > 2 else sys.executable)
