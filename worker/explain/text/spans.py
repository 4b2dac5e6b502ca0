"""Where phrases occur in the original fields of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.engines.lazy_documents import find_first_spans
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_pair_starts_and_lengths, find_phrase
from indexer.text.tokenizer import Span, find_piece_ends


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
            found = find_pair_starts_and_lengths(phrase, document.tokens)[:max_count]
        else:
            known = find_first_spans(document.salient, phrase)
            if known:
                return known
            size = len(phrase.split())
            found = [(first, size) for first in find_phrase(phrase, document.tokens, max_count)]
        return [span for first, size in found if (span := self.locate(first, size))]

    def locate(self, first: int, count: int) -> Span | None:
        """Return the span of ``count`` tokens from the ``first`` on; None if the document has not as many."""
        try:
            (field, start, end) = self._locate_token(first)
            if count > 1:
                _, _, end = self._locate_token(first + count - 1)
        except IndexError:
            return None
        return field, start, end

    def lemmas_between(self, start: int, end: int) -> str:
        """Return the lemmas of the words between two offsets of the text."""
        starts = self._text_ends[0:-1:2]
        first, last = (self.title_length + bisect_left(starts, offset) for offset in (start, end))
        return " ".join(self.lemmas[first:last])

    @cached_property
    def lemmas(self) -> list[str]:
        """The lemma of each token."""
        return self.document.tokens.split()

    @cached_property
    def title_length(self) -> int:
        """Words of the title."""
        return len(self._title_ends) // 2

    @cached_property
    def _title_ends(self) -> list[int]:
        return find_piece_ends(self.document.document.title, self._lemmatizer)

    @cached_property
    def _text_ends(self) -> list[int]:
        return find_piece_ends(self.document.document.text, self._lemmatizer)

    def find_text_ends(self, max_characters: int) -> list[int]:
        """Return where the separators and words of the text end, in turn (``find_piece_ends``).

        Of a longer text only its first ``max_characters`` are split, unless it has been split already.
        """
        text = self.document.document.text
        if len(text) <= max_characters or "_text_ends" in self.__dict__:
            return self._text_ends
        ends = find_piece_ends(text[:max_characters], self._lemmatizer)
        return ends[:-2]  # the last word may be cut off

    def _locate_token(self, number: int) -> Span:
        """Return the span of a token; the text is split only for a token that is not in the title."""
        in_text = number - self.title_length
        if in_text < 0:
            return "title", self._title_ends[2 * number], self._title_ends[2 * number + 1]
        return "text", self._text_ends[2 * in_text], self._text_ends[2 * in_text + 1]
