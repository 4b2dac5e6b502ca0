"""Where phrases stand in the original fields of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter

from indexer.documents import PAIR, AnalysedDocument
from indexer.engines.lazy_documents import first_places
from indexer.text.tokenizer import places
from worker.explain.text.partial_match import pair_positions, positions

Span = tuple[str, int, int]
"""Field, start, end."""


class Spans:
    """Of one document; its text is gone through once, however many phrases are asked for."""

    def __init__(self, document: AnalysedDocument) -> None:
        self.document = document

    def of(self, phrase: str, most: int) -> Sequence[Span]:
        """The first places of the phrase, about ``most`` of them; none where it does not occur."""
        document = self.document
        if PAIR in phrase:
            return self._located(pair_positions(phrase, document.tokens)[:most])
        known = first_places(document.salient, phrase)
        if known:
            return known
        size = len(phrase.split())
        return self._located([(at, size) for at in positions(phrase, document.tokens, most)])

    def lemmas(self, start: int, end: int) -> str:
        """Of the words between two places of the text."""
        first = bisect_left(self._words, start, lo=self._titled, key=itemgetter(1))
        last = bisect_left(self._words, end, lo=first, key=itemgetter(1))
        return " ".join(self._lemmas[first:last])

    @cached_property
    def _lemmas(self) -> list[str]:
        return self.document.tokens.split()

    @cached_property
    def _titled(self) -> int:
        """How many of the words are the title's."""
        return sum(field == "title" for field, _, _ in self._words)

    @cached_property
    def _words(self) -> Sequence[Span]:
        return places(self.document.document)

    def _located(self, found: Sequence[tuple[int, int]]) -> list[Span]:
        """Token positions and sizes as places in the original fields."""
        words = self._words if found else ()
        return [(words[at][0], words[at][1], words[at + size - 1][2]) for at, size in found if at + size <= len(words)]
