"""The same comparison has the same answer: twice, in two processes, with swapped sides, on both engines."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from indexer.engines.base import Engine
from tests.support.comparisons import INDEX, LISTS, compare_sides, encode_without_timings
from tests.support.paths import ROOT
from worker.comparer import Comparer

SIDES = [
    ("a1", "b1"),
    ("d0000", "d0006"),
    ("d0004", "d0005"),
    ("ids:d0000,d0001,d0002", "search:source:glass"),
    ("a2", "text:The waggle dance. A rye flour."),
    ("b1", "query:honey bee"),
]


@pytest.mark.parametrize(("a", "b"), SIDES)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_comparing_twice_gives_the_same_bytes(comparer: Comparer, a: str, b: str, preset: str) -> None:
    one, other = (
        encode_without_timings(compare_sides(each, a, b, preset=preset, cap=0, candidates=True, graph=True))
        for each in (comparer, Comparer(comparer.engine))
    )
    assert one == other


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(indexed_embedded_engine: Engine) -> None:
    engine = indexed_embedded_engine.address
    code = (
        "import sys, orjson; from worker import compare\n"
        "for a, b in (('a1', 'b1'), ('d0000', 'd0006')):\n"
        f"    answer = compare(a, b, index={INDEX!r}, engine={engine!r}, cap=0, candidates=True).to_dict()\n"
        "    answer['stats'].pop('ms'); sys.stdout.buffer.write(orjson.dumps(answer))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1 and runs.pop().startswith(b"{")


def swap_sides(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer that the comparison with swapped sides should have."""
    answer |= {"a": answer["b"], "b": answer["a"]}
    answer |= {"distinct_a": answer["distinct_b"], "distinct_b": answer["distinct_a"]}
    answer["candidates"] = {"a": answer["candidates"]["b"], "b": answer["candidates"]["a"]}
    for entry in (entry for name in LISTS for entry in answer[name]):
        entry |= {"a": entry["b"], "b": entry["a"]}
        for snippet in entry["evidence"]:
            snippet["side"] = {"a": "b", "b": "a"}[snippet["side"]]
        entry["evidence"].sort(key=lambda snippet: snippet["side"])
    return answer


@pytest.mark.parametrize(("a", "b"), SIDES)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_swapping_the_sides_swaps_the_answer(comparer: Comparer, a: str, b: str, preset: str) -> None:
    """As far as the iterations converge: the paper's stops earlier than the default one."""
    one = swap_sides(compare_sides(comparer, a, b, preset=preset, cap=0, candidates=True).to_dict())
    other = compare_sides(comparer, b, a, preset=preset, cap=0, candidates=True).to_dict()
    for name in ("a", "b", *LISTS, "candidates"):
        assert is_nearly_equal(one[name], other[name], 2e-6 if preset == "default" else 1e-4), name


def is_nearly_equal(one: object, other: object, tolerance: float) -> bool:
    """Return whether two JSON values are equal up to a difference between their numbers."""
    if isinstance(one, float) or isinstance(other, float):
        return one == pytest.approx(other, abs=tolerance)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_nearly_equal(one[key], other[key], tolerance) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(is_nearly_equal(x, y, tolerance) for x, y in zip(one, other, strict=True))
    return one == other


@pytest.mark.parametrize(("a", "b"), SIDES)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_both_engines_give_the_same_lists(
    indexed_embedded_engine: Engine, indexed_elasticsearch_engine: Engine, a: str, b: str, preset: str
) -> None:
    """Only phrases whose scores are within 2e-5 may change places."""
    one, other = (
        compare_sides(Comparer(engine), a, b, preset=preset, cap=0)
        for engine in (indexed_embedded_engine, indexed_elasticsearch_engine)
    )
    for name in LISTS:
        here, there = ({e.phrase: e.score for e in getattr(answer, name)} for answer in (one, other))
        assert here.keys() == there.keys()
        assert all(here[phrase] == pytest.approx(there[phrase], abs=2e-5) for phrase in here)
        order = [there[phrase] for phrase in here]
        assert all(later <= earlier + 2e-5 for earlier, later in pairwise(order))
