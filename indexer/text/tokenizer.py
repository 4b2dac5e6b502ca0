"""Split text into tokens: words, marks of the characters between them, and character offsets.

A document is split into the tokens of its title and then those of its text, with a boundary between them. A word
keeps inner apostrophes and dots (``3.5``, ``os.path.join``), ``C++`` and ``C#`` are words, and every Han or Kana
character is a word of its own. A hyphen separates words without being a boundary ("multi-task learning" is "multi
task learning"). Any other punctuation, and a blank line, is a boundary that no phrase crosses.

A word that the corpus writes both with a hyphen and without is tokenized alike in both spellings, as the lemmatizer's
table says: "e-mail" is one token like "email", or "multitask" is two like "multi-task".

One regular expression splits a field into words and the separators around them; the rest is dictionary
look-ups per distinct word and per distinct separator.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from itertools import accumulate, repeat
from math import ceil

from indexer.documents import Document
from indexer.text.lemmatizer import Lemmatizer

Span = tuple[str, int, int]
"""Field (``title`` or ``text``), start and end: character offsets into the original field."""


class Mark(IntFlag):
    """Flags of the characters before a token; a set of them fits one byte."""

    BOUNDARY = 1
    """Punctuation, a blank line or the start of a field: no phrase crosses it."""
    HYPHEN = 2
    OPEN = 4
    """An opening bracket right before the token."""
    CLOSE = 8
    """A closing bracket right after the previous token."""
    QUOTE_OPEN = 16
    QUOTE_CLOSE = 32
    SENTENCE = 64
    """The token begins a sentence."""
    TITLE = 128
    """The token is part of the title."""


def _list_combining_marks(start: int, stop: int) -> str:
    """Return the combining marks of a range of code points: parts of words that ``\\w`` leaves out."""
    return "".join(chr(c) for c in range(start, stop) if unicodedata.category(chr(c)) in ("Mn", "Mc"))


_IDEOGRAPHS = "々\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_JOINERS = "\u00ad\u200c\u200d" + _list_combining_marks(0x300, 0x1000)
_TAIL = r"(?:\.(?<=\.[A-Za-z]\.)(?!\w)|\+\+|#(?!\w))?"
"""Endings that belong to the word: the last dot of U.S., C++, C#."""
_MAX_PART_LETTERS, _MAX_PARTS = 255, 16
"""A longer word is split: it is data (base64), and comparing two spellings takes time by the square of their length."""


def _compile_word_pattern(letter: str, apostrophes: str, alone: str = "") -> re.Pattern[str]:
    part = f"{letter}{{1,{_MAX_PART_LETTERS}}}"
    return re.compile(rf"({part}(?:[{apostrophes}.]{part}){{0,{_MAX_PARTS - 1}}}{_TAIL}{alone})")


# Equivalent on the texts they are used for; most fields need only the first, which is the fastest.
_ASCII_WORD = _compile_word_pattern("[A-Za-z0-9_]", "'")
_UNICODE_WORD = _compile_word_pattern(f"[^\\W{_IDEOGRAPHS}]", "'’", f"|[{_IDEOGRAPHS}]")
_JOINED_WORD = _compile_word_pattern(f"(?:[^\\W{_IDEOGRAPHS}]|[{_JOINERS}])", "'’", f"|[{_IDEOGRAPHS}]")
_HAS_JOINERS = re.compile(f"[{_JOINERS}]")

_HYPHEN = re.compile(r"[-\u2010\u2011\u2013]\n?")
_BLANK_LINE = re.compile(r"\n\s*\n|\x0c|\u2029|(?<!\n)\t")
"""A blank line, a new page or paragraph, or a tab within a line: between the cells of a table."""
_SENTENCE_END = re.compile(r"[.!?…。！？]|\n\s*\n")
_OPENING, _CLOSING = "([{（［", ")]}）］"
_QUOTES = "\"'“”‘’«»`„「」『』"
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")


def is_ideograph(word: str) -> bool:
    """Return whether a word is one Han or Kana character, which is written without spaces around it."""
    return _IDEOGRAPH.fullmatch(word) is not None


