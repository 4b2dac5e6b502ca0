"""Noun phrases of whole batches of documents, by their tags.

A phrase is a run of adjectives, participles, nouns and names that ends in a noun, without what only points or counts
("several", "more", "13"). Everything is found for all tokens at once; no step takes time by the length of a run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints, range_positions
from indexer.syntax.participles import (
    find_gerund_nouns,
    find_past_modifiers,
    find_verbs_after_nouns,
    find_verbs_before_objects,
)
from indexer.syntax.phrase_tokens import (
    IS_COMPARED,
    IS_PHRASE_PART,
    IS_PLURAL,
    Mask,
    PhraseTokens,
    Ranges,
    find_next,
    find_previous,
    find_ranges,
    select_ranges,
    shift,
)
from indexer.syntax.proper_names import find_identifiers, find_names
from indexer.syntax.tagger import Tags
from indexer.syntax.tags import Tag, make_tag_mask
from indexer.syntax.word_features import WordFeatures
from indexer.syntax.word_shapes import Shape

MAX_PHRASE_WORDS = 6
KEPT_WORDS = 5
"""Words that are kept of a longer run, from its end: there is the head, and the words nearest to it say most of it."""

_IS_MODIFIER = make_tag_mask((Tag.JJ, Tag.JJR, Tag.JJS, Tag.VBN, Tag.VBG))


def find_noun_phrases(tags: Tags, features: WordFeatures, marks: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Return the first token and the length of each noun phrase, ascending, each of shape (phrases,).

    ``tags``: of ``tag_tokens``; ``features``: of ``look_up_tokens``, shape (tokens,); ``marks``: ``Mark`` flags before
    each token and after the last, shape (tokens + 1,).

    No phrase crosses a boundary or has more than ``MAX_PHRASE_WORDS`` words. Besides the longest phrases, there are
    those at their end without adjectives ("quarterly dividend" of "regular quarterly dividend"), the names in them, and
    names with small words ("Bank of Japan" beside "Bank" and "Japan"). The phrases of a document do not depend on the
    others of its batch.
    """
    if not len(tags):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    tokens = PhraseTokens(tags, features, marks[:-1])
    longest = _find_longest_phrases(tokens)
    found = [
        longest,
        _find_inner_phrases(tokens, longest),
        find_names(tokens, MAX_PHRASE_WORDS),
        find_identifiers(tokens),
    ]
    return _merge_ranges([_drop_single_letters(tokens, ranges) for ranges in found])


def _merge_ranges(parts: list[Ranges]) -> tuple[Ints, Ints]:
    """Return the starts and lengths of all ranges, each once."""
    keys = np.unique(np.concatenate([starts * (MAX_PHRASE_WORDS + 1) + ends - starts for starts, ends in parts]))
    return np.divmod(keys, MAX_PHRASE_WORDS + 1)


def _drop_single_letters(tokens: PhraseTokens, ranges: Ranges) -> Ranges:
    starts, ends = ranges
    return select_ranges(ranges, (ends - starts > 1) | ~tokens.has(Shape.LETTER)[starts])


def _find_longest_phrases(tokens: PhraseTokens) -> Ranges:
    """Return the runs of parts of phrases, from the first word that is no opener to the last head."""
    is_part = IS_PHRASE_PART[tokens.tags] | tokens.is_in_chain | tokens.is_noun | find_past_modifiers(tokens)
    starts, ends = find_ranges(is_part & ~find_verbs_after_nouns(tokens), _find_cuts(tokens))
    is_head = (tokens.is_noun | find_gerund_nouns(tokens) | _find_versions(tokens)) & ~tokens.is_hyphen_after
    ends = np.maximum(find_previous(is_head)[ends - 1] + 1, starts)
    starts = find_next(~_find_openers(tokens))[starts]
    starts = np.where(ends - starts > MAX_PHRASE_WORDS, ends - KEPT_WORDS, starts)
    starts = find_next(~tokens.is_hyphen_before)[starts]  # no chain of hyphens is cut
    return select_ranges((starts, ends), starts < ends)


def _find_cuts(tokens: PhraseTokens) -> Mask:
    """Return before which tokens a run is cut: the token begins another phrase.

    After a noun, a number, a comparison or a quantifier does ("the company last year"); after a plural, any adjective
    does ("the ministry estimates domestic consumption"). A number in a name does not ("Pier 1 Imports").
    """
    is_in_name = tokens.has_previous(tokens.is_name) & tokens.has_next(tokens.is_name)
    begins = tokens.has_tag(Tag.CD) & ~tokens.has(Shape.YEAR) & ~is_in_name
    begins |= (tokens.has(Shape.QUANTIFIER) | IS_COMPARED[tokens.tags]) & ~tokens.has(Shape.CAPITALISED)
    begins |= tokens.has_tag(Tag.JJ) & IS_PLURAL[tokens.previous_tags]
    begins &= tokens.has_previous(tokens.is_noun) & ~tokens.is_hyphen_before
    return np.asarray(tokens.is_cut | begins)


def _find_versions(tokens: PhraseTokens) -> Mask:
    """Return which numbers end a name: GPT-4."""
    is_version = tokens.has_tag(Tag.CD) & tokens.is_hyphen_before & (tokens.previous_tags == int(Tag.NNP))
    return np.asarray(is_version)


def _find_openers(tokens: PhraseTokens) -> Mask:
    """Return which tokens are left out at the beginning of a phrase; "General" of General Motors is not."""
    is_opener = (tokens.has(Shape.QUANTIFIER) | IS_COMPARED[tokens.tags]) & tokens.is_lower
    is_number = tokens.has_tag(Tag.CD)
    is_opener |= is_number & ~tokens.has(Shape.YEAR)
    is_opener |= tokens.has_previous(is_number) & _find_units(tokens)
    is_opener |= find_verbs_before_objects(tokens)
    return np.asarray(is_opener & ~tokens.is_in_chain)


def _find_units(tokens: PhraseTokens) -> Mask:
    """Return which tokens are units if a number is before them: "500 g flour", "4 stalks celery".

    Before a noun, a noun is singular ("five-star hotel") unless it says how the other is counted.
    """
    is_plural_before_noun = tokens.has_tag(Tag.NNS) & tokens.is_lower & tokens.has_next(tokens.is_noun)
    return np.asarray(tokens.has(Shape.LETTER) | is_plural_before_noun)


def _find_inner_phrases(tokens: PhraseTokens, phrases: Ranges) -> Ranges:
    """Return the ends of phrases that are phrases, too, of two words or more.

    They begin after an adjective, a participle or a chain of hyphens ("quarterly dividend" in "regular quarterly
    dividend"), or with one after a noun ("option-adjusted spread" in "Fannie Mae option-adjusted spread"). Two nouns
    are not parted, for the first says what kind the second is; nor is "machine learning", nor a name ("Creative
    Commons").
    """
    starts, ends = phrases
    is_gerund_noun = tokens.has_tag(Tag.VBG) & tokens.has_previous(tokens.is_noun)
    is_modifier = (_IS_MODIFIER[tokens.tags] & ~tokens.is_identifier & ~is_gerund_noun) | tokens.is_in_chain
    is_in_name = tokens.is_name & tokens.has_previous(tokens.is_name)
    is_edge = (is_modifier | shift(is_modifier, 1)) & ~tokens.is_hyphen_before & ~is_in_name
    owners = np.repeat(np.arange(len(starts)), ends - starts)
    positions = range_positions(starts, ends - starts)
    is_kept = is_edge[positions] & (positions > starts[owners]) & (positions + 1 < ends[owners])
    return positions[is_kept], ends[owners[is_kept]]
