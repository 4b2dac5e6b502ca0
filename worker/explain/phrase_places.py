"""Where a text has a phrase: as a whole phrase or as a part of others, and how early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from indexer.analysis.salience import EARLINESS_HALVED_AFTER, compute_earliness
from worker.explain.resolved_side import ResolvedSide
from worker.solver.subgraph import Floats, Indices


class PhrasePlaces(NamedTuple):
    """Features of the places of some phrases in a text; arrays of shape (P,)."""

    whole_share: Floats
    """Share of the occurrences in which the phrase is whole."""
    earliness: Floats


def measure_places(side: ResolvedSide, phrases: Sequence[str], counts: Indices) -> PhrasePlaces:
    """Return the features of phrases that occur ``counts`` times each, (P,).

    In a set, and in a document of a former version, they are not known, and count as in the middle.
    """
    own = side.text_phrases
    if not own:
        middle = np.full(len(phrases), 0.5)
        return PhrasePlaces(middle, middle)
    found = [own.get(phrase) for phrase in phrases]
    whole = np.array([0 if one is None else one.occurrences for one in found], dtype=np.float64)
    starts = np.array([EARLINESS_HALVED_AFTER if one is None else one.start for one in found], dtype=np.float64)
    return PhrasePlaces(
        np.minimum(whole / np.maximum(counts, 1), 1.0),
        compute_earliness(starts),
    )
