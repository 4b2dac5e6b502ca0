"""docs/http.md is true: its commands run, its answer is one, and it names every error.

``python -m tests.docs.test_http_examples`` writes the answer anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from indexer import errors
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.api_keys import make_app_client
from tests.support.corpora import planted_pairs
from tests.support.paths import ROOT
from tests.support.web_servers import RunningServer
from webapi.http.problems import CODE_BY_STATUS, InvalidRequest, UnsupportedMediaType
from worker.jobs.job import TIME_LIMIT, WORKER_LOST

PATH = ROOT / "docs" / "http.md"
PAGE = PATH.read_text(encoding="utf-8")
_ANSWER = re.compile(r"(?<=<!-- whole answer -->\n\n```json\n).*?(?=```)", re.DOTALL)
_QUESTION = {"index": "fields", "a": {"id": "d0011"}, "b": {"id": "d0035"}, "options": {"cap": 2}}
_WIDTH = 118


def test_the_walk_through_runs_as_it_is_written(real_server: RunningServer) -> None:
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
    codes = (
        _all(errors.PhraseComError) | set(CODE_BY_STATUS.values()) | {InvalidRequest.code, UnsupportedMediaType.code}
    )
    assert documented == codes | {"cancelled", WORKER_LOST, TIME_LIMIT}


def answered(folder: Path) -> dict[str, Any]:
    """The answer to the page's question, on the made-up corpus of the worker's tests."""
    with open_engine(str(folder)) as engine:
        build_index(planted_pairs.make_planted_corpus(), engine, _QUESTION["index"], processes=1)
    app = make_app_client(folder)
    found = app.post("/v1/comparisons", _QUESTION)
    app.close()
    assert found.status_code == 200
    answer: dict[str, Any] = found.get_json()
    return answer


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """Without what differs each time."""
    same = {name: value for name, value in answer.items() if name not in ("id", "epoch")}
    return same | {"stats": {name: value for name, value in answer["stats"].items() if name != "ms"}}


def test_the_whole_answer_is_the_one_that_is_given(tmp_path: Path) -> None:
    (shown,) = _ANSWER.findall(PAGE)
    assert json.dumps(_QUESTION) in PAGE
    answer = answered(tmp_path)
    assert set(answer) == set(json.loads(shown)) and set(answer["stats"]["ms"]) == set(json.loads(shown)["stats"]["ms"])
    assert_alike(lasting(json.loads(shown)), lasting(answer))


def assert_alike(shown: Any, given: Any) -> None:
    """Equal; numbers as nearly as another machine gives them."""
    if isinstance(given, dict):
        assert set(shown) == set(given)
        for name in given:
            assert_alike(shown[name], given[name])
    elif isinstance(given, list):
        assert len(shown) == len(given)
        for one, other in zip(shown, given, strict=True):
            assert_alike(one, other)
    else:
        assert shown == (pytest.approx(given, abs=1e-3) if isinstance(given, float) else given)


def laid_out(value: Any, margin: str = "") -> str:
    """JSON with everything on one line that fits there."""
    line = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = margin + "  "
    if isinstance(value, list):
        parts = [laid_out(one, inner) for one in value]
        return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}]"
    named = [f"{inner}{json.dumps(name)}: {laid_out(one, inner)}" for name, one in value.items()]
    return "{\n" + ",\n".join(named) + f"\n{margin}}}"


def write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        answer = laid_out(answered(Path(folder))) + "\n"
    PATH.write_text(_ANSWER.sub(lambda _: answer, PAGE), encoding="utf-8")


if __name__ == "__main__":
    write()
