"""The pages agree with the code: errors, commands, targets of make, links."""

from __future__ import annotations

import re

import pytest

from indexer import errors
from indexer.cli.main import COMMANDS
from tests.support.paths import ROOT


def list_errors() -> list[type[errors.PhraseComError]]:
    kinds: list[type[errors.PhraseComError]] = [errors.PhraseComError]
    for kind in kinds:
        kinds += [sub for sub in kind.__subclasses__() if sub.__module__ == errors.__name__]
    return kinds


@pytest.mark.parametrize("kind", list_errors(), ids=lambda kind: kind.__name__)
def test_every_error_has_its_line_with_status_and_whether_to_try_again(kind: type[errors.PhraseComError]) -> None:
    again = "yes" if kind.retryable else "no"
    lines = (ROOT / "docs" / "errors.md").read_text().splitlines()
    assert any(line.startswith(f"| `{kind.code}` | {kind.status} | {again} | ") for line in lines)


def test_every_error_is_drawn_in_the_tree() -> None:
    drawn = str(errors.__doc__)
    for kind in list_errors():
        assert re.search(rf"\b{kind.__name__}\b", drawn)


def list_pages() -> list[str]:
    paths = [path for folder in (".", "docs", "docs/results", "deploy") for path in (ROOT / folder).glob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in paths)


@pytest.mark.parametrize("page", list_pages())
def test_commands_and_links_in_a_page_exist(page: str) -> None:
    path = ROOT / page
    text = path.read_text()
    for name in re.findall(r"\bphrasecom ([a-z]+)\b", "\n".join(find_code(text))):
        assert name in COMMANDS, f"{page} mentions phrasecom {name}"
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z]+)\b", "\n".join(find_code(text))):
        assert name in targets, f"{page} mentions make {name}"
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (path.parent / link).exists(), f"{page} links to {link}"


@pytest.mark.parametrize("page", list_pages())
def test_no_emphasis_became_a_list(page: str) -> None:
    """Lists have dashes: a star at the start of a line is emphasis that lost its second star, or its word."""
    prose = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    assert not re.findall(r"^\s*\* .*$", prose, flags=re.MULTILINE)


def find_code(text: str) -> list[str]:
    """Return fenced blocks and spans of code."""
    return re.findall(r"```\w*\n(.*?)```", text, flags=re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
