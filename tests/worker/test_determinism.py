"""The same question has the same answer: twice, in two processes, the other way round, on both engines."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from indexer.engines.base import Engine
from tests.support.comparisons import INDEX, compare_sides
from worker.comparer import Comparer

ROOT = Path(__file__).parents[2]
LISTS = ("common", "distinct_a", "distinct_b")
SIDES = [
    ("a1", "b1"),
    ("d0000", "d0006"),
    ("d0004", "d0005"),
    ("ids:d0000,d0001,d0002", "search:source:glass"),
    ("a2", "text:The waggle dance. A rye flour."),
    ("b1", "query:honey bee"),
]


def untimed(answer: dict[str, Any]) -> bytes:
    answer["stats"].pop("ms")
    return orjson.dumps(answer)


@pytest.mark.parametrize(("a", "b"), SIDES)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_comparing_twice_gives_the_same_bytes(comparer: Comparer, a: str, b: str, preset: str) -> None:
    one, other = (
        untimed(compare_sides(each, a, b, preset=preset, cap=0, candidates=True, graph=True).to_dict())
        for each in (comparer, Comparer(comparer.engine))
    )
    assert one == other


def test_two_processes_give_the_same_bytes(indexed_embedded_engine: Engine) -> None:
    code = (
        "import sys, orjson; from worker import compare\n"
        "for a, b in (('a1', 'b1'), ('d0000', 'd0006')):\n"
        f"    answer = compare(a, b, index={INDEX!r}, engine={indexed_embedded_engine.address!r}, cap=0, candidates=True).to_dict()\n"
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
    """The answer as it should be to the question asked the other way round."""
    answer |= {"a": answer["b"], "b": answer["a"]}
    answer |= {"distinct_a": answer["distinct_b"], "distinct_b": answer["distinct_a"]}
    answer["candidates"] = {"a": answer["candidates"]["b"], "b": answer["candidates"]["a"]}
    for entry in (entry for name in LISTS for entry in answer[name]):
        entry |= {"a": entry["b"], "b": entry["a"]}
        for place in entry["evidence"]:
            place["side"] = {"a": "b", "b": "a"}[place["side"]]
        entry["evidence"].sort(key=lambda place: place["side"])
    return answer


@pytest.mark.parametrize(("a", "b"), SIDES)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_swapping_the_sides_swaps_the_answer(comparer: Comparer, a: str, b: str, preset: str) -> None:
    """To the digits that an iteration is carried to: that of the paper stops earlier than the exact solution."""
    one = swap_sides(compare_sides(comparer, a, b, preset=preset, cap=0, candidates=True).to_dict())
    other = compare_sides(comparer, b, a, preset=preset, cap=0, candidates=True).to_dict()
    for name in ("a", "b", *LISTS, "candidates"):
        assert is_nearly_equal(one[name], other[name], 2e-6 if preset == "default" else 1e-4), name


def is_nearly_equal(one: object, other: object, tolerance: float) -> bool:
    """Equal but for the last digits of numbers."""
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
    """But for phrases whose scores are a tie within 1e-5."""
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
