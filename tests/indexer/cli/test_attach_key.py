"""The API key for the source of ``phrasecom attach``: from a file, the environment, the settings or an argument."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.command_line import RunCommand
from tests.support.http_server import OldElasticsearch, serve_in_thread
from tests.support.paths import ROOT

KEY = "c291cmNlLWtleTpzZWNyZXQ="


class Source(OldElasticsearch):
    """Elasticsearch of a version that is refused, after it has seen the key and the process list."""

    keys: list[str]
    shown: list[str]

    def do_GET(self) -> None:
        self.keys.append(self.headers.get("Authorization", ""))
        lines = (" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))
        self.shown.extend(line for line in lines if "--source-api-key" in line)
        super().do_GET()


@pytest.fixture
def source() -> Iterator[str]:
    Source.keys, Source.shown = [], []
    with serve_in_thread(Source) as url:
        yield f"{url}/news"


def test_the_key_comes_from_a_file_the_environment_or_the_settings(
    phrasecom: RunCommand, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach = ("attach", source, "--index", "news")
    (tmp_path / "key.txt").write_text(f"{KEY}\n")
    errors = [phrasecom(*attach, "--source-api-key-file", "key.txt")[2]]
    monkeypatch.setenv("PHRASECOM_SOURCE_API_KEY", KEY)
    errors.append(phrasecom(*attach)[2])
    monkeypatch.delenv("PHRASECOM_SOURCE_API_KEY")
    (tmp_path / "phrasecom.toml").write_text(f'source_api_key = "{KEY}"')
    errors.append(phrasecom(*attach)[2])
    assert Source.keys == [f"ApiKey {KEY}"] * 3
    assert all("7.17.0" in error and "visible" not in error and KEY not in error for error in errors)
    status, _, error = phrasecom(*attach, "--source-api-key-file", "key.txt", "--source-api-key", KEY)
    assert status == 2 and "not both" in error


def test_a_key_given_as_an_argument_is_removed_from_the_process_list(source: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "indexer", "attach", source, "--index", "news", "--source-api-key", KEY]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PHRASECOM_ENGINE": str(tmp_path / "engine")}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert Source.keys == [f"ApiKey {KEY}"], done.stderr
    warning, _ = done.stderr.splitlines()
    assert "--source-api-key is visible in the process list; use --source-api-key-file" in warning
    ours = [line for line in Source.shown if source in line]
    assert ours and all(KEY not in line and "*" * len(KEY) in line for line in ours)
