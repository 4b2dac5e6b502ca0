"""What a word tells the tagger by itself: its usual tag, the tags it may change to, and its shape.

Each distinct surface form is looked at once and packed in 32 bits, so that a token costs one look-up in an array. It
has two variants: one for the middle of a sentence, where a capital marks a name, and one for its beginning and for
titles, where a capital tells nothing: there a word gets the tag of its lower-case form if the lexicon has that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from indexer.syntax.lexicon import ContextualRule, Lexicon, LexiconEntry, load_lexicon, load_rules
from indexer.syntax.tags import CLOSED_CLASSES, Tag, make_tag_mask
from indexer.syntax.word_forms import find_forms
from indexer.syntax.word_groups import MASS_NOUNS, list_singulars
from indexer.syntax.word_shapes import Shape, find_shape, find_tag_by_shape, strip_contraction
from indexer.text.tokenizer import Mark

WordFeatures = NDArray[np.uint32]

# Bits of a feature: 0-5 tag, 6-12 number of the word in rules, 13-21 forms, 22-31 shape.
_WORD_BIT, _FORM_BIT, _SHAPE_BIT = 6, 13, 22
_WORD_MASK, _FORM_MASK = (1 << _FORM_BIT - _WORD_BIT) - 1, (1 << _SHAPE_BIT - _FORM_BIT) - 1
_MIN_CAPITAL_RUN = 4
"""Words in capitals one after another from which on they are a sentence rather than a name."""
_MAX_CACHED_WORDS = 200_000

_PREFIX = re.compile(
    "(?:anti|auto|co|counter|cross|de|dis|hyper|inter|intra|macro|meta|micro|mini|mis|mono|multi|non|out|over|para|post"
    "|pre|pseudo|re|self|semi|sub|super|trans|ultra|un|under)-?(?=.{4})"
)

_SUFFIX_ENTRIES: Mapping[str, LexiconEntry] = {
    suffix: LexiconEntry(tag, tag in (Tag.VB, Tag.VBZ))
    for tag, suffixes in {
        Tag.NN: "ness ment tion sion ity ance ence ship ism ist hood logy graphy ss us is",
        Tag.JJ: "ous ful ible able ive ical ial al less ish ic ary oid like",
        Tag.RB: "ly wise",
        Tag.VBN: "ed",
        Tag.VBG: "ing",
        Tag.VB: "ize ise ify",
        Tag.VBZ: "izes ises ifies",
        Tag.NNS: "s",
    }.items()
    for suffix in suffixes.split()
}
"""Ending of an unknown word -> what it is taken for; the longest one counts."""
_SHORTEST_STEM = 3
"""Letters before an ending: "maize" is no verb."""
_LONGEST_SUFFIX = max(map(len, _SUFFIX_ENTRIES))
_SURE_SUFFIX_TAGS = frozenset({Tag.RB, Tag.VBN, Tag.VBG, Tag.VB, Tag.VBZ})
"""Tags by the ending of an unknown word with a capital where a sentence begins; with another ending, it is a name."""

_CAPITALISED, _ALL_CAPITALS = Shape.CAPITALISED.value, Shape.ALL_CAPITALS.value
_IS_CLOSED = make_tag_mask(CLOSED_CLASSES).tolist()
_IS_VERB_BASE = make_tag_mask((Tag.VB, Tag.VBP)).tolist()


class WordFeatureTable(dict[str, tuple[int, int]]):
    """Features of words in the middle of a sentence and at its beginning; those of the first words are kept."""

    def __init__(self, lexicon: Lexicon, rules: Sequence[ContextualRule]) -> None:
        super().__init__()
        self._lexicon = lexicon
        self._word_numbers = number_rule_words(rules)

    def __missing__(self, word: str) -> tuple[int, int]:
        features = self._compute_features(word)
        if len(self) < _MAX_CACHED_WORDS:
            self[word] = features
        return features

    def get_features(self, words: Sequence[str]) -> WordFeatures:
        """Return the features of words, shape (words, 2)."""
        return np.array(list(map(self.__getitem__, words)), dtype=np.uint32).reshape(len(words), 2)

    def _compute_features(self, word: str) -> tuple[int, int]:
        """Return both variants of a word."""
        shape = find_shape(word)
        stem = strip_contraction(word)
        lower = stem.lower()
        number = self._word_numbers.get(stem, 0)
        if tag := find_tag_by_shape(stem, shape):
            entry = LexiconEntry(tag, False)
        else:
            entry = self._find_entry(stem, lower)
        middle = _pack_features(entry.tag, number, find_forms(self._lexicon, entry, stem, lower), shape)
        if tag or not _has_sentence_capital(shape):
            return middle, middle
        initial = self._find_initial_entry(stem, lower, entry)
        number = number or self._word_numbers.get(lower, 0)
        return middle, _pack_features(initial.tag, number, find_forms(self._lexicon, initial, stem, lower), shape)

    def _find_entry(self, word: str, lower: str) -> LexiconEntry:
        """Return the entry of a word in the middle of a sentence, made up if the lexicon has none."""
        if lower.endswith(("n't", "n’t")):
            return LexiconEntry(self._find_negated_tag(lower[:-3]), False)
        entry = self._lexicon.get(word)
        if word == lower:
            entry = entry or self._guess_entry(word)
            return entry._replace(tag=Tag.NN) if entry.tag is Tag.NNS and _is_mass_noun(word) else entry
        if entry and not (word.isupper() and len(word) > 1 and _IS_CLOSED[entry.tag]):  # US and IT are no pronouns
            return entry
        lower_entry = self._lexicon.get(lower)
        if lower_entry and _IS_CLOSED[lower_entry.tag] and (not word.isupper() or lower_entry.tag == Tag.CC):
            return lower_entry  # "AT" and "IT" are names
        return LexiconEntry(Tag.NNP, False)

    def _find_initial_entry(self, word: str, lower: str, entry: LexiconEntry) -> LexiconEntry:
        """Return the entry of a word with a capital where a sentence begins."""
        if lower in self._lexicon:
            return self._find_entry(lower, lower)
        if word in self._lexicon:
            return entry
        guessed = self._guess_entry(lower)
        return guessed if guessed.tag in _SURE_SUFFIX_TAGS else entry

    def _find_negated_tag(self, verb: str) -> Tag:
        """Return the tag of a verb with n't: "isn't" is like "is", and "don't" like "cannot"."""
        entry = self._lexicon.get(verb)
        return entry.tag if entry and verb not in ("do", "does", "did") else Tag.MD

    def _guess_entry(self, word: str) -> LexiconEntry:
        """Return the entry of a lower-case word that the lexicon does not have: by its parts, or by its ending."""
        if prefix := _PREFIX.match(word):
            entry = self._lexicon.get(word[prefix.end() :])
            if entry and not _IS_CLOSED[entry.tag]:
                return entry
        if any(
            (known := self._lexicon.get(singular)) and _IS_VERB_BASE[known.tag] for singular in list_singulars(word)
        ):
            return LexiconEntry(Tag.VBZ, True)
        for length in range(min(_LONGEST_SUFFIX, len(word) - _SHORTEST_STEM), 0, -1):
            if entry := _SUFFIX_ENTRIES.get(word[-length:]):
                return entry
        return LexiconEntry(Tag.NN, False)


