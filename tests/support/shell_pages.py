"""Runs the commands of documentation pages in a shell, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from indexer.net import find_free_port
from tests.support.paths import ROOT

PORTS = ("9200", "6379", "8080")
"""Ports in the pages; they may be in use."""


def read_blocks(page: str, *titles: str) -> list[str]:
    """Return the sh blocks under these headings."""
    parts = re.split(r"^## (.+)$", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return [block for title in titles for block in re.findall(r"```sh\n(.*?)```", sections[title], re.DOTALL)]


def run_script(folder: Path, script: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the commands one after the other in this folder, without settings, with a home of its own and free ports.

    What they left running is stopped at the end.
    """
    text = "set -euxo pipefail\ntrap 'kill $(jobs -p) 2> kill.log || true; wait' EXIT\n" + "\n".join(script)
    for port in PORTS:
        text = text.replace(port, str(find_free_port()))
    home = folder / "home"
    home.mkdir()
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PHRASECOM_") and name != "HOME"}
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    cache = os.environ.get("PHRASECOM_CACHE")
    env = ours | {"HOME": str(home), "PATH": path} | ({"PHRASECOM_CACHE": cache} if cache else {})
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False
    )
