"""Part-of-speech tags of whole batches of documents, by Brill's rules.

Each token begins with the usual tag of its word. Then each rule changes tags by the tags and words nearby, in all
documents at once, the rules one after the other. A rule gives a word only a tag that its form allows: without this,
"government" becomes a participle after "is".

E. Brill (1992): A simple rule-based part of speech tagger. Proceedings of the Workshop on Speech and Natural Language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from indexer.syntax.lexicon import Condition, ContextualRule, load_rules
from indexer.syntax.tags import Tag
from indexer.syntax.word_features import (
    WordFeatures,
    get_forms,
    get_rule_words,
    get_tags,
    has_shape,
    number_rule_words,
)
from indexer.syntax.word_forms import FORM_OF_TAG, Form
from indexer.syntax.word_shapes import Shape
from indexer.text.tokenizer import Mark

Tags = NDArray[np.uint8]
"""``Tag`` values, shape (tokens,)."""

ANY_TAG = 0
"""In place of the tag that a rule changes."""
_REACH = 3
"""Most places between the token that a rule changes and one that it looks at. As many pseudo-tokens are between two
sentences, so that no rule sees another sentence, hence none another document."""


def tag_tokens(features: WordFeatures, marks: NDArray[np.uint8]) -> Tags:
    """Return the tag of each token of a batch of documents, shape (tokens,).

    ``features``: of ``look_up_tokens``, shape (tokens,); ``marks``: ``Mark`` flags before each token and after the
    last, shape (tokens + 1,). The tags of a document do not depend on the others of its batch.
    """
    positions, tokens = _insert_punctuation(features, marks[:-1])
    for rule in load_compiled_rules():
        rule.change_tags(tokens)
    return tokens.tags[positions]


class _PunctuatedTokens:
    """Tokens and pseudo-tokens, with ``_REACH`` pseudo-tokens before the first token and after the last."""

    def __init__(self, tags: Tags, words: NDArray[np.uint8], forms: NDArray[np.uint16]) -> None:
        self.tags = tags
        self.words = words
        """Number of the word in rules, 0 if it is in none."""
        self.forms = forms
        """``Form`` flags."""

    @cached_property
    def positions_of_words(self) -> Sequence[NDArray[np.intp]]:
        """Where each word of the rules is, by its number; empty for 0."""
        positions = np.flatnonzero(self.words)
        words = self.words[positions]
        order = np.argsort(words, kind="stable")
        bounds = np.searchsorted(words[order], np.arange(257))
        ordered = positions[order]
        return [ordered[start:end] for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]


def _insert_punctuation(
    features: WordFeatures, marks: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], _PunctuatedTokens]:
    """Return the position of each token among tokens and pseudo-tokens, shape (tokens,), and these.

    A stop and two starts are between sentences, a comma is at any other boundary, and the 's of a word is after it.
    """
    is_sentence, is_boundary = (marks & Mark.SENTENCE) != 0, (marks & Mark.BOUNDARY) != 0
    is_possessive = has_shape(features, Shape.POSSESSIVE)
    added = np.where(is_sentence, np.int8(_REACH), is_boundary.view(np.int8))
    added[1:] += is_possessive[:-1]
    positions = np.cumsum(added, dtype=np.int64)
    positions += np.arange(_REACH, _REACH + len(marks))
    length = int(positions[-1] if len(positions) else 0) + 2 * _REACH + 1
    tags = np.full(length, Tag.START, dtype=np.uint8)
    words, forms = np.zeros(length, dtype=np.uint8), np.zeros(length, dtype=np.uint16)
    tags[positions], forms[positions] = get_tags(features), get_forms(features)
    words[positions] = get_rule_words(features)
    tags[positions[is_boundary & ~is_sentence] - 1] = Tag.COMMA
    tags[positions[is_sentence] - _REACH] = Tag.STOP
    if len(positions):
        tags[positions[-1] + 1 + is_possessive[-1]] = Tag.STOP
    after = positions[is_possessive] + 1
    tags[after], forms[after] = Tag.POS, Form.VERB_S  # "it's" is "it is"
    return positions, _PunctuatedTokens(tags, words, forms)


class _CompiledRule:
    """A contextual rule over arrays."""

    def __init__(self, rule: ContextualRule, word_numbers: Mapping[str, int]) -> None:
        # Plain integers: with a member of Tag, numpy compares an array of bytes 14 times as slowly.
        self.source, self.target = int(rule.source or ANY_TAG), int(rule.target)
        self.form = int(FORM_OF_TAG.get(rule.target, 0))
        self.contexts = [_CompiledContext(context, word_numbers) for context in rule.contexts]

    def change_tags(self, tokens: _PunctuatedTokens) -> None:
        """Apply the rule to all tokens."""
        found = [context.find_positions(tokens, self.source) for context in self.contexts]
        # All positions are found before any tag is changed, so that the order of the contexts does not matter.
        for positions in found:
            if self.form:
                positions = positions[(tokens.forms[positions] & self.form) != 0]
            tokens.tags[positions] = self.target


class _CompiledContext:
    """Conditions that must hold together; those on words, which few tokens meet, are apart."""

    def __init__(self, context: Sequence[Condition], word_numbers: Mapping[str, int]) -> None:
        self.tag_conditions = [(each.offset, int(each.value)) for each in context if isinstance(each.value, Tag)]
        self.word_conditions = [
            (each.offset, word_numbers[each.value]) for each in context if not isinstance(each.value, Tag)
        ]

    def find_positions(self, tokens: _PunctuatedTokens, source: int) -> NDArray[np.intp]:
        """Return where tokens with the tag ``source`` are in this context."""
        if self.word_conditions:
            return self._filter_positions(tokens, source)
        conditions = _add_source(source, self.tag_conditions)
        matches = _match_shifted(tokens.tags, *conditions[0])
        for offset, tag in conditions[1:]:
            matches &= _match_shifted(tokens.tags, offset, tag)
        return np.flatnonzero(matches) + _REACH

    def _filter_positions(self, tokens: _PunctuatedTokens, source: int) -> NDArray[np.intp]:
        (first_offset, first_word), *others = self.word_conditions
        positions = tokens.positions_of_words[first_word] - first_offset
        for offset, word in others:
            positions = positions[tokens.words[positions + offset] == word]
        for offset, tag in _add_source(source, self.tag_conditions):
            positions = positions[tokens.tags[positions + offset] == tag]
        return positions


def _add_source(source: int, tag_conditions: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return conditions on tags, the first one on the token itself if a tag is asked for."""
    return tag_conditions if source == ANY_TAG else [(0, source), *tag_conditions]


def _match_shifted(tags: Tags, offset: int, tag: int) -> NDArray[np.bool_]:
    """Return of each token, without those at the ends, whether the one ``offset`` places after it has this tag."""
    return np.asarray(tags[_REACH + offset : len(tags) - _REACH + offset] == tag)


@lru_cache(maxsize=1)
def load_compiled_rules() -> tuple[_CompiledRule, ...]:
    """Return the rules of the package, which a process has once."""
    rules = load_rules()
    word_numbers = number_rule_words(rules)
    return tuple(_CompiledRule(rule, word_numbers) for rule in rules)
