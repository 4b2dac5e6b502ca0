"""The pages say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from indexer import errors
from indexer.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


def all_errors() -> list[type[errors.PhraseComError]]:
    found: list[type[errors.PhraseComError]] = [errors.PhraseComError]
    for kind in found:
        found += [sub for sub in kind.__subclasses__() if sub.__module__ == errors.__name__]
    return found


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_has_its_line_with_status_and_whether_to_try_again(kind: type[errors.PhraseComError]) -> None:
    again = "yes" if kind.retryable else "no"
    lines = (ROOT / "docs" / "errors.md").read_text().splitlines()
    assert any(line.startswith(f"| `{kind.code}` | {kind.status} | {again} | ") for line in lines)


def test_every_error_is_drawn_in_the_tree() -> None:
    drawn = str(errors.__doc__)
    for kind in all_errors():
        assert re.search(rf"\b{kind.__name__}\b", drawn)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "RELIABILITY.md",
        "docs/errors.md",
        "docs/running.md",
        "docs/backup.md",
        "docs/upgrade.md",
    ],
)
def test_commands_and_links_in_a_page_exist(page: str) -> None:
    path = ROOT / page
    text = path.read_text()
    for name in re.findall(r"\bphrasecom ([a-z]+)\b", "\n".join(code_in(text))):
        assert name in COMMANDS, f"{page} speaks of phrasecom {name}"
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z]+)\b", "\n".join(code_in(text))):
        assert name in targets, f"{page} speaks of make {name}"
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (path.parent / link).exists(), f"{page} links to {link}"


def code_in(text: str) -> list[str]:
    """Fenced blocks and spans of code."""
    return re.findall(r"```\w*\n(.*?)```", text, flags=re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
