"""docs/http.md agrees with the service: its commands run, its answer is the one given, and it lists every error.

``python -m tests.docs.test_http_examples`` writes the answer again.
"""

from __future__ import annotations

import json
import re
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
from tests.support.shell_pages import read_blocks, run_script
from webapi.http.problems import CODE_BY_STATUS, InvalidRequest, UnsupportedMediaType
from worker.jobs.job import TIME_LIMIT, WORKER_LOST

PATH = ROOT / "docs" / "http.md"
PAGE = PATH.read_text(encoding="utf-8")
_ANSWER = re.compile(r"(?<=<!-- whole answer -->\n\n```json\n).*?(?=```)", re.DOTALL)
_REQUEST = {"index": "fields", "a": {"id": "d0011"}, "b": {"id": "d0035"}, "options": {"cap": 2}}
_WIDTH = 118


def test_the_tutorial_runs_as_it_is_written_in_an_empty_folder(tmp_path: Path) -> None:
    done = run_script(tmp_path, ["shopt -s expand_aliases", *read_blocks("http.md", "Tutorial")])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert '"why"' in done.stdout and '"distinct_a"' in done.stdout
    assert '"phrase":"web graph"' in done.stdout, "the answers are not empty"


def _list_codes(kind: type[errors.PhraseComError]) -> set[str]:
    return {kind.code}.union(*(_list_codes(one) for one in kind.__subclasses__()))


def test_every_code_has_a_line() -> None:
    documented = set(re.findall(r"^\| `([a-z-]+)` \| \d{3} \|", PAGE, re.MULTILINE))
    codes = (
        _list_codes(errors.PhraseComError)
        | set(CODE_BY_STATUS.values())
        | {InvalidRequest.code, UnsupportedMediaType.code}
    )
    assert documented == codes | {"cancelled", WORKER_LOST, TIME_LIMIT}


def compute_answer(folder: Path) -> dict[str, Any]:
    """Return the answer to the page's request, on the planted corpus."""
    with open_engine(str(folder)) as engine:
        build_index(planted_pairs.make_planted_corpus(), engine, _REQUEST["index"], processes=1)
    app = make_app_client(folder)
    reply = app.post("/v1/comparisons", _REQUEST)
    app.close()
    assert reply.status_code == 200
    answer: dict[str, Any] = reply.get_json()
    return answer


def remove_varying_fields(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer without the fields that differ each time."""
    same = {name: value for name, value in answer.items() if name not in ("id", "epoch")}
    return same | {"stats": {name: value for name, value in answer["stats"].items() if name != "ms"}}


def test_the_answer_on_the_page_is_the_one_given(tmp_path: Path) -> None:
    (shown,) = _ANSWER.findall(PAGE)
    assert json.dumps(_REQUEST) in PAGE
    answer = compute_answer(tmp_path)
    assert set(answer) == set(json.loads(shown)) and set(answer["stats"]["ms"]) == set(json.loads(shown)["stats"]["ms"])
    assert_alike(remove_varying_fields(json.loads(shown)), remove_varying_fields(answer))


def assert_alike(shown: Any, given: Any) -> None:
    """Compare recursively; floats may differ slightly, as on another machine."""
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


def format_json(value: Any, margin: str = "") -> str:
    """Return JSON in which every value that fits is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = margin + "  "
    if isinstance(value, list):
        parts = [format_json(one, inner) for one in value]
        return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}]"
    named = [f"{inner}{json.dumps(name)}: {format_json(one, inner)}" for name, one in value.items()]
    return "{\n" + ",\n".join(named) + f"\n{margin}}}"


def write_answer() -> None:
    with tempfile.TemporaryDirectory() as folder:
        answer = format_json(compute_answer(Path(folder))) + "\n"
    PATH.write_text(_ANSWER.sub(lambda _: answer, PAGE), encoding="utf-8")


if __name__ == "__main__":
    write_answer()
