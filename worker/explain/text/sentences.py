"""The sentences of a text, as ranges of its words and of its characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from indexer.text.tokenizer import SEPARATOR_MARKS, Mark

MAX_SENTENCES = 300
"""Sentences of a text that are looked at: the first ones."""
MIN_WORDS = 4
"""A sentence of fewer words is a heading, an item of a list or an exclamation: it is left out."""
MAX_WORDS = 60
"""A sentence of more words is a table, code or a list, and is cut into windows."""
WINDOW_WORDS = 40
"""Words of such a window; fewer if punctuation divides its second half."""
MAX_CHARACTERS = 1500
"""A longer sentence is data, such as base64: it is left out."""

_SENTENCE_MARK, _BOUNDARY_MARK = Mark.SENTENCE.value, Mark.BOUNDARY.value
_CANDIDATE = re.compile(r"[.!?…。！？\n\x0c\u2029]")
_PARAGRAPH = re.compile(r"\n\s*(?:\n|[-*•#>|:])|\x0c|\u2029")
"""A blank line, or a line that begins with the mark of an item or a heading."""
_OPENING = "([{（［\"'“‘«„「『"
_CLOSING = re.compile(r"[.!?…。！？)\]}）］\"'”’»」』]+")
_ABBREVIATIONS = frozenset("cf dr eq eqs fig figs mr mrs ms no nos pp prof sec st vol vs".split())
"""Words before a full stop that ends no sentence; so is a single letter."""


class Sentence(NamedTuple):
    """A sentence of a text."""

    first: int
    """Its first word."""
    last: int
    """The word after its last."""
    start: int
    """Its first character: of the first word, or of a bracket or quotation mark before it."""
    end: int
    """The character after its last: after the last word and the punctuation that belongs to it."""


def split_sentences(text: str, piece_ends: Sequence[int]) -> list[Sentence]:
    """Return the sentences of a text in order, at most ``MAX_SENTENCES``.

    A sentence ends at a full stop, question mark or exclamation mark, unless the next word begins in lower case ("e.g.
    this") or the last one is an abbreviation ("Fig. 2"); at a blank line; and before an item of a list. In a text
    without capital letters, the next word does not count.

    ``piece_ends``: where the separators and the words of the text end, in turn (``find_piece_ends``); of a long text,
    those of its beginning will do.
    """
    found: list[Sentence] = []
    for first, last in pairwise(_find_starts(text, piece_ends)):
        for window_first, window_last in _cut_windows(text, piece_ends, first, last):
            if window_last - window_first >= MIN_WORDS:
                start, end = _find_characters(text, piece_ends, window_first, window_last)
                if end - start <= MAX_CHARACTERS:
                    found.append(Sentence(window_first, window_last, start, end))
            if len(found) == MAX_SENTENCES:
                return found
    return found


def _find_starts(text: str, piece_ends: Sequence[int]) -> Iterator[int]:
    """Yield the first word of each sentence and, last, the number of all words.

    They are found when they are asked for: of a long text only the first ones are.
    """
    word_count = len(piece_ends) // 2
    if not word_count:
        return
    has_case = not text[: piece_ends[-1]].islower()
    started = 0
    yield started
    for candidate in _CANDIDATE.finditer(text, piece_ends[0], piece_ends[-2]):
        piece = bisect_right(piece_ends, candidate.start())
        if piece % 2 or piece // 2 == started:
            continue  # a dot in a word, or a second mark in the same separator
        end, next_start = piece_ends[piece - 1], piece_ends[piece]
        separator = text[end:next_start]
        if _PARAGRAPH.search(separator) or (
            SEPARATOR_MARKS[separator] & _SENTENCE_MARK
            and not (has_case and text[next_start].islower())
            and not _is_abbreviation(text[piece_ends[piece - 2] : end])
        ):
            started = piece // 2
            yield started
    yield word_count


def _is_abbreviation(word: str) -> bool:
    return word.casefold() in _ABBREVIATIONS or (len(word) == 1 and word.isascii() and word.isalpha())


def _cut_windows(text: str, piece_ends: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the first word and the word after the last of a sentence, or of the windows of one that is too long."""
    while last - first > MAX_WORDS:
        longest = first + WINDOW_WORDS
        ends = range(longest, first + WINDOW_WORDS // 2, -1)
        separators = ((end, text[piece_ends[2 * end - 1] : piece_ends[2 * end]]) for end in ends)
        end = next((end for end, separator in separators if SEPARATOR_MARKS[separator] & _BOUNDARY_MARK), longest)
        yield first, end
        first = end
    yield first, last


def _find_characters(text: str, piece_ends: Sequence[int], first: int, last: int) -> tuple[int, int]:
    """Return where a sentence starts and ends, with the brackets, quotation marks and full stop that belong to it."""
    start, end = piece_ends[2 * first], piece_ends[2 * last - 1]
    before = piece_ends[2 * first - 1] if first else 0
    gap = text[max(before, start - 5) : start]
    closing = _CLOSING.match(text[end : min(end + 5, piece_ends[2 * last])])
    return start - (len(gap) - len(gap.rstrip(_OPENING))), end + (len(closing[0]) if closing else 0)