def split_words_and_separators(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a field and the separators around them, which are one more."""
    pieces = _split_pieces(text)
    return pieces[1::2], pieces[0::2]


def _split_pieces(text: str) -> list[str]:
    """Return separators and words in turn, beginning and ending with a separator."""
    if text.isascii():
        return _ASCII_WORD.split(text)
    return (_JOINED_WORD if _HAS_JOINERS.search(text) else _UNICODE_WORD).split(text)


_MAX_CACHED_SEPARATORS = 100_000


class SeparatorMarks(dict[str, int]):
    """Cache of separator -> marks of the token that follows it."""

    def __missing__(self, separator: str) -> int:
        marks = _marks_of_separator(separator)
        if len(self) < _MAX_CACHED_SEPARATORS:
            self[separator] = marks
        return marks


def _marks_of_separator(separator: str) -> int:
    if _HYPHEN.fullmatch(separator):
        return Mark.HYPHEN.value
    if not separator or separator.isspace():
        return (Mark.BOUNDARY | Mark.SENTENCE).value if _BLANK_LINE.search(separator) else 0
    marks = Mark.BOUNDARY
    if _SENTENCE_END.search(separator):
        marks |= Mark.SENTENCE
    first, last = separator[0], separator[-1]
    marks |= Mark.OPEN if last in _OPENING else Mark(0)
    marks |= Mark.CLOSE if first in _CLOSING else Mark(0)
    marks |= Mark.QUOTE_OPEN if last in _QUOTES else Mark(0)
    marks |= Mark.QUOTE_CLOSE if first in _QUOTES else Mark(0)
    return marks.value


SEPARATOR_MARKS = SeparatorMarks()
FIELD_START_MARKS = (Mark.BOUNDARY | Mark.SENTENCE).value
_TITLE_MARK = Mark.TITLE.value
_HYPHEN_MARK = Mark.HYPHEN.value
_OPENING_MARKS = (Mark.OPEN | Mark.QUOTE_OPEN).value
_CLOSING_MARKS = (Mark.CLOSE | Mark.QUOTE_CLOSE).value


_MIN_WRAPPED_WIDTH = 60
"""Width from which on lines may have been broken to fit; in narrower text every break is deliberate."""
_WRAPPED_SHARE = 0.9
"""Share of the lines that are no longer than the width: an address or a table may be wider."""


@dataclass(frozen=True, slots=True)
class TokenizedDocument:
    """A document split into words."""

    words: list[str]
    """As written, but lower-cased in a field all in capitals (old newswire), where case carries no meaning."""
    marks: list[int]
    """``Mark`` flags before each word and, last, after all; one more than words."""
    pieces: tuple[list[str], list[str]]
    """Separators and words in turn, of the title and of the text."""
    capital_ranges: list[tuple[int, int]]
    """First word and last (exclusive) of each field all in capitals."""


def tokenize_document(document: Document, lemmatizer: Lemmatizer | None = None) -> TokenizedDocument:
    """Split the title and the text of a document into words; without a lemmatizer, every hyphen separates."""
    (title_pieces, words, marks), (text_pieces, text_words, text_marks) = (
        _tokenize_field(text, lemmatizer) for text in (document.title, document.text)
    )
    title = len(words)
    marks = [mark | _TITLE_MARK for mark in marks]
    text_marks[0] |= marks.pop() & _CLOSING_MARKS
    ranges = [(document.title, 0, title), (document.text, title, title + len(text_words))]
    capital_ranges = [(start, end) for text, start, end in ranges if _is_in_capitals(text, end - start)]
    return TokenizedDocument(words + text_words, marks + text_marks, (title_pieces, text_pieces), capital_ranges)


def _tokenize_field(text: str, lemmatizer: Lemmatizer | None) -> tuple[list[str], list[str], list[int]]:
    """Return separators and words in turn, the words, and the marks before each and after all."""
    pieces, split_at = _split_field(text, lemmatizer)
    words, marks = pieces[1::2], list(map(SEPARATOR_MARKS.__getitem__, pieces[0::2]))
    for number in split_at:
        marks[number] = _HYPHEN_MARK
    if "\n" in text:
        _mark_line_breaks(text, pieces, marks)
    marks[0] = FIELD_START_MARKS | (marks[0] & _OPENING_MARKS)
    if words:
        marks[-1] = FIELD_START_MARKS | (marks[-1] & _CLOSING_MARKS)
    if _is_in_capitals(text, len(words)):
        words = list(map(str.lower, words))
    return pieces, words, marks


def _mark_line_breaks(text: str, pieces: Sequence[str], marks: list[int]) -> None:
    """Set a boundary at each line break that the writer made on purpose, as between the items of a list.

    In text that is wrapped at some width, a break is there for the width alone if the next word would not have fitted.
    """
    is_break = _find_deliberate_breaks(text)
    line = 0
    for i, piece in enumerate(pieces):
        if "\n" in piece:
            if i % 2 == 0 and marks[i // 2] == 0 and is_break[line]:
                marks[i // 2] = FIELD_START_MARKS
            line += piece.count("\n")


def _find_deliberate_breaks(text: str) -> list[bool]:
    """Return of each line break of a text whether it is deliberate."""
    lines = text.split("\n")
    lengths = [len(line.rstrip()) for line in lines]
    ordered = sorted(filter(None, lengths)) or [0]
    width = ordered[ceil(_WRAPPED_SHARE * len(ordered)) - 1]
    if width < _MIN_WRAPPED_WIDTH:
        return [True] * (len(lines) - 1)
    first_words = [len(line.split(None, 1)[0]) if line.strip() else 0 for line in lines]
    return [length + 1 + word <= width for length, word in zip(lengths, first_words[1:], strict=False)]


def _split_field(text: str, lemmatizer: Lemmatizer | None) -> tuple[list[str], list[int]]:
    """Return separators and words in turn, and the numbers of the second words of those that are two tokens."""
    pieces = _split_pieces(text)
    if lemmatizer is not None and lemmatizer.joined_words:
        pieces = _join_hyphenated(pieces, lemmatizer.joined_words)
    return _split_compounds(pieces, lemmatizer) if lemmatizer is not None and lemmatizer.split_words else (pieces, [])


def _join_hyphenated(pieces: list[str], joined_words: frozenset[str]) -> list[str]:
    """Return the pieces of a field with each hyphenated word of ``joined_words`` as one; the first two parts count."""
    joined: list[str] = []
    end = 0
    separators = pieces[2:-1:2]
    hyphens = {piece for piece in set(separators) if SEPARATOR_MARKS[piece] == _HYPHEN_MARK}
    for i in [2 * n for n, piece in enumerate(separators, 1) if piece in hyphens] if hyphens else ():
        if i > end and f"{pieces[i - 1]}-{pieces[i + 1]}".casefold() in joined_words:
            joined += [*pieces[end : i - 1], "".join(pieces[i - 1 : i + 2])]
            end = i + 2
    return joined + pieces[end:] if end else pieces


def _split_compounds(pieces: list[str], lemmatizer: Lemmatizer) -> tuple[list[str], list[int]]:
    """Return the pieces of a field with each word that is two tokens split, and the numbers of the second words."""
    if lemmatizer.split_words.keys().isdisjoint(map(str.casefold, set(pieces[1::2]))):
        return pieces, []
    parts, numbers = list[str](), list[int]()
    for i, piece in enumerate(pieces):
        if i % 2 and (length := lemmatizer.get_split(piece)):
            parts += [piece[:length], "", piece[length:]]
            numbers.append(len(parts) // 2 - 1)
        else:
            parts.append(piece)
    return parts, numbers


def _is_in_capitals(text: str, word_count: int) -> bool:
    return word_count > 2 and text.isupper()


def find_piece_ends(text: str, lemmatizer: Lemmatizer) -> list[int]:
    """Return where the separators and words of a field end, in turn: token i is from 2 * i to 2 * i + 1 of them."""
    return list(accumulate(map(len, _split_field(text, lemmatizer)[0])))


def locate_tokens(document: Document, lemmatizer: Lemmatizer) -> list[Span]:
    """Return the span of each token of a document, in order; ``lemmatizer`` is that of its tokens."""
    spans: list[Span] = []
    for field, text in (("title", document.title), ("text", document.text)):
        ends = find_piece_ends(text, lemmatizer)
        spans += zip(repeat(field), ends[0:-1:2], ends[1::2], strict=False)
    return spans


_GLUE_OF_MARKS = b" \n" * 128
"""For each of the 256 sets of marks, the character between the previous token and this one: newline at a boundary."""


def join_tokens(lemmas: Sequence[str], marks: Sequence[int]) -> str:
    """Return the tokens string: lemmas joined by a space, or by a newline where a boundary is between them."""
    if not lemmas:
        return ""
    pieces: list[str] = [""] * (2 * len(lemmas) - 1)
    pieces[0::2] = lemmas
    pieces[1::2] = bytes(marks[1 : len(lemmas)]).translate(_GLUE_OF_MARKS).decode("ascii")
    return "".join(pieces)


def lemmatize_text(text: str, lemmatizer: Lemmatizer) -> str:
    """Return the tokens string of a text, such as a query or a keyword."""
    _, words, marks = _tokenize_field(text, lemmatizer)
    return join_tokens([lemmatizer[word] for word in words], marks)


def lemmatize_document(document: Document, lemmatizer: Lemmatizer) -> str:
    """Return the tokens string of a document."""
    parsed = tokenize_document(document, lemmatizer)
    return join_tokens([lemmatizer[word] for word in parsed.words], parsed.marks)
