"""Where a phrase stands on a side: offsets into the original text and the words around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from indexer.documents import PAIR, AnalysedDocument
from indexer.text import places as token_places
from worker.answer import Place
from worker.matching import pair_positions, positions
from worker.resolve import Resolved

_MOST = 3
"""Places named per phrase and side."""
_AROUND = 60
"""Characters of a snippet on either side of the phrase."""

Span = tuple[str, int, int]
"""Field, start, end."""


class Finder:
    """Finds phrases in the documents of one side; a text is gone through once, however many are asked for."""

    def __init__(self, side: Resolved, letter: Literal["a", "b"]) -> None:
        self._side, self._letter = side, letter
        self._spans: dict[int, Sequence[Span]] = {}

    def places(self, phrase: str) -> list[Place]:
        """The first places of the phrase on the side; none where it does not occur."""
        found: list[Place] = []
        first = phrase.partition(PAIR)[0]
        for number, document in enumerate(self._side.documents):
            if first not in document.tokens:
                continue
            for field, start, end in self._places(number, document, phrase)[: _MOST - len(found)]:
                text = getattr(document.document, field)
                place = Place(self._letter, document.document.id, field, start, end, snippet(text, start, end))
                found.append(place)
            if len(found) == _MOST:
                break
        return found

    def _places(self, number: int, document: AnalysedDocument, phrase: str) -> Sequence[Span]:
        if PAIR in phrase:
            return self._located(number, document, pair_positions(phrase, document.tokens)[:_MOST])
        for salient in document.salient:
            if salient.phrase == phrase and salient.at:
                return salient.at
        size = len(phrase.split())
        return self._located(number, document, [(at, size) for at in positions(phrase, document.tokens, _MOST)])

    def _located(self, number: int, document: AnalysedDocument, spots: Sequence[tuple[int, int]]) -> list[Span]:
        """Token positions and sizes as places in the original fields."""
        if not spots:
            return []
        if number not in self._spans:
            self._spans[number] = token_places(document.document)
        spans = self._spans[number]
        return [(spans[at][0], spans[at][1], spans[at + size - 1][2]) for at, size in spots if at + size <= len(spans)]


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
