"""Snippets: where a phrase occurs on a side, as offsets into the original text, and the words around it."""

from __future__ import annotations

from typing import Literal

from indexer.documents import PAIR_SEPARATOR
from worker.answer.comparison import Snippet
from worker.explain.resolved_side import ResolvedSide

_MAX_SNIPPETS = 3
"""Snippets of a phrase on one side."""
_CONTEXT_CHARACTERS = 60
"""Characters of a snippet on either side of the phrase."""


class SnippetFinder:
    """Finds the snippets of phrases in the documents of one side."""

    def __init__(self, side: ResolvedSide, letter: Literal["a", "b"]) -> None:
        self._side, self._letter = side, letter

    def find(self, phrase: str) -> list[Snippet]:
        """Return the snippets of the first occurrences of the phrase."""
        snippets: list[Snippet] = []
        first_member = phrase.partition(PAIR_SEPARATOR)[0]
        for spans in self._side.spans:
            if first_member not in spans.document.tokens:
                continue
            document = spans.document.document
            for field, start, end in spans.find(phrase, _MAX_SNIPPETS)[: _MAX_SNIPPETS - len(snippets)]:
                text = cut_snippet(getattr(document, field), start, end)
                snippets.append(Snippet(self._letter, document.id, field, start, end, text))
            if len(snippets) == _MAX_SNIPPETS:
                break
        return snippets


def cut_snippet(text: str, start: int, end: int) -> str:
    """Return the words around an occurrence on one line, with dots where something was cut off."""
    left, right = find_snippet_bounds(text, start, end)
    words = " ".join(text[left:right].split())
    return ("…" if left else "") + words + ("…" if right < len(text) else "")


def find_snippet_bounds(text: str, start: int, end: int, min_start: int = 0) -> tuple[int, int]:
    """Return start and end of the snippet around an occurrence: at spaces, and not before ``min_start``."""
    left, right = max(min_start, start - _CONTEXT_CHARACTERS), min(len(text), end + _CONTEXT_CHARACTERS)
    if left > min_start:
        space = text.find(" ", left, start)
        left = space + 1 if space >= 0 else start
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = space if space >= 0 else end
    return left, right
