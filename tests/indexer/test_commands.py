"""The command line as a user meets it: what it prints, its exit status, and one line when it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexer.main import COMMANDS, run
from tests.indexer.corpora import made_up, write_lines

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def phrasecom(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in an empty folder with an engine of its own: (status, stdout, stderr)."""
    for name in [name for name in os.environ if name.startswith("PHRASECOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PHRASECOM_ENGINE", str(tmp_path / "engine"))
    monkeypatch.setenv("PHRASECOM_INDEX_PROCESSES", "1")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def index(phrasecom: Run, tmp_path: Path) -> str:
    write_lines(tmp_path / "corpus.jsonl", made_up(30))
    assert phrasecom("index", "corpus.jsonl", "--index", "made-up")[0] == 0
    return "made-up"


def as_json(result: tuple[int, str, str]) -> Any:
    status, out, err = result
    assert (status, err) == (0, "")
    return json.loads(out)


def one_line(err: str) -> str:
    """The complaint: one line that begins with our name, and no stack trace."""
    assert err.startswith("phrasecom: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_index_reports_what_it_made_and_keeps_rejects_in_a_file(phrasecom: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "corpus.jsonl", made_up(30))
    with path.open("a") as stream:
        stream.write("broken\n")
    status, out, err = phrasecom("index", "corpus.jsonl", "--index", "made-up", "--json")
    report = json.loads(out)
    assert status == 1
    assert (report["documents"], report["rejects"]) == (30, 1)
    assert "1 records left out, listed in made-up.rejects.jsonl" in one_line(err)
    assert json.loads((tmp_path / "made-up.rejects.jsonl").read_text())["line"] == 31
    status, out, _ = phrasecom("index", "corpus.jsonl", "--index", "made-up")
    assert status == 1
    assert "index made-up is as it was" in out


def test_search_phrases_and_one_document(phrasecom: Run, index: str) -> None:
    found = as_json(phrasecom("search", "honey bees", "--index", index, "--json", "--facet", "topic=bees"))
    assert found["total"] == 10
    assert found["hits"][0]["id"].startswith("bees-")
    assert "honey bee" in phrasecom("phrases", "honey", "--index", index)[1]
    salient = as_json(phrasecom("phrases", "--document", found["hits"][0]["id"], "--index", index, "--json"))
    assert {"phrase", "salience", "count"} == set(salient["phrases"][0])
    assert phrasecom("search", "zzz", "--index", index)[1] == "no document matches\n"


def test_add_delete_refresh_export(phrasecom: Run, index: str, tmp_path: Path) -> None:
    write_lines(tmp_path / "more.jsonl", made_up(5, topics=("whales",)))
    assert as_json(phrasecom("add", "more.jsonl", "--index", index, "--json"))["documents"] == 35
    assert as_json(phrasecom("delete", "whales-000", "--index", index, "--json"))["deleted"] == 1
    assert phrasecom("delete", "whales-000", "--index", index)[0] == 1
    assert as_json(phrasecom("refresh", "--index", index, "--json"))["documents"] == 34
    assert as_json(phrasecom("export", "--output", "g.npz", "--index", index, "--json"))["documents"] == 34
    phrasecom("export", "--output", "d.jsonl", "--what", "documents", "--index", index)
    assert len((tmp_path / "d.jsonl").read_text().splitlines()) == 34
    assert phrasecom("delete", "--all", "--index", index)[1] == f"index {index} is gone\n"
    assert phrasecom("search", "x", "--index", index)[0] == 1


def test_compare_prints_three_columns_json_or_markdown(phrasecom: Run, index: str) -> None:
    status, out, _ = phrasecom("compare", "bees-000", "boats-001", "--index", index)
    assert status == 0
    assert all(title in out for title in ("only A", "both", "only B"))
    answer = as_json(phrasecom("compare", "bees-000", "boats-001", "--index", index, "--json", "--cap", "2"))
    assert len(answer["distinct_a"]) <= 2
    assert "candidates" not in answer
    more = as_json(phrasecom("compare", "bees-000", "bees-003", "--index", index, "--json", "--candidates"))
    assert more["candidates"]["a"]
    assert "## Only A" in phrasecom("compare", "bees-000", "boats-001", "--index", index, "--markdown")[1]
    full = phrasecom("compare", "bees-000", "text:A honey bee in deep water", "--index", index, "--graph", "full")
    assert full[0] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "line"),
    [
        (["indx"], 2, "no command 'indx'; did you mean index?"),
        (["index"], 2, "Missing argument 'PATH...'"),
        (["index", "x.jsonl"], 2, "Missing option '--index'"),
        (["index", "x.jsonl", "--index", "a"], 1, "no such file or folder: x.jsonl"),
        (["index", "x.jsonl", "--index", "A b"], 2, "cannot name an index; use up to 100 lower-case letters"),
        (["index", "x.jsonl", "--index", "a", "--map", "x"], 2, "cannot read --map 'x'; write FIELD=NAME"),
        (["index", "x.jsonl", "--index", "a", "--k", "0"], 2, "--k is '0'; it must be a whole number, at least 1"),
        (["search", "x", "--index", "nope"], 1, "no index named 'nope'; make it with: phrasecom index"),
        (["search", "x", "--index", "nope", "--engine", "http://127.0.0.1:9"], 1, "does not answer"),
        (["compare", "a", "b", "--index", "nope"], 1, "no index named 'nope'"),
        (["compare", "a", "--index", "nope"], 2, "Missing argument 'B'"),
        (["delete", "--index", "nope"], 2, "name the ids to delete, or --all"),
    ],
)
def test_what_goes_wrong_is_one_line_that_names_the_fix(
    phrasecom: Run, arguments: list[str], status: int, line: str
) -> None:
    found, out, err = phrasecom(*arguments)
    assert (found, out) == (status, "")
    assert line in one_line(err)


