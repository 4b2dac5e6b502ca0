"""The length of a list: how far it is filled with phrases that inform a reader little."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal

from worker.methods.base import RankedList

ListKind = Literal["common", "distinct"]

MIN_ENTRIES: dict[ListKind, int] = {"common": 3, "distinct": 1}
"""Number of entries up to which fillers are added to a capped list. Common lists have fillers only for a query: what a
hit shares with it is worth listing if it shares little else."""


def make_entry_limit_by_rank(ranked: RankedList, cap: int, kind: ListKind) -> Callable[[int], int]:
    """Return a function from the rank of a phrase to the number of entries up to which it is still listed.

    Informative phrases are listed up to the cap (0: no limit), fillers up to ``MIN_ENTRIES``, the rest not at all.
    """
    informative, fillers = (
        sys.maxsize if count is None or not cap else count for count in (ranked.informative, ranked.fillers)
    )
    max_entries = cap or sys.maxsize

    def get_limit(rank: int) -> int:
        if rank < informative:
            return max_entries
        return min(max_entries, MIN_ENTRIES[kind]) if rank < fillers else 0

    return get_limit
