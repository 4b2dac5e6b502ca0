"""Where the sides of a page stand among the topics, found for several at once.

A hit's few hundred words take longer to begin with than to place; the answer is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from indexer.model.topic_space import FEW
from worker.explain.resolver import Resolved


def place_together(sides: Iterable[Resolved]) -> None:
    """Find the ``places`` of those sides that are one document."""
    single = [side for side in dict.fromkeys(sides) if len(side.documents) == 1]
    if not single or single[0].reader.model.topics.dimensions == 0:
        return
    # more than a few together would be added up in another order
    for first in range(0, len(single), FEW):
        _place(single[first : first + FEW])


def _place(sides: list[Resolved]) -> None:
    lengths = np.concatenate([side.coded.lengths for side in sides])
    words = np.concatenate([side.coded.numbers for side in sides])
    for side, place in zip(sides, sides[0].placed(words, lengths), strict=True):
        object.__setattr__(side, "places", place[np.newaxis])  # as if it had been asked for
