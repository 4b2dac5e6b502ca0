"""How many entries a list gets that tell a reader little."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal

from worker.methods.base import Ranked

Where = Literal["common", "distinct"]

LEAST: dict[Where, int] = {"common": 3, "distinct": 1}
"""Up to how many entries a capped list is filled with what tells a reader little: that both texts hold an obvious
phrase is news where they share little else; that one does is not."""


def wanted(ranked: Ranked, cap: int, where: Where) -> Callable[[int], int]:
    """How many entries there may be when the phrase at a place in the list comes up: up to the cap (0: no end), of
    those that tell little only so many that some stand there, and none of the rest."""
    telling, filling = (sys.maxsize if end is None or not cap else end for end in (ranked.telling, ranked.filling))
    most = cap or sys.maxsize

    def upto(place: int) -> int:
        if place < telling:
            return most
        return min(most, LEAST[where]) if place < filling else 0

    return upto
