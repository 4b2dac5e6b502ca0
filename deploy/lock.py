"""Write requirements.txt and requirements-dev.txt: every package pinned, with the hashes of its files.

    python deploy/lock.py [--upgrade]

The locks are made from pyproject.toml alone and name no index or host, so that they install from
any registry pip is set up with. Pins that still fit stay unless --upgrade is given.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Made by `make lock` from pyproject.toml. Do not edit.\n"
CONDITIONAL_REQUIREMENTS = ["async-timeout>=4.0.3"]
"""Packages that only some supported Pythons need (here: below 3.11.3); a resolver on a newer one leaves them out."""

OPTIONS = [
    "--quiet",
    "--generate-hashes",
    "--allow-unsafe",
    "--strip-extras",
    "--no-annotate",
    "--no-header",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-emit-trusted-host",
    "--no-emit-options",
]


def write_lock(lock: Path, requirements: list[str], *options: str) -> None:
    """Pin ``requirements`` and their dependencies in ``lock``; ``options`` go to pip-compile."""
    command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *options, "--output-file", str(lock), "-"]
    subprocess.run(command, input="\n".join(requirements), text=True, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
    lines = [line for line in lock.read_text().splitlines(keepends=True) if not line.startswith("#") and line.strip()]
    lock.write_text(HEADER + "".join(lines))


def main(arguments: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = project["project"]["dependencies"] + project["build-system"]["requires"] + CONDITIONAL_REQUIREMENTS
    development = runtime + project["dependency-groups"]["dev"]
    lock = ROOT / "requirements.txt"
    write_lock(lock, runtime, *arguments)
    write_lock(ROOT / "requirements-dev.txt", development, "--constraint", str(lock), *arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
