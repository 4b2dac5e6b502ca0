"""How many entries a list gets that tell a reader little."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal, NamedTuple

from worker.methods.base import Ranked

Where = Literal["common", "distinct"]


class Least(NamedTuple):
    """Up to how many entries a capped list is filled with what tells a reader little."""

    filled: int
    """With what is obvious or doubtful."""
    of_any: int
    """With empty words, too."""


LEAST: dict[Where, Least] = {"common": Least(3, 2), "distinct": Least(2, 1)}
"""That both texts hold an obvious phrase is news where they share little else; that one does is not."""

NONE = Least(0, 0)


def wanted(ranked: Ranked, cap: int, where: Where) -> Callable[[int], int]:
    """How many entries there may be when the phrase at a place in the list comes up: up to the cap (0: no end), and of
    those that tell little only so many that some stand there."""
    telling, filling = (sys.maxsize if end is None or not cap else end for end in (ranked.telling, ranked.filling))
    most, least = cap or sys.maxsize, LEAST[where] if ranked.filled else NONE

    def upto(place: int) -> int:
        if place < telling:
            return most
        return min(most, least.filled if place < filling else least.of_any)

    return upto
