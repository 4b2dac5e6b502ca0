"""Where phrases occur in the original fields of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.engines.lazy_documents import find_first_spans
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_pair_starts_and_lengths, find_phrase
from indexer.text.tokenizer import Span, locate_tokens


class DocumentSpans:
    """Finds phrases in one document, whose text is tokenised once, however many phrases are looked for."""

    def __init__(self, document: AnalysedDocument, lemmatizer: Lemmatizer) -> None:
        """``lemmatizer`` is that of the document's index."""
        self.document = document
        self._lemmatizer = lemmatizer

    def find(self, phrase: str, max_count: int) -> Sequence[Span]:
        """Return the first occurrences of the phrase, about ``max_count`` of them."""
        document = self.document
        if PAIR_SEPARATOR in phrase:
            return self._locate_spans(find_pair_starts_and_lengths(phrase, document.tokens)[:max_count])
        known = find_first_spans(document.salient, phrase)
        if known:
            return known
        size = len(phrase.split())
        return self._locate_spans([(at, size) for at in find_phrase(phrase, document.tokens, max_count)])

    def lemmas_between(self, start: int, end: int) -> str:
        """Return the lemmas of the words between two offsets of the text."""
        first = bisect_left(self._words, start, lo=self.title_length, key=itemgetter(1))
        last = bisect_left(self._words, end, lo=first, key=itemgetter(1))
        return " ".join(self._lemmas[first:last])

    @cached_property
    def _lemmas(self) -> list[str]:
        return self.document.tokens.split()

    @cached_property
    def title_length(self) -> int:
        """Words of the title."""
        return sum(field == "title" for field, _, _ in self._words)

    @cached_property
    def _words(self) -> Sequence[Span]:
        return locate_tokens(self.document.document, self._lemmatizer)

    def _locate_spans(self, starts_and_lengths: Sequence[tuple[int, int]]) -> list[Span]:
        """Return the spans of occurrences given by their first token and their number of tokens."""
        words = self._words if starts_and_lengths else ()
        return [
            (words[i][0], words[i][1], words[i + size - 1][2])
            for i, size in starts_and_lengths
            if i + size <= len(words)
        ]
