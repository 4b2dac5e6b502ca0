"""Names in a text: capitalised words, with small words between them, and identifiers of code."""

from __future__ import annotations

import numpy as np

from indexer.syntax.phrase_tokens import Mask, PhraseTokens, Ranges, find_ranges, select_ranges
from indexer.syntax.tags import Tag
from indexer.syntax.word_shapes import Shape


def find_names(tokens: PhraseTokens, max_words: int) -> Ranges:
    """Return the names of at most ``max_words`` words, also those within a phrase: "Brad Smith" of "CEO Brad Smith".

    In titles, where all words may have capitals, no names are told apart.
    """
    particles = _find_particles(tokens)
    starts, ends = find_ranges(tokens.is_name | particles, tokens.is_cut)
    is_kept = (ends - starts <= max_words) & tokens.is_noun[ends - 1]
    is_kept &= ~tokens.is_hyphen_before[starts] & ~tokens.is_hyphen_after[ends - 1]
    return select_ranges((starts, ends), is_kept)


def _find_particles(tokens: PhraseTokens) -> Mask:
    """Return which small words are between two parts of a name: "Bank of Japan", "Statue of the Republic".

    "and" joins only if the part after it is longer ("Food and Drug Administration"), or if another small word comes
    before ("Department of Health and Human Services"): "Japan and Korea" is two names.
    """
    is_name, is_small = tokens.is_name, tokens.has(Shape.NAME_PARTICLE) & ~tokens.has(Shape.CAPITALISED)
    is_and, is_the = is_small & tokens.has_tag(Tag.CC), is_small & tokens.has_tag(Tag.DT)
    follows_name, precedes_name = tokens.has_previous(is_name), tokens.has_next(is_name)
    is_of = is_small & ~is_and & ~is_the & follows_name
    is_of_the = is_the & tokens.has_previous(is_of) & precedes_name
    is_particle = (is_of & (precedes_name | tokens.has_next(is_of_the))) | is_of_the
    second_name = is_name & tokens.has_previous(is_particle)
    is_after_particle = tokens.has_previous(second_name | (is_name & tokens.has_previous(second_name)))
    is_long_after = tokens.has_next(is_name & tokens.has_next(is_name))
    is_short_before = tokens.has_previous(is_name & ~tokens.has_previous(is_name) & ~tokens.has(Shape.LETTER))
    is_joining_and = is_and & precedes_name & (is_after_particle | (is_short_before & is_long_after))
    return np.asarray(is_particle | is_joining_and)


def find_identifiers(tokens: PhraseTokens) -> Ranges:
    """Return each identifier by itself."""
    starts = np.flatnonzero(tokens.is_identifier & ~tokens.is_in_chain).astype(np.int64)
    return starts, starts + 1