def test_a_bad_side_or_method_is_told_in_one_line(phrasecom: Run, index: str) -> None:
    cases = {
        ("nobody", "bees-000"): (1, "no document 'nobody' in index 'made-up'; find ids with: phrasecom search"),
        ("text:", "bees-000"): (2, "text is empty"),
        ("file:gone.txt", "bees-000"): (2, "gone.txt"),
        ("bees-000", "bees-003", "--method", "best"): (2, "no method named 'best'"),
        ("bees-000", "bees-003", "--preset", "best"): (2, "--preset is 'best'; it must be one of default, paper"),
    }
    for arguments, (status, line) in cases.items():
        found, _, err = phrasecom("compare", *arguments, "--index", index)
        assert (found, line in one_line(err)) == (status, True), err


def test_a_fault_of_ours_is_one_line_and_debug_shows_where(phrasecom: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**given: object) -> None:
        raise RuntimeError("redis://:hush@host/0\nsecond line")

    monkeypatch.setattr("indexer.settings.load_settings", broken)
    status, _, err = phrasecom("search", "x", "--index", "a")
    assert status == 1
    assert "internal error: RuntimeError" in one_line(err)
    assert "hush" not in err
    with pytest.raises(RuntimeError):
        run(["search", "x", "--index", "a", "--debug"])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_json_and_debug(phrasecom: Run, name: str) -> None:
    status, out, err = phrasecom(name, "--help")
    assert (status, err) == (0, "")
    assert "Usage: phrasecom" in out
    if name not in ("evaluate", "keys"):  # groups: their commands have them
        assert "--json" in out
        assert "--debug" in out


def test_doctor_says_what_is_missing_and_how_to_mend_it(phrasecom: Run, index: str, valkey_url: str) -> None:
    status, out, _ = phrasecom("doctor", "--json", "--redis-url", valkey_url)
    report = json.loads(out)
    assert status == 0, report
    assert [finding["what"] for finding in report["findings"]] == [
        "system", "settings", "write permission", "engine", "indexes", "redis",
    ]  # fmt: skip
    assert "made-up (30 documents" in out
    status, out, _ = phrasecom("doctor", "--redis-url", "redis://:hush@127.0.0.1:9/0", "--engine", "corpus.jsonl/sub")
    assert status == 1
    assert "FAIL redis" in out
    assert "FAIL write permission" in out
    assert "hush" not in out


def test_doctor_tells_a_bad_setting(phrasecom: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHRASECOM_K", "many")
    status, out, _ = phrasecom("doctor")
    assert status == 1
    assert "FAIL settings: PHRASECOM_K is 'many'; it must be a whole number" in out


def test_output_cannot_drive_the_terminal(phrasecom: Run, tmp_path: Path) -> None:
    line = {"id": "evil", "title": "\x1b[31mred\x07", "text": "A honey bee. " * 5}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    phrasecom("index", "a.jsonl", "--index", "evil")
    _, out, _ = phrasecom("search", "honey", "--index", "evil")
    assert "\x1b" not in out
    assert "\x07" not in out


def test_a_reader_that_has_enough_ends_the_command_quietly(index: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m indexer phrases --index {index} --size 0 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
