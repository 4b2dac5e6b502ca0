"""What the spelling of a word tells by itself: names of code, numbers, possessives, and groups of words."""

from __future__ import annotations

import re
from collections import defaultdict
from enum import IntFlag

from indexer.syntax.tags import Tag
from indexer.syntax.word_groups import (
    ADVERBS,
    AUXILIARIES,
    NAME_PARTICLES,
    NUMBER_WORDS,
    OBJECT_PARTICIPLES,
    QUANTIFIERS,
)


class Shape(IntFlag):
    """How a word is written, and of which groups of words (``word_groups``) its lower-case form is."""

    CAPITALISED = 1
    ALL_CAPITALS = 2
    IDENTIFIER = 4
    """A name of code: ``score_mode``, ``os.path``, ``camelCase``, ``GPT2``."""
    POSSESSIVE = 8
    """It ends in 's."""
    YEAR = 16
    LETTER = 32
    """One character."""
    QUANTIFIER = 64
    NAME_PARTICLE = 128
    AUXILIARY = 256
    OBJECT_PARTICIPLE = 512


_NUMBER = re.compile(r"[\d.,]+(?:[a-z]{1,3}|[kKMGT]i?[Bb]?|[kMGT]?Hz)?|\d+[eE]\d+")
"""A number, also with its unit or with -th."""
_DECADE = re.compile(r"\d+s")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")
_INNER_CAPITAL = re.compile(r"[^\W\d_A-Z][A-Z]|[A-Z]{2}[a-z]{3}")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_CONTRACTION = re.compile("(?:['’](?:s|ll|ve|re|d|m))$", re.IGNORECASE)

# Plain integers: operations on members of enumerations would take most of the time.
_CAPITALISED, _ALL_CAPITALS, _IDENTIFIER = Shape.CAPITALISED.value, Shape.ALL_CAPITALS.value, Shape.IDENTIFIER.value
_POSSESSIVE, _YEAR_SHAPE, _LETTER = Shape.POSSESSIVE.value, Shape.YEAR.value, Shape.LETTER.value


def strip_contraction(word: str) -> str:
    """Return a word without 's, 'll and the like."""
    if "'" not in word and "’" not in word:
        return word
    return _CONTRACTION.sub("", word) or word


def find_shape(word: str) -> int:
    """Return the ``Shape`` flags of a word: how it is written, and its groups."""
    stem = strip_contraction(word)
    shape = _SHAPE_OF_GROUPED_WORD.get(stem.lower(), 0)
    if stem[:1].isupper():
        shape |= _CAPITALISED
        if len(stem) > 1 and stem.isupper():
            shape |= _ALL_CAPITALS
    if _is_identifier(stem):
        shape |= _IDENTIFIER
    if stem is not word and word[-1] in "sS" and len(word) == len(stem) + 2:
        shape |= _POSSESSIVE
    if stem[:1].isdigit() and _YEAR.fullmatch(stem):
        shape |= _YEAR_SHAPE
    if len(stem) == 1:
        shape |= _LETTER
    return shape


def _collect_grouped_words() -> dict[str, int]:
    """Return the ``Shape`` flags that words have for the groups they are in."""
    groups = {
        Shape.QUANTIFIER: QUANTIFIERS,
        Shape.NAME_PARTICLE: NAME_PARTICLES,
        Shape.AUXILIARY: AUXILIARIES,
        Shape.OBJECT_PARTICIPLE: OBJECT_PARTICIPLES,
    }
    shapes: defaultdict[str, int] = defaultdict(int)
    for flag, words in groups.items():
        for word in words:
            shapes[word] |= flag.value
    return dict(shapes)


_SHAPE_OF_GROUPED_WORD = _collect_grouped_words()


def _is_identifier(word: str) -> bool:
    if word.isalpha():
        return not word.islower() and not word.istitle() and _INNER_CAPITAL.search(word) is not None
    if _NUMBER.fullmatch(word) or _DECADE.fullmatch(word) or _ABBREVIATION.fullmatch(word):
        return False
    has_letter = any(map(str.isalpha, word))
    return has_letter and ("_" in word or "." in word.strip(".") or any(map(str.isdigit, word)))


def find_tag_by_shape(word: str, shape: int) -> Tag | None:
    """Return the tag of a word that no lexicon is needed for."""
    if shape & _IDENTIFIER:
        return Tag.NNP
    if word in NUMBER_WORDS:
        return Tag.CD
    if word.lower() in ADVERBS:
        return Tag.RB
    if word == "s":
        return Tag.POS  # cut off: "Apple Inc.'s"
    if word.isascii() and word.isalpha():
        return None
    if word[:1].isnumeric():  # also "½"
        return Tag.NNS if _DECADE.fullmatch(word) else Tag.CD
    if not _LATIN.search(word):
        return Tag.SYM
    if _ABBREVIATION.fullmatch(word):
        return Tag.NNP  # also "u.s.", for titles in capitals come in lower case
    return None
