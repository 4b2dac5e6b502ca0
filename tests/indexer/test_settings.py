"""Settings: one table, four ways to set a value, and one line when it is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from indexer.errors import BadSetting
from indexer.settings import (
    ENVIRONMENT_PREFIX,
    Settings,
    describe_allowed_values,
    describe_setting_default,
    load_settings,
)


@pytest.fixture(autouse=True)
def _clear_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_an_option_beats_the_environment_beats_the_file_beats_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert load_settings().cap == 8
    (tmp_path / "phrasecom.toml").write_text("cap = 1\nk = 11\nmu = 1.5\n")
    assert load_settings().cap == 1
    monkeypatch.setenv("PHRASECOM_CAP", "2")
    monkeypatch.setenv("PHRASECOM_K", "12")
    settings = load_settings(cap="3")
    assert (settings.cap, settings.k, settings.mu) == (3, 12, 1.5)


def test_the_settings_file_may_be_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("port = 99\n")
    monkeypatch.setenv("PHRASECOM_CONFIG", str(tmp_path / "other.toml"))
    assert load_settings().port == 99
    monkeypatch.setenv("PHRASECOM_CONFIG", "gone.toml")
    with pytest.raises(BadSetting, match=r"'gone\.toml': no such file; name an existing file"):
        load_settings()


def test_by_default_indexes_live_in_the_users_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert load_settings().engine == "/data/phrasecom"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("PHRASECOM_K", "ten", "PHRASECOM_K is 'ten'; it must be a whole number, at least 1, at most 500"),
        ("PHRASECOM_MU", "nan", "PHRASECOM_MU is 'nan'; it must be a number, at least 0, at most 100"),
        ("PHRASECOM_PORT", "70000", "PHRASECOM_PORT is '70000'; it must be a whole number, at least 0, at most 65 535"),
        ("PHRASECOM_PRESET", "best", "PHRASECOM_PRESET is 'best'; it must be one of default, paper"),
        ("PHRASECOM_PROT", "1", "PHRASECOM_PROT is not a setting; did you mean PHRASECOM_PORT?"),
    ],
)
def test_a_bad_variable_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, line: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSetting) as caught:
        load_settings()
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"cap = -1", "cap in phrasecom.toml is -1; it must be a whole number, at least 0, at most 1 000"),
        (b"caps = 1", "caps in phrasecom.toml is not a setting; did you mean cap?"),
        (b"cap", "cannot read phrasecom.toml"),
        (b"\xff", "cannot read phrasecom.toml"),
    ],
)
def test_a_bad_file_is_reported_in_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    (tmp_path / "phrasecom.toml").write_bytes(content)
    with pytest.raises(BadSetting) as caught:
        load_settings()
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_a_bad_option_is_named_as_it_is_written() -> None:
    with pytest.raises(BadSetting, match="--max-body-bytes is 'x'"):
        load_settings(max_body_bytes="x")


def test_secrets_are_not_shown() -> None:
    settings = load_settings(engine_api_key="hush", redis_url="redis://:hush@localhost/0")
    assert "hush" not in repr(settings)
    assert settings.engine_api_key.get_secret_value() == "hush"


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_says_what_it_is_and_what_is_allowed(name: str) -> None:
    assert Settings.model_fields[name].description
    assert describe_allowed_values(name)
    assert describe_setting_default(name)
