"""The length of a list: uninformative phrases only fill up a short one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.phrase_models import make_phrase_model
from worker.answer.list_length import ListKind, make_entry_limit_by_rank
from worker.answer.near_duplicates import NearDuplicates
from worker.methods.base import RankedList

PHRASES = ["amber", "birch", "cedar", "delta", "ember", "fjord"]


def count_entries(informative: int | None, fillers: int | None, cap: int, kind: ListKind = "common") -> int:
    ranked = RankedList(np.arange(6), np.ones(6), informative=informative, fillers=fillers)
    return len(
        NearDuplicates(make_phrase_model()).group_near_duplicates(PHRASES, make_entry_limit_by_rank(ranked, cap, kind))
    )


@pytest.mark.parametrize(
    ("informative", "fillers", "common", "distinct"),
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
def test_fillers_only_fill_up_short_lists(informative: int, fillers: int, common: int, distinct: int) -> None:
    assert count_entries(informative, fillers, cap=5) == common
    assert count_entries(informative, fillers, cap=5, kind="distinct") == distinct
    assert count_entries(informative, fillers, cap=1) == min(common, 1)
    assert count_entries(informative, fillers, cap=0) == len(PHRASES), "without a cap all are listed"
