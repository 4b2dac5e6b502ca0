"""Comparisons of the planted corpus as tests ask for them."""

from __future__ import annotations

from typing import Any

import orjson

from indexer.engines.base import Engine
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.explain.resolved_side import ResolvedSide
from worker.explain.resolver import resolve_sides
from worker.explain.side import Side
from worker.explain.side_limits import SideLimits
from worker.index_catalog import AnalyzerCache

INDEX = "papers"
"""The index of the planted corpus."""
LISTS = ("common", "distinct_a", "distinct_b")
"""The ranked lists of an answer."""


def compare_sides(comparer: Comparer, a: str | Side, b: str | Side, **options: Any) -> Comparison:
    """Compare two sides, given as on the command line; any name that is no field of a request is an option."""
    fields = {name: options.pop(name) for name in ("method", "preset", "groups") if name in options}
    index, is_full_graph = options.pop("index", INDEX), options.pop("full", False)
    sides = [side if isinstance(side, Side) else Side.from_text(side) for side in (a, b)]
    return comparer.compare(comparer.make_spec(index, *sides, options=options, is_full_graph=is_full_graph, **fields))


def resolve_texts(engine: Engine, *sides: str) -> list[ResolvedSide]:
    """Resolve sides, given as on the command line, in the index of the planted corpus."""
    reader = engine.open_reader(INDEX)
    parsed = [Side.from_text(side) for side in sides]
    return resolve_sides(reader, parsed, limits=SideLimits(), analyzer=AnalyzerCache().get(reader))


def encode_without_timings(answer: Comparison) -> bytes:
    """Return the answer's JSON without the only part of it that may differ from run to run."""
    fields = answer.to_dict()
    fields["stats"].pop("ms")
    return orjson.dumps(fields)
