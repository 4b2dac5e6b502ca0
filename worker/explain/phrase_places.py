"""Where a text has a phrase: whole or as a part of others, in the title, how early; and how often it has its words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from indexer.analysis.salience import EARLINESS_HALVED_AFTER, compute_earliness
from indexer.analysis.text_phrases import finds_all_phrases
from worker.explain.resolved_side import ResolvedSide
from worker.explain.split_phrases import SplitPhrases
from worker.solver.subgraph import Floats, Indices


class PhrasePlaces(NamedTuple):
    """Features of the places of some phrases in a text; arrays of shape (P,)."""

    whole_share: Floats
    """Share of the occurrences in which the phrase is whole."""
    never_whole: Floats
    """1 for several words that occur, but never as a whole phrase, else 0."""
    earliness: Floats
    title_share: Floats
    """Share of its words that the title has."""
    word_count: Indices
    """Occurrences of its most frequent word that is no function word."""


def measure_places(side: ResolvedSide, phrases: SplitPhrases, counts: Indices) -> PhrasePlaces:
    """Return the features of phrases that occur ``counts`` times each, (P,).

    Whole phrases and the title are not known of a set, nor phrases of a document of a former version: these count as
    in the middle, and as not in the title.
    """
    own, size = side.text_phrases, len(counts)
    title_share = np.zeros(size)
    if side.title_words:
        title_share = phrases.compute_means(phrases.find_members(side.title_words))
    occurrences = phrases.look_up(side.text.word_counts)
    word_count = phrases.find_maxima(np.where(phrases.is_function_word, 0, occurrences)).astype(np.int64)
    if not own:
        return PhrasePlaces(np.full(size, 0.5), np.zeros(size), np.full(size, 0.5), title_share, word_count)
    found = [own.get(phrase) for phrase in phrases.phrases]
    whole = np.array([0 if one is None else one.occurrences for one in found], dtype=np.float64)
    starts = np.array([EARLINESS_HALVED_AFTER if one is None else one.start for one in found], dtype=np.float64)
    is_split = (phrases.lengths > 1) & (whole == 0) & (counts > 0) & finds_all_phrases(side.reader.model)
    return PhrasePlaces(
        np.minimum(whole / np.maximum(counts, 1), 1.0),
        is_split.astype(np.float64),
        compute_earliness(starts),
        title_share,
        word_count,
    )
