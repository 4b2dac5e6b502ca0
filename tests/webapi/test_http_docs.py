"""docs/http.md is true: its commands run, and it names every error."""

from __future__ import annotations

import os
import re
import subprocess

from indexer import errors
from tests.webapi.conftest import Served
from tests.worker.jobs.conftest import ROOT
from webapi.problems import _CODES, Invalid, UnsupportedMediaType
from worker.jobs import TIME_LIMIT, WORKER_LOST

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")


def test_the_walk_through_runs_as_it_is_written(real_server: Served) -> None:
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
    script = "set -euo pipefail\nshopt -s expand_aliases\n" + commands
    done = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"PHRASECOM": real_server.url},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert '"why"' in done.stdout and '"distinct_a"' in done.stdout


def _all(kind: type[errors.PhraseComError]) -> set[str]:
    return {kind.code}.union(*(_all(one) for one in kind.__subclasses__()))


def test_every_code_has_a_line() -> None:
    documented = set(re.findall(r"^\| `([a-z-]+)` \| \d{3} \|", PAGE, re.MULTILINE))
    codes = _all(errors.PhraseComError) | set(_CODES.values()) | {Invalid.code, UnsupportedMediaType.code}
    assert documented == codes | {"cancelled", WORKER_LOST, TIME_LIMIT}
