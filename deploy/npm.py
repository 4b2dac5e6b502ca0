"""Fetch JavaScript that only tests use from npm into the cache.

    python deploy/npm.py        fetches all scripts, prints their paths

They are no part of the project: npm downloads a package, and the one script of it that is used is checked
against the sha256 below. Packages that need others are installed as a lock file says.
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
    """A script could not be downloaded; the message gives the reason in one line."""


@dataclass(frozen=True)
class NpmScript:
    """A script in an npm package, with its checksum."""

    package: str
    version: str
    member: str
    """Path in the archive of the package."""
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
    """Return the path of the script in the cache; download it first if it is missing.

    Raises DownloadError.
    """
    name = script.package.strip("@").replace("/", "-")
    path = _get_cache_folder() / f"{name}-{script.version}.js"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            part = Path(folder) / path.name
            part.write_bytes(_download_script(script, Path(folder)))
            part.replace(path)
    return path


def install_packages(folder: Path) -> Path:
    """Return a folder in the cache with the packages that ``package-lock.json`` of a folder pins, by their checksums.

    Raises DownloadError.
    """
    lock = folder / "package-lock.json"
    path = _get_cache_folder() / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
            part = Path(temporary) / "packages"
            part.mkdir()
            for name in ("package.json", lock.name):
                shutil.copy(folder / name, part)
            _run_npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], part, f"the packages of {lock}")
            part.replace(path)
    return path


def _get_cache_folder() -> Path:
    root = os.environ.get("PHRASECOM_CACHE") or Path(__file__).resolve().parents[1] / ".cache"
    return Path(root).resolve() / "npm"


def _run_npm(arguments: list[str], folder: Path, wanted: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise DownloadError(f"npm is not installed, and {wanted} is not in the cache")
    command = [npm, *arguments, "--silent"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=DOWNLOAD_TIMEOUT)
    except (subprocess.SubprocessError, OSError) as error:
        raise DownloadError(f"npm could not fetch {wanted}: {error}") from error


def _download_script(script: NpmScript, folder: Path) -> bytes:
    package = f"{script.package}@{script.version}"
    _run_npm(["pack", package], folder, package)
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        member = packed.extractfile(script.member)
        content = member.read() if member else b""
    if hashlib.sha256(content).hexdigest() != script.sha256:
        raise DownloadError(f"{package} is not what was expected")
    return content


if __name__ == "__main__":
    try:
        for script in SCRIPTS:
            print(fetch_script(script))
    except DownloadError as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
