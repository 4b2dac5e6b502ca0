"""Masks over the tokens of a batch that noun phrases are found by."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints
from indexer.syntax.tagger import Tags
from indexer.syntax.tags import NOUNS, Tag, make_tag_mask
from indexer.syntax.word_features import WordFeatures, get_forms, has_shape
from indexer.syntax.word_forms import Form
from indexer.syntax.word_shapes import Shape
from indexer.text.tokenizer import Mark

Mask = NDArray[np.bool_]
Ranges = tuple[Ints, Ints]
"""First token and end (exclusive) of each range of tokens, each of shape (ranges,)."""
_T = TypeVar("_T", bound=np.generic)

IS_PHRASE_PART = make_tag_mask((*NOUNS, Tag.JJ, Tag.JJR, Tag.JJS, Tag.VBN, Tag.VBG, Tag.CD, Tag.FW))
IS_COMPARED = make_tag_mask((Tag.JJR, Tag.JJS))
IS_PLURAL = make_tag_mask((Tag.NNS, Tag.NNPS))
_IS_NOUN = make_tag_mask(NOUNS)
_IS_PROPER_NOUN = make_tag_mask((Tag.NNP, Tag.NNPS))
_DETERMINES = make_tag_mask((Tag.DT, Tag.PDT, Tag.PRP_S, Tag.WP_S, Tag.CD, Tag.JJ, Tag.JJR, Tag.JJS, Tag.VBG))


class PhraseTokens:
    """Tags, features and marks of tokens as masks, each of shape (tokens,)."""

    def __init__(self, tags: Tags, features: WordFeatures, marks: NDArray[np.uint8]) -> None:
        self.tags = tags
        self.features = features
        is_boundary = (marks & Mark.BOUNDARY) != 0
        is_after_possessive = shift(self.has(Shape.POSSESSIVE), 1) & ~is_boundary
        self.is_cut = is_boundary | is_after_possessive
        """Whether no phrase crosses the place before the token: "Apple's subsidiary" is two."""
        self.is_cut_after = shift(self.is_cut, -1, True)
        self.is_hyphen_before = (marks & Mark.HYPHEN) != 0
        self.is_hyphen_after = shift(self.is_hyphen_before, -1)
        self.is_in_chain = self.is_hyphen_before | self.is_hyphen_after
        """Whether a hyphen joins the token to another. A chain is one modifier, whatever its words are."""
        is_sentence_start = (marks & Mark.SENTENCE) != 0
        is_capitalised = self.has(Shape.CAPITALISED)
        self.is_lower = ~is_capitalised | (is_sentence_start & ~self.has_next(is_capitalised))
        """Whether the token has no capital, or one that only says that a sentence begins."""
        self.is_identifier = self.has(Shape.IDENTIFIER)
        self.is_noun = _IS_NOUN[tags] | self.is_identifier
        self.may_be_third_person = (get_forms(features) & Form.VERB_S) != 0
        """Whether the token may be the third person of a verb, whatever its tag is."""
        is_proper = _IS_PROPER_NOUN[tags] | (IS_PHRASE_PART[tags] & ~is_sentence_start)
        self.is_name = is_capitalised & is_proper & ((marks & Mark.TITLE) == 0)
        """Whether the capital of the token says that it is part of a name; in titles, it does not."""
        self.previous_tags = np.where(self.is_cut, np.uint8(Tag.STOP), shift(tags, 1))
        self.next_tags = np.where(self.is_cut_after, np.uint8(Tag.STOP), shift(tags, -1))
        self.is_determined = _DETERMINES[self.previous_tags] | is_after_possessive
        """Whether a participle here belongs to the noun after it: "the operating costs", "Citgo's posted price"."""

    def has(self, shape: Shape) -> Mask:
        """Return which tokens have any of these flags."""
        return has_shape(self.features, shape)

    def has_tag(self, tag: Tag) -> Mask:
        return np.asarray(self.tags == int(tag))

    def has_previous(self, mask: Mask) -> Mask:
        """Return which tokens come right after one of ``mask``, with nothing that cuts phrases between."""
        return np.asarray(shift(mask, 1) & ~self.is_cut)

    def has_next(self, mask: Mask) -> Mask:
        """Return which tokens come right before one of ``mask``, with nothing that cuts phrases between."""
        return np.asarray(shift(mask, -1) & ~self.is_cut_after)


def shift(values: NDArray[_T], places: int, fill: bool = False) -> NDArray[_T]:
    """Return of each token the value of the one ``places`` before it; negative: after it."""
    shifted = np.full_like(values, fill)
    if places > 0:
        shifted[places:] = values[:-places]
    else:
        shifted[:places] = values[-places:]
    return shifted


def find_ranges(mask: Mask, is_cut: Mask) -> Ranges:
    """Return the longest ranges of tokens of ``mask`` that have no cut in them."""
    is_start = mask & (~shift(mask, 1) | is_cut)
    is_end = mask & shift(~mask | is_start, -1, True)
    return np.flatnonzero(is_start).astype(np.int64), np.flatnonzero(is_end).astype(np.int64) + 1


def find_previous(mask: Mask) -> Ints:
    """Return of each token the last one of ``mask`` up to it, -1 if there is none; shape (tokens,)."""
    return np.asarray(np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1)))


def find_next(mask: Mask) -> Ints:
    """Return of each token and of the end the first one of ``mask`` from it on, else the end; shape (tokens + 1,)."""
    positions = np.where(np.append(mask, True), np.arange(len(mask) + 1), len(mask))
    return np.asarray(np.minimum.accumulate(positions[::-1])[::-1])


def select_ranges(ranges: Ranges, is_kept: Mask) -> Ranges:
    return ranges[0][is_kept], ranges[1][is_kept]
