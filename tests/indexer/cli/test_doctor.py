"""phrasecom doctor: red for what is set up and does not work, a note for what nothing needs yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from indexer.settings import load_settings
from tests.support.command_line import Run

GONE = "http://elastic:hush@127.0.0.1:9"


def findings(phrasecom: Run, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit status and findings by what they are about."""
    status, out, err = phrasecom("doctor", "--json", *arguments)
    assert err == "" and "hush" not in out
    report = json.loads(out)
    assert report["good"] == (status == 0)
    for finding in report["findings"]:
        assert set(finding) == {"what", "state", "detail", "fix", "good"}
        assert finding["good"] == (finding["state"] != "fail")
        assert bool(finding["fix"]) or finding["state"] != "fail", "what fails names its fix"
        assert not finding["fix"] or finding["state"] != "ok", "what is well needs none"
    return status, {finding["what"]: finding for finding in report["findings"]}


def failing(found: dict[str, dict[str, Any]]) -> list[str]:
    return [what for what, finding in found.items() if finding["state"] == "fail"]


def test_all_is_well_where_everything_runs(phrasecom: Run, index: str, valkey_url: str) -> None:
    status, found = findings(phrasecom, "--redis-url", valkey_url)
    assert status == 0
    assert list(found) == ["system", "settings", "write permission", "engine", "indexes", "redis"]
    assert {finding["state"] for finding in found.values()} == {"ok"}
    assert found["indexes"]["detail"].startswith("made-up (30 documents, ")


def test_redis_that_was_set_and_does_not_answer_fails(phrasecom: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    status, found = findings(phrasecom, "--redis-url", "redis://:hush@127.0.0.1:9/0")
    assert (status, failing(found)) == (1, ["redis"])
    assert found["redis"]["detail"] == "redis://:***@127.0.0.1:9/0 does not answer (Connection refused)"
    assert "phrasecom serve --inline" in found["redis"]["fix"]
    monkeypatch.setenv("PHRASECOM_REDIS_URL", "redis://127.0.0.1:9/0")
    assert failing(findings(phrasecom)[1]) == ["redis"]


def test_redis_that_nobody_set_is_a_note_that_says_what_needs_it(
    phrasecom: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = load_settings().model_copy()
    object.__setattr__(unset, "redis_url", SecretStr("redis://127.0.0.1:9/0"))  # a default where nobody listens
    assert "redis_url" not in unset.model_fields_set
    monkeypatch.setattr("indexer.settings.load_settings", lambda **given: unset)
    status, found = findings(phrasecom)
    assert (status, found["redis"]["state"]) == (0, "note")
    assert "phrasecom worker and phrasecom serve without --inline need it" in found["redis"]["detail"]


def test_a_server_that_does_not_answer_is_told_once(phrasecom: Run) -> None:
    status, found = findings(phrasecom, "--engine", GONE)
    assert (status, failing(found)) == (1, ["engine"])
    assert found["engine"]["detail"].count("Connection refused") == 1
    assert found["engine"]["fix"] == "start it, or give another --engine"
    assert found["indexes"]["state"] == "note"
    status, out, _ = phrasecom("doctor", "--engine", GONE)
    assert (status, out.count("FAIL"), "hush" in out) == (1, 1, False)


def test_a_server_that_answers_is_described(phrasecom: Run, elasticsearch_url: str) -> None:
    status, found = findings(phrasecom, "--engine", elasticsearch_url)
    assert (status, found["engine"]["state"]) == (0, "ok")
    assert found["engine"]["detail"].startswith("elasticsearch ")
    assert found["write permission"]["detail"] == "not needed: the engine is a server"


def test_the_settings_line_names_every_place_a_value_comes_from(
    phrasecom: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PHRASECOM_TEST_OTHER", "no setting")
    said = findings(phrasecom)[1]["settings"]["detail"]
    assert said == "valid, from PHRASECOM_ENGINE, PHRASECOM_INDEX_PROCESSES"
    monkeypatch.delenv("PHRASECOM_ENGINE")
    monkeypatch.delenv("PHRASECOM_INDEX_PROCESSES")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert findings(phrasecom)[1]["settings"]["detail"] == "valid, from the defaults"
    (tmp_path / "phrasecom.toml").write_text("cap = 3\n")
    said = findings(phrasecom, "--engine", str(tmp_path))[1]["settings"]["detail"]
    assert said == "valid, from --engine, phrasecom.toml"


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("PHRASECOM_K", "many", "it must be a whole number, at least 1, at most 500"),
        ("PHRASECOM_ENGIN", "x", "did you mean PHRASECOM_ENGINE?"),
        ("PHRASECOM_CONFIG", "gone.toml", "name an existing file or unset it"),
        ("PHRASECOM_REDIS_URL", "nonsense", "it must be text, like redis://127.0.0.1:6379/0"),
    ],
)
def test_a_bad_setting_is_red_and_the_rest_is_said_to_be_unknown(
    phrasecom: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str, fix: str
) -> None:
    monkeypatch.setenv(name, value)
    status, found = findings(phrasecom)
    assert (status, failing(found)) == (1, ["settings"])
    assert name in found["settings"]["detail"] and found["settings"]["fix"] == fix
    assert found["the rest"]["state"] == "note"
    assert f"FAIL settings: {found['settings']['detail']}; {fix}\n" in phrasecom("doctor")[1]


def test_a_folder_that_is_not_there_will_be_made_if_it_can_be(phrasecom: Run, tmp_path: Path) -> None:
    new = tmp_path / "new" / "engine"
    said = findings(phrasecom, "--engine", str(new))[1]["write permission"]
    assert (said["state"], said["detail"]) == ("ok", f"{new} will be made: {tmp_path} can be written")
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"
    tmp_path.joinpath("file").touch()
    said = findings(phrasecom, "--engine", "file/engine")[1]["write permission"]
    assert (said["state"], said["detail"]) == ("fail", f"cannot write in {tmp_path / 'file'}: Not a directory")
    new.mkdir(parents=True)
    said = findings(phrasecom, "--engine", str(new))[1]["write permission"]
    assert said["detail"] == f"{new} can be written"


def test_a_damaged_index_is_red_and_the_others_are_listed(phrasecom: Run, index: str, tmp_path: Path) -> None:
    assert phrasecom("index", "corpus.jsonl", "--index", "hurt")[0] == 0
    next((tmp_path / "engine" / "hurt").glob("*/info.json")).write_text("{")
    status, found = findings(phrasecom, "--engine", "engine")
    assert (status, failing(found)) == (1, ["index hurt"])
    assert found["index hurt"]["fix"] == "rebuild it with: phrasecom index PATH --index hurt --engine engine"
    assert found["indexes"]["detail"].startswith("made-up (")
