"""The command line in an empty folder, with an engine of its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.cli.main import run
from tests.support.command_line import CommandResult, RunCommand
from tests.support.corpora.small_corpus import generate_documents, write_jsonl


@pytest.fixture
def phrasecom(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[RunCommand]:
    """A function that runs a command line and returns its status, stdout and stderr."""
    handlers, level = list(logging.root.handlers), logging.root.level
    for name in [name for name in os.environ if name.startswith("PHRASECOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PHRASECOM_ENGINE", str(tmp_path / "engine"))
    monkeypatch.setenv("PHRASECOM_INDEX_PROCESSES", "1")
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: str) -> CommandResult:
        status = run(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    yield run_command
    logging.root.handlers[:], logging.root.level = handlers, level  # a service sets up logs of its own


@pytest.fixture
def index(phrasecom: RunCommand, tmp_path: Path) -> str:
    """The name of an index built from ``corpus.jsonl``."""
    write_jsonl(tmp_path / "corpus.jsonl", generate_documents(30))
    assert phrasecom("index", "corpus.jsonl", "--index", "made-up")[0] == 0
    return "made-up"
