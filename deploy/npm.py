"""Fetch scripts that only the browser tests use, into the cache.

    python deploy/npm.py        fetches them all, prints their paths

Nothing of them is kept in the project: npm brings a package, and the one script of it that is used is checked
against the sha256 below.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

DOWNLOAD_TIMEOUT = 300
"""Seconds a download may take."""


class DownloadError(Exception):
    """A script could not be had; the message says why in one line."""


@dataclass(frozen=True)
class NpmScript:
    package: str
    version: str
    member: str
    sha256: str


AXE = NpmScript(
    "axe-core",
    "4.14.0",
    "package/axe.min.js",
    "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878",
)
"""The accessibility checker."""
INSTANTSEARCH = NpmScript(
    "instantsearch.js",
    "4.118.1",
    "package/dist/instantsearch.production.min.js",
    "e211fc45f2790f9027e63a23c78cfc478290d1900e4185d5befbd545adc46291",
)
SEARCHKIT = NpmScript(
    "searchkit",
    "4.16.0",
    "package/dist/umd/index.global.js",
    "c12743588190d2d8091c19675e40f7db8cabe04c414987b30337a3ea72400cf9",
)
SEARCHKIT_CLIENT = NpmScript(
    "@searchkit/instantsearch-client",
    "4.15.0",
    "package/dist/umd/index.global.js",
    "121bf74e9e567a15f54a5c143432fb99b2ed698137eafa6ca180feaff56fded6",
)
SCRIPTS = (AXE, INSTANTSEARCH, SEARCHKIT, SEARCHKIT_CLIENT)


def fetch_script(script: NpmScript) -> Path:
    """The script's place; fetched when it is not there yet."""
    root = os.environ.get("PHRASECOM_CACHE") or Path(__file__).resolve().parents[1] / ".cache"
    name = script.package.strip("@").replace("/", "-")
    place = Path(root).resolve() / "npm" / f"{name}-{script.version}.js"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            part = Path(folder) / place.name
            part.write_bytes(_download_script(script, Path(folder)))
            part.replace(place)
    return place


def _download_script(script: NpmScript, folder: Path) -> bytes:
    wanted = f"{script.package}@{script.version}"
    npm = shutil.which("npm")
    if npm is None:
        raise DownloadError(f"npm is not installed, and {wanted} is not in the cache")
    command = [npm, "pack", "--silent", wanted]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=DOWNLOAD_TIMEOUT)
    except (subprocess.SubprocessError, OSError) as error:
        raise DownloadError(f"npm could not fetch {wanted}: {error}") from error
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        member = packed.extractfile(script.member)
        content = member.read() if member else b""
    if hashlib.sha256(content).hexdigest() != script.sha256:
        raise DownloadError(f"{wanted} is not what was expected")
    return content


if __name__ == "__main__":
    try:
        for one in SCRIPTS:
            print(fetch_script(one))
    except DownloadError as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