def _is_mass_noun(word: str) -> bool:
    return word in MASS_NOUNS or word.endswith("ics")


def _has_sentence_capital(shape: int) -> bool:
    """Return whether the capital of a word may be due to its place: not in US and IT."""
    return bool(shape & _CAPITALISED and not shape & _ALL_CAPITALS)


def _pack_features(tag: int, word_number: int, forms: int, shape: int) -> int:
    return int(tag) | word_number << _WORD_BIT | forms << _FORM_BIT | shape << _SHAPE_BIT


def number_rule_words(rules: Sequence[ContextualRule]) -> dict[str, int]:
    """Return a number from 1 on for each word that rules name."""
    conditions = [condition for rule in rules for context in rule.contexts for condition in context]
    words = sorted({each.value for each in conditions if not isinstance(each.value, Tag)})
    return {word: number for number, word in enumerate(words, start=1)}


@lru_cache(maxsize=1)
def load_word_feature_table() -> WordFeatureTable:
    """Return the table with the lexicon of the package, which a process has once."""
    return WordFeatureTable(load_lexicon(), load_rules())


def look_up_tokens(
    word_features: WordFeatures, surface_ids: NDArray[np.integer], marks: NDArray[np.uint8]
) -> WordFeatures:
    """Return the features of each token in its place, shape (tokens,).

    ``word_features``: of ``get_features``, shape (surfaces, 2); ``surface_ids``: rows of it, shape (tokens,);
    ``marks``: ``Mark`` flags before each token and after the last, shape (tokens + 1,).
    """
    is_initial = (marks[:-1] & (Mark.SENTENCE | Mark.TITLE)) != 0
    is_in_capitals = has_shape(word_features[surface_ids, 0], Shape.ALL_CAPITALS)
    is_in_capitals = _find_capital_runs(is_in_capitals, (marks[:-1] & Mark.SENTENCE) != 0)
    positions = surface_ids.astype(np.int64) * 2 + (is_initial | is_in_capitals)
    features = word_features.reshape(-1)[positions]
    features[is_in_capitals] &= ~np.uint32(Shape.CAPITALISED << _SHAPE_BIT)
    return np.asarray(features)


def _find_capital_runs(is_in_capitals: NDArray[np.bool_], is_sentence_start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which words are in a run, within a sentence, of so many in capitals that these mark no names, (words,)."""
    follows = np.concatenate([[False], is_in_capitals[:-1]])[: len(is_in_capitals)]
    runs = np.cumsum(is_in_capitals & (~follows | is_sentence_start))
    lengths = np.bincount(runs[is_in_capitals], minlength=int(runs[-1]) + 1 if len(runs) else 1)
    return np.asarray(is_in_capitals & (lengths[runs] >= _MIN_CAPITAL_RUN))


def get_tags(features: WordFeatures) -> NDArray[np.uint8]:
    """Return the tags of words by themselves, shape as of ``features``."""
    return (features & ((1 << _WORD_BIT) - 1)).astype(np.uint8)


def get_rule_words(features: WordFeatures) -> NDArray[np.uint8]:
    """Return the numbers of the words in rules, 0 for those that no rule names."""
    return (features >> _WORD_BIT & _WORD_MASK).astype(np.uint8)


def get_forms(features: WordFeatures) -> NDArray[np.uint16]:
    """Return the ``Form`` flags of words."""
    return (features >> _FORM_BIT & _FORM_MASK).astype(np.uint16)


def has_shape(features: WordFeatures, shape: Shape) -> NDArray[np.bool_]:
    """Return which words have any of these flags."""
    return np.asarray((features & np.uint32(shape << _SHAPE_BIT)) != 0)
