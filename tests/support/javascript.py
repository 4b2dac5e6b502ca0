"""Programs of the official JavaScript client, run by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from deploy.npm import DownloadError, install_packages
from tests.support.required_programs import skip_without

PROGRAMS = Path(__file__).parents[1] / "webapi" / "javascript"


def run_javascript(program: str, server_url: str, arguments: object) -> Any:
    """Return the JSON that a program prints for a service at this URL; ``arguments``: its input, as JSON."""
    node = shutil.which("node")
    if node is None:
        skip_without("Node.js", "the JavaScript client needs it")
    try:
        modules = install_packages(PROGRAMS)
    except DownloadError as error:
        skip_without("@elastic/elasticsearch", str(error))
    command = [node, str(PROGRAMS / program), str(modules), f"{server_url}/v1"]
    done = subprocess.run(command, input=json.dumps(arguments), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
