"""Fetch axe-core, the accessibility checker of the browser tests, into the cache.

    python deploy/axe.py        prints the script's path

Nothing of it is kept in the project: npm brings the package, and its script is checked against the
sha256 below.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "4.14.0"
SHA256 = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
MEMBER = "package/axe.min.js"
PATIENCE = 120
"""Seconds the download may take."""


class AxeError(Exception):
    """The script could not be had; the message says why in one line."""


def axe_script() -> Path:
    """The script's place; fetched when it is not there yet."""
    root = os.environ.get("PHRASECOM_CACHE") or Path(__file__).resolve().parents[1] / ".cache"
    script = Path(root).resolve() / "axe" / VERSION / "axe.min.js"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=script.parent) as folder:
            part = Path(folder) / script.name
            part.write_bytes(_downloaded(Path(folder)))
            part.replace(script)
    return script


def _downloaded(folder: Path) -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise AxeError("npm is not installed, and axe-core is not in the cache")
    try:
        subprocess.run(
            [npm, "pack", "--silent", f"axe-core@{VERSION}"],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise AxeError(f"npm could not fetch axe-core {VERSION}: {error}") from error
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        member = packed.extractfile(MEMBER)
        script = member.read() if member else b""
    if hashlib.sha256(script).hexdigest() != SHA256:
        raise AxeError(f"axe-core {VERSION} is not the file that was expected")
    return script


if __name__ == "__main__":
    try:
        print(axe_script())
    except AxeError as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
