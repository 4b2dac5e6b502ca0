"""What tells a reader little fills up a short list, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.explain.test_partial_match import model
from worker.answer.list_length import ListKind, make_entry_limit
from worker.answer.near_duplicates import NearDuplicates
from worker.methods.base import RankedList

PHRASES = ["amber", "birch", "cedar", "delta", "ember", "fjord"]


def shown(telling: int | None, filling: int | None, cap: int, where: ListKind = "common") -> int:
    ranked = RankedList(np.arange(6), np.ones(6), informative=telling, fillers=filling)
    return len(NearDuplicates(model()).merge(PHRASES, make_entry_limit(ranked, cap, where)))


@pytest.mark.parametrize(
    ("telling", "filling", "common", "distinct"),
    [
        (None, None, 5, 5),
        (6, 6, 5, 5),
        (4, 6, 4, 4),
        (1, 6, 3, 1),
        (1, 2, 2, 1),
        (0, 6, 3, 1),
        (0, 0, 0, 0),
        (1, 1, 1, 1),
    ],
)
def test_a_capped_list_is_filled_so_far(telling: int, filling: int, common: int, distinct: int) -> None:
    assert shown(telling, filling, cap=5) == common
    assert shown(telling, filling, cap=5, where="distinct") == distinct
    assert shown(telling, filling, cap=1) == min(common, 1)
    assert shown(telling, filling, cap=0) == len(PHRASES), "without a cap all are told"
