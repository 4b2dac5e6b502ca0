"""Ids of a build are sorted on disk, and the last document of each counts."""

from __future__ import annotations

import io
import random

import pytest

from indexer.runtime import arrival_ids
from indexer.runtime.arrival_ids import ArrivalIds


@pytest.mark.parametrize("run_ids", [3, 50, 1000])
def test_ids_are_sorted_with_the_number_of_their_last_document(monkeypatch: pytest.MonkeyPatch, run_ids: int) -> None:
    monkeypatch.setattr(arrival_ids, "_RUN_IDS", run_ids)
    monkeypatch.setattr(arrival_ids, "_GROUP_IDS", 7)
    rng = random.Random(1)
    ids = [f"{rng.choice('aé漢😀')}{rng.randrange(100)}" for _ in range(400)] + ["", "new\nline"]
    arrivals, out = ArrivalIds(), io.BytesIO()
    last: dict[str, int] = {}
    for number, id in enumerate(ids):
        assert arrivals.add(id) == (id in last)
        last[id] = number
    written = arrivals.write_sorted(out)
    blob = out.getvalue()
    found = [blob[start:end].decode() for start, end in zip(written.starts, written.starts[1:], strict=False)]
    assert found == sorted(last)
    assert written.arrival_numbers.tolist() == [last[id] for id in found]


def test_a_build_without_documents_has_no_ids() -> None:
    written = ArrivalIds().write_sorted(io.BytesIO())
    assert (written.starts.tolist(), written.arrival_numbers.tolist()) == ([0], [])
