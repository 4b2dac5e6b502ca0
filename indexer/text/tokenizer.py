"""Text to tokens: where words are, what stands between them, and their lemmas.

A document is its title, a boundary, its text. A word keeps inner apostrophes and dots (``3.5``,
``os.path.join``), ``C++`` and ``C#`` are words, and every Han or Kana character is a word of its own. A hyphen
separates words without being a boundary ("multi-task learning" is "multi task learning"). Any other
punctuation, and a blank line, is a boundary that no phrase crosses.

One regular expression splits a field into words and the separators around them; the rest is dictionary
look-ups per distinct word and per distinct separator.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from itertools import accumulate, chain, repeat
from typing import NamedTuple

from indexer.documents import PAIR, Document
from indexer.text.lemmatizer import Lemmas

PAIR_WINDOW = 10
"""The members of a pair stand at most this many words from each other."""

Place = tuple[str, int, int]
"""Field, start, end: offsets into the original field."""


class Mark(IntFlag):
    """What stands before a token (one byte)."""

    BOUNDARY = 1
    HYPHEN = 2
    OPEN = 4
    """An opening bracket right before the token."""
    CLOSE = 8
    """A closing bracket right after the token before."""
    QUOTE_OPEN = 16
    QUOTE_CLOSE = 32
    SENTENCE = 64
    """A sentence begins."""
    TITLE = 128
    """The token stands in the title."""


class Token(NamedTuple):
    surface: str
    lemma: str
    field: str
    """``title`` or ``text``."""
    start: int
    end: int
    marks: int
    """Of what stands before it: a sum of ``Mark``."""


def _combining(start: int, stop: int) -> str:
    """Combining marks as the inside of a character class: parts of words that ``\\w`` leaves out."""
    return "".join(chr(c) for c in range(start, stop) if unicodedata.category(chr(c)) in ("Mn", "Mc"))


_IDEOGRAPHS = "々\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_JOINERS = "\u00ad\u200c\u200d" + _combining(0x300, 0x1000)
_TAIL = r"(?:\.(?<=\.[A-Za-z]\.)(?!\w)|\+\+|#(?!\w))?"
"""The last dot of U.S., and C++, C#."""


def _word(letter: str, apostrophes: str, alone: str = "") -> re.Pattern[str]:
    return re.compile(rf"({letter}+(?:[{apostrophes}.]{letter}+)*{_TAIL}{alone})")


# Three of one meaning: most fields need only the fastest.
_ASCII_WORD = _word("[A-Za-z0-9_]", "'")
_UNICODE_WORD = _word(f"[^\\W{_IDEOGRAPHS}]", "'’", f"|[{_IDEOGRAPHS}]")
_JOINED_WORD = _word(f"(?:[^\\W{_IDEOGRAPHS}]|[{_JOINERS}])", "'’", f"|[{_IDEOGRAPHS}]")
_HAS_JOINERS = re.compile(f"[{_JOINERS}]")

_HYPHEN = re.compile(r"[-\u2010\u2011\u2013]\n?")
_BLANK_LINE = re.compile(r"\n\s*\n|\x0c|\u2029")
_SENTENCE_END = re.compile(r"[.!?…。！？]|\n\s*\n")
_OPENING, _CLOSING = "([{（［", ")]}）］"
_QUOTES = "\"'“”‘’«»`„「」『』"


_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")


def is_ideograph(word: str) -> bool:
    """Is it one Han or Kana character, written without spaces around?"""
    return _IDEOGRAPH.fullmatch(word) is not None


def split(field: str) -> tuple[list[str], list[str]]:
    """Words, and the separators around them (one more than words); joined in turn they are the field."""
    pieces = _pieces(field)
    return pieces[1::2], pieces[0::2]


def _pieces(field: str) -> list[str]:
    if field.isascii():
        return _ASCII_WORD.split(field)
    return (_JOINED_WORD if _HAS_JOINERS.search(field) else _UNICODE_WORD).split(field)


class Separators(dict[str, int]):
    """Separator -> marks of the token that follows it."""

    def __missing__(self, separator: str) -> int:
        marks = _marks(separator)
        if len(self) < 100_000:
            self[separator] = marks
        return marks


def _marks(separator: str) -> int:
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


