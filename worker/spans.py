"""Where phrases stand in the original fields of documents."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.documents import PAIR, AnalysedDocument
from indexer.engines.salients import first_places
from indexer.text import places
from worker.matching import pair_positions, positions

Span = tuple[str, int, int]
"""Field, start, end."""


class Spans:
    """Of some documents, named by their numbers; a text is gone through once, however many phrases are asked for."""

    def __init__(self, documents: Sequence[AnalysedDocument]) -> None:
        self._documents = documents
        self._words: dict[int, Sequence[Span]] = {}

    def of(self, number: int, phrase: str, most: int) -> Sequence[Span]:
        """The first places of the phrase in a document, about ``most`` of them; none where it does not occur."""
        document = self._documents[number]
        if PAIR in phrase:
            return self._located(number, pair_positions(phrase, document.tokens)[:most])
        known = first_places(document.salient, phrase)
        if known:
            return known
        size = len(phrase.split())
        return self._located(number, [(at, size) for at in positions(phrase, document.tokens, most)])

    def _located(self, number: int, found: Sequence[tuple[int, int]]) -> list[Span]:
        """Token positions and sizes as places in the original fields."""
        if not found:
            return []
        if number not in self._words:
            self._words[number] = places(self._documents[number].document)
        words = self._words[number]
        return [(words[at][0], words[at][1], words[at + size - 1][2]) for at, size in found if at + size <= len(words)]
