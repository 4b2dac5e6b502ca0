"""Phrases of texts in a language without a tagger, by frequency and capitals.

A phrase is a run of words between boundaries and words that a great part of the documents has: function words, and
what every text of the corpus says. Such a run may be half of a clause, so only those are taken that something else
speaks for: in German, which writes nouns with a capital, the run up to its last noun; elsewhere names, and what the
text repeats.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints
from indexer.syntax.phrase_tokens import find_previous, find_ranges
from indexer.syntax.word_features import WordFeatures, has_shape
from indexer.syntax.word_shapes import Shape
from indexer.text.tokenizer import Mark

CAPITALISED_NOUN_LANGUAGES = frozenset({"de", "lb"})
"""Languages that write every noun with a capital: German and Luxembourgish."""
IDEOGRAPHIC_LANGUAGES = frozenset({"ja", "zh"})
"""Languages in which one character may be a word."""
FUNCTION_WORD_SHARE = 0.1
"""Share of the documents from which on a word is taken for a function word."""
MAX_RUN_WORDS = 4
"""Longest phrase; a longer run is rather a clause."""


def find_word_runs(
    features: WordFeatures, marks: NDArray[np.uint8], is_frequent: NDArray[np.bool_], language: str
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the first token and the length of each run, by both ascending, and whether it is a phrase even if the text
    does not repeat it: in a language that writes nouns with a capital, and of names; each of shape (runs,).

    ``features``: of ``look_up_tokens``, shape (tokens,); ``marks``: ``Mark`` flags before each token and after the
    last, shape (tokens + 1,); ``is_frequent``: which tokens are words of at least ``FUNCTION_WORD_SHARE`` of the
    documents.
    """
    is_capitalised = has_shape(features, Shape.CAPITALISED)
    is_initial = (marks[:-1] & Mark.SENTENCE) != 0
    is_noun = is_capitalised & ~(is_initial & is_frequent)
    has_noun_capitals = language in CAPITALISED_NOUN_LANGUAGES
    is_part = ~is_frequent | (is_noun & has_noun_capitals)
    if language not in IDEOGRAPHIC_LANGUAGES:
        is_part &= ~has_shape(features, Shape.LETTER)
    starts, ends = find_ranges(is_part, (marks[:-1] & Mark.BOUNDARY) != 0)
    if has_noun_capitals:
        ends = find_previous(is_noun)[ends - 1] + 1
        starts = np.maximum(starts, ends - MAX_RUN_WORDS)
    is_kept = (ends > starts) & (ends - starts <= MAX_RUN_WORDS)
    starts, ends = starts[is_kept], ends[is_kept]
    capitals = np.concatenate([[0], np.cumsum(is_capitalised & ~is_initial)])
    is_name = capitals[ends] - capitals[starts] == ends - starts
    return starts, ends - starts, is_name | has_noun_capitals
