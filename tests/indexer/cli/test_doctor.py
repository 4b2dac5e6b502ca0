"""phrasecom doctor: it fails for what is set up and does not work, and notes what nothing needs yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from indexer.settings import load_settings
from tests.support.command_line import RunCommand
from tests.support.damaged_files import flipped_bit, get_epoch_folder, remove_checksums

CLOSED_PORT = "http://elastic:hush@127.0.0.1:9"


def run_doctor(phrasecom: RunCommand, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit status and the findings by subject, after checking the form of each."""
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


def list_failures(findings: dict[str, dict[str, Any]]) -> list[str]:
    return [what for what, finding in findings.items() if finding["state"] == "fail"]


def test_every_finding_is_ok_when_everything_runs(phrasecom: RunCommand, index: str, valkey_url: str) -> None:
    status, findings = run_doctor(phrasecom, "--redis-url", valkey_url)
    assert status == 0
    assert list(findings) == ["system", "settings", "write permission", "engine", "indexes", "redis"]
    assert {finding["state"] for finding in findings.values()} == {"ok"}
    assert findings["indexes"]["detail"].startswith("made-up (30 documents, ")


def test_a_configured_redis_that_does_not_answer_fails(phrasecom: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    status, findings = run_doctor(phrasecom, "--redis-url", "redis://:hush@127.0.0.1:9/0")
    assert (status, list_failures(findings)) == (1, ["redis"])
    assert findings["redis"]["detail"] == "redis://:***@127.0.0.1:9/0 does not answer (Connection refused)"
    assert "phrasecom serve --inline" in findings["redis"]["fix"]
    monkeypatch.setenv("PHRASECOM_REDIS_URL", "redis://127.0.0.1:9/0")
    assert list_failures(run_doctor(phrasecom)[1]) == ["redis"]


def test_an_unconfigured_redis_is_a_note_that_says_what_needs_it(
    phrasecom: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = load_settings().model_copy()
    object.__setattr__(unset, "redis_url", SecretStr("redis://127.0.0.1:9/0"))  # a default with a closed port
    assert "redis_url" not in unset.model_fields_set
    monkeypatch.setattr("indexer.settings.load_settings", lambda **given: unset)
    status, findings = run_doctor(phrasecom)
    assert (status, findings["redis"]["state"]) == (0, "note")
    assert "phrasecom worker and phrasecom serve without --inline need it" in findings["redis"]["detail"]


def test_a_server_that_does_not_answer_is_reported_once(phrasecom: RunCommand) -> None:
    status, findings = run_doctor(phrasecom, "--engine", CLOSED_PORT)
    assert (status, list_failures(findings)) == (1, ["engine"])
    assert findings["engine"]["detail"].count("Connection refused") == 1
    assert findings["engine"]["fix"] == "start it, or give another --engine"
    assert findings["indexes"]["state"] == "note"
    status, out, _ = phrasecom("doctor", "--engine", CLOSED_PORT)
    assert (status, out.count("FAIL"), "hush" in out) == (1, 1, False)


def test_a_server_that_answers_is_described(phrasecom: RunCommand, elasticsearch_url: str) -> None:
    status, findings = run_doctor(phrasecom, "--engine", elasticsearch_url)
    assert (status, findings["engine"]["state"]) == (0, "ok")
    assert findings["engine"]["detail"].startswith("elasticsearch ")
    assert findings["write permission"]["detail"] == "not needed: the engine is a server"


def test_the_settings_line_names_every_source_of_a_value(
    phrasecom: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PHRASECOM_TEST_OTHER", "no setting")
    finding = run_doctor(phrasecom)[1]["settings"]["detail"]
    assert finding == "valid, from PHRASECOM_ENGINE, PHRASECOM_INDEX_PROCESSES"
    monkeypatch.delenv("PHRASECOM_ENGINE")
    monkeypatch.delenv("PHRASECOM_INDEX_PROCESSES")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert run_doctor(phrasecom)[1]["settings"]["detail"] == "valid, from the defaults"
    (tmp_path / "phrasecom.toml").write_text("cap = 3\n")
    finding = run_doctor(phrasecom, "--engine", str(tmp_path))[1]["settings"]["detail"]
    assert finding == "valid, from --engine, phrasecom.toml"


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("PHRASECOM_K", "many", "it must be a whole number, at least 1, at most 500"),
        ("PHRASECOM_ENGIN", "x", "did you mean PHRASECOM_ENGINE?"),
        ("PHRASECOM_CONFIG", "gone.toml", "name an existing file or unset it"),
        ("PHRASECOM_REDIS_URL", "nonsense", "it must be a URL, like redis://127.0.0.1:6379/0"),
    ],
)
def test_a_bad_setting_fails_and_the_rest_is_unknown(
    phrasecom: RunCommand, monkeypatch: pytest.MonkeyPatch, name: str, value: str, fix: str
) -> None:
    monkeypatch.setenv(name, value)
    status, findings = run_doctor(phrasecom)
    assert (status, list_failures(findings)) == (1, ["settings"])
    assert name in findings["settings"]["detail"] and findings["settings"]["fix"] == fix
    assert findings["the rest"]["state"] == "note"
    assert f"FAIL settings: {findings['settings']['detail']}; {fix}\n" in phrasecom("doctor")[1]


def test_a_missing_folder_is_reported_as_creatable_or_not(phrasecom: RunCommand, tmp_path: Path) -> None:
    new_folder = tmp_path / "new" / "engine"
    finding = run_doctor(phrasecom, "--engine", str(new_folder))[1]["write permission"]
    assert (finding["state"], finding["detail"]) == ("ok", f"{new_folder} will be created: {tmp_path} is writable")
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"
    tmp_path.joinpath("file").touch()
    finding = run_doctor(phrasecom, "--engine", "file/engine")[1]["write permission"]
    assert (finding["state"], finding["detail"]) == ("fail", f"cannot write in {tmp_path / 'file'}: Not a directory")
    new_folder.mkdir(parents=True)
    finding = run_doctor(phrasecom, "--engine", str(new_folder))[1]["write permission"]
    assert finding["detail"] == f"{new_folder} is writable"


def test_a_single_damaged_bit_fails(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    epoch = get_epoch_folder(tmp_path / "engine", index)
    for name in ("model.npz", "graph/degrees.npy", "delta", "index/meta.json", "info.json", "checksums"):
        with flipped_bit(epoch / name, 1203, keeps_time=True):
            status, findings = run_doctor(phrasecom)
        assert (status, list_failures(findings)) == (1, [f"index {index}"]), name
        assert findings[f"index {index}"]["fix"] == f"rebuild it with: phrasecom index PATH --index {index}"
    assert list_failures(run_doctor(phrasecom)[1]) in ([], ["redis"])


def test_an_index_without_checksums_is_a_note(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    remove_checksums(get_epoch_folder(tmp_path / "engine", index))
    findings = run_doctor(phrasecom, "--engine", "engine")[1]
    note = findings[f"checksums of {index}"]
    assert (note["state"], note["detail"]) == ("note", "no checksums: damaged files may go unnoticed")
    assert note["fix"] == f"make them with: phrasecom refresh --index {index} --engine engine"
    assert findings["indexes"]["state"] == "ok"
    assert phrasecom("refresh", "--index", index)[0] == 0
    assert f"checksums of {index}" not in run_doctor(phrasecom)[1]


def test_a_damaged_index_fails_and_the_others_are_listed(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    assert phrasecom("index", "corpus.jsonl", "--index", "hurt")[0] == 0
    next((tmp_path / "engine" / "hurt").glob("*/info.json")).write_text("{")
    status, findings = run_doctor(phrasecom, "--engine", "engine")
    assert (status, list_failures(findings)) == (1, ["index hurt"])
    assert findings["index hurt"]["fix"] == "rebuild it with: phrasecom index PATH --index hurt --engine engine"
    assert findings["indexes"]["detail"].startswith("made-up (")


def test_a_keys_file_is_checked_once_there_is_one(phrasecom: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "phrasecom.toml").write_text('keys_file = "keys.toml"')
    status, findings = run_doctor(phrasecom)
    assert (status, findings["keys"]["state"]) == (0, "note") and "phrasecom keys add" in findings["keys"]["fix"]
    assert phrasecom("keys", "add", "me")[0] == 0
    assert run_doctor(phrasecom)[1]["keys"]["state"] == "ok"
    (tmp_path / "keys.toml").write_text("[me")
    status, findings = run_doctor(phrasecom)
    assert (status, list_failures(findings)) == (1, ["keys"])
