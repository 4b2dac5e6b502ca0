"""Where a phrase stands on a side: offsets into the original text and the words around it."""

from __future__ import annotations

from typing import Literal

from indexer.documents import PAIR
from worker.answer.comparison import Place
from worker.explain.resolver import Resolved

_MOST = 3
"""Places named per phrase and side."""
_AROUND = 60
"""Characters of a snippet on either side of the phrase."""


class Finder:
    """Finds phrases in the documents of one side."""

    def __init__(self, side: Resolved, letter: Literal["a", "b"]) -> None:
        self._side, self._letter = side, letter

    def places(self, phrase: str) -> list[Place]:
        """The first places of the phrase on the side; none where it does not occur."""
        found: list[Place] = []
        first = phrase.partition(PAIR)[0]
        for spans in self._side.spans:
            if first not in spans.document.tokens:
                continue
            document = spans.document.document
            for field, start, end in spans.of(phrase, _MOST)[: _MOST - len(found)]:
                text = getattr(document, field)
                found.append(Place(self._letter, document.id, field, start, end, snippet(text, start, end)))
            if len(found) == _MOST:
                break
        return found


def snippet(text: str, start: int, end: int) -> str:
    """The phrase with some words around it, cut at white space, dots where something was cut."""
    left = max(0, start - _AROUND)
    right = min(len(text), end + _AROUND)
    if left:
        space = text.find(" ", left, start)
        left = space + 1 if space >= 0 else start
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = space if space >= 0 else end
    middle = " ".join(text[left:right].split())
    return ("…" if left else "") + middle + ("…" if right < len(text) else "")
