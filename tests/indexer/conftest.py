"""The command line in an empty folder, with an engine of its own."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from indexer.cli.main import run
from tests.support.command_line import CommandResult, RunCommand
from tests.support.corpora.small_corpus import generate_documents, write_jsonl


@contextmanager
def _isolate_commands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let commands run in this folder, with no settings but an engine in it and one process; restore the logging."""
    handlers, level = list(logging.root.handlers), logging.root.level
    for name in [name for name in os.environ if name.startswith("PHRASECOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PHRASECOM_ENGINE", str(folder / "engine"))
    monkeypatch.setenv("PHRASECOM_INDEX_PROCESSES", "1")
    monkeypatch.chdir(folder)
    yield
    logging.root.handlers[:], logging.root.level = handlers, level  # a service sets up logs of its own


@pytest.fixture
def phrasecom(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[RunCommand]:
    """A function that runs a command line and returns its status, stdout and stderr."""

    def run_command(*arguments: str) -> CommandResult:
        status = run(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    with _isolate_commands(tmp_path, monkeypatch):
        yield run_command


@pytest.fixture(scope="session")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``corpus.jsonl`` and an engine that holds it as index ``made-up``; copy it to use it."""
    folder = tmp_path_factory.mktemp("indexed")
    write_jsonl(folder / "corpus.jsonl", generate_documents(30))
    with pytest.MonkeyPatch.context() as monkeypatch, _isolate_commands(folder, monkeypatch):
        assert run(["index", "corpus.jsonl", "--index", "made-up"]) == 0
    return folder


@pytest.fixture
def index(indexed_folder: Path, phrasecom: RunCommand, tmp_path: Path) -> str:
    """The name of an index built from ``corpus.jsonl``."""
    shutil.copytree(indexed_folder, tmp_path, dirs_exist_ok=True)
    return "made-up"