SEPARATORS = Separators()
FIELD_START = (Mark.BOUNDARY | Mark.SENTENCE).value
_TITLE = Mark.TITLE.value
_BEFORE = (Mark.OPEN | Mark.QUOTE_OPEN).value
_AFTER = (Mark.CLOSE | Mark.QUOTE_CLOSE).value


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document split into words."""

    words: list[str]
    """As they are to be lemmatised: lower-cased in a field all in capitals (old newswire), where none is an acronym."""
    marks: list[int]
    """Of what stands before each word and (last) after all."""
    title: int
    """How many of the words are the title's."""
    pieces: tuple[list[str], list[str]]
    """Title and text as separators and words in turn."""

    def places(self) -> list[Place]:
        """Where each token stands, in order."""
        begin, end = self.spans()
        fields = chain(repeat("title", self.title), repeat("text"))
        return list(zip(fields, begin, end, strict=False))

    def spans(self) -> tuple[list[int], list[int]]:
        """Where each token begins and ends in its field, in order."""
        title, text = (list(accumulate(map(len, pieces))) for pieces in self.pieces)
        return title[0:-1:2] + text[0:-1:2], title[1::2] + text[1::2]


def parse(document: Document) -> Parsed:
    """Split the title and the text."""
    pieces = _pieces(document.title), _pieces(document.text)
    words, marks = _field(pieces[0], document.title)
    title = len(words)
    marks = [mark | _TITLE for mark in marks]
    text_words, text_marks = _field(pieces[1], document.text)
    text_marks[0] |= marks.pop() & _AFTER
    return Parsed(words + text_words, marks + text_marks, title, pieces)


def words_and_marks(document: Document) -> tuple[list[str], list[int], int]:
    """The document's words, the marks before each and after all, and how many words are the title's."""
    parsed = parse(document)
    return parsed.words, parsed.marks, parsed.title


def _field(pieces: list[str], field: str) -> tuple[list[str], list[int]]:
    words, marks = pieces[1::2], list(map(SEPARATORS.__getitem__, pieces[0::2]))
    marks[0] = FIELD_START | (marks[0] & _BEFORE)
    if words:
        marks[-1] = FIELD_START | (marks[-1] & _AFTER)
    if len(words) > 2 and field.isupper():
        words = list(map(str.lower, words))
    return words, marks


def tokenise(document: Document, lemmas: Lemmas) -> list[Token]:
    """All tokens, title first."""
    parsed = parse(document)
    surfaces = parsed.pieces[0][1::2] + parsed.pieces[1][1::2]
    return [
        Token(surface, lemmas[word], *place, mark)
        for surface, word, place, mark in zip(surfaces, parsed.words, parsed.places(), parsed.marks, strict=False)
    ]


def places(document: Document) -> list[Place]:
    """Where each token of the document stands, in order."""
    return parse(document).places()


_GLUE = b" \n" * 128
"""Of every sum of marks, what joins the token to the one before."""


def tokens_string(lemmas: Sequence[str], marks: Sequence[int]) -> str:
    """Lemmas joined by a space, by a newline where a boundary stands between them."""
    if not lemmas:
        return ""
    pieces: list[str] = [""] * (2 * len(lemmas) - 1)
    pieces[0::2] = lemmas
    pieces[1::2] = bytes(marks[1 : len(lemmas)]).translate(_GLUE).decode("ascii")
    return "".join(pieces)


def lemmatise(text: str, lemmas: Lemmas) -> str:
    """A text (a query, a keyword) as a tokens string."""
    words, marks = _field(_pieces(text), text)
    return tokens_string([lemmas[word] for word in words], marks)


def occurrences(phrase: str, tokens: str) -> list[int]:
    """Token positions where the phrase begins in a tokens string, nested and overlapping ones included.

    Of a pair: where one of its members begins with the other within reach.
    """
    if PAIR in phrase:
        return _pair_occurrences(phrase, tokens)
    wanted = phrase.split()
    found: list[int] = []
    position = 0
    for line in tokens.split("\n"):
        words = line.split(" ") if line else []
        if phrase in line:
            last = len(words) - len(wanted)
            found += [position + i for i in range(last + 1) if words[i : i + len(wanted)] == wanted]
        position += len(words)
    return found if wanted else []


def _pair_occurrences(phrase: str, tokens: str) -> list[int]:
    one, _, other = phrase.partition(PAIR)
    a, b = occurrences(one, tokens), occurrences(other, tokens)
    near = {i for i in a for j in b if abs(i - j) <= PAIR_WINDOW} | {
        j for j in b for i in a if abs(i - j) <= PAIR_WINDOW
    }
    return sorted(near)


def locate(document: Document, positions: Sequence[int], length: int) -> list[Place]:
    """Where token sequences of ``length`` tokens stand in the original fields."""
    spans = places(document)
    return [(spans[i][0], spans[i][1], spans[i + length - 1][2]) for i in positions if i + length <= len(spans)]
