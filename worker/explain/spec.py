"""The specification of a comparison: checked options, resolved parameters, and the id of its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from indexer.defaults import DEFAULT_CAP
from indexer.engines.search_types import Groups
from indexer.errors import BadParameter, UnknownMethod
from worker.explain.side import Side
from worker.solver.parameters import PRESETS, Parameters
from worker.solver.ranking_weights import ODDS_OPTIONS

ALGORITHM_VERSION = "14"
"""Changes whenever the same spec may get another answer on the same epoch."""

DEFAULT_NEIGHBOURS = {"default": 200, "paper": 1000}
"""Documents of the neighbourhood besides the sides' own, by preset."""
GRAPHS = ("neighbourhood", "full")
OPTION_RANGES: dict[str, tuple[float, float]] = {
    "cap": (0, 1000),
    "neighbours": (1, 10_000),
    "k": (1, 1000),
    "alpha": (1e-3, 1e6),
    "lambda": (0.0, 1e6),
    "delta": (0.0, 1e6),
    "gamma": (1e-3, 1e3),
    "kappa": (1e-3, 1e6),
    "cut": (0.0, 100.0),
    "word_weight": (0.0, 100.0),
    "topic_weight": (0.0, 100.0),
    "base_weight": (0.0, 100.0),
}
"""The smallest and the largest value of every numeric option; within these ranges the solver is sound."""
INTEGER_OPTIONS = ("cap", "neighbours", "k")
"""Numeric options that take whole numbers only."""
MODEL_OPTIONS = tuple(name for name in OPTION_RANGES if name not in INTEGER_OPTIONS)
"""Options that set a parameter of the method."""
OPTIONS = ("cap", "candidates", "graph", "neighbours", "k", *MODEL_OPTIONS, *ODDS_OPTIONS)
_ODDS_RANGE = (-1e6, 1e6)
"""Range of the weights of the ranking, ``ODDS_OPTIONS``."""


@dataclass(frozen=True, slots=True)
class ComparisonSpec:
    """Everything an answer depends on besides the index's content."""

    index: str
    a: Side
    b: Side
    method: str
    preset: str
    parameters: Parameters
    neighbours: int
    cap: int = DEFAULT_CAP
    k: int | None = None
    """Candidate phrases of each side; None: all salient ones."""
    with_candidates: bool = False
    """Whether the answer lists the candidates."""
    with_graph: bool = False
    """Whether the answer contains the neighbourhood."""
    is_full_graph: bool = False
    """Whether to solve on the whole corpus."""
    groups: Groups = None
    excluded_ids: frozenset[str] = frozenset()
    """Documents left out of the neighbourhood; for evaluation only."""

    def compute_answer_id(self, epoch: str, versions_by_document_id: Mapping[str, str]) -> str:
        """Return the id of the answer: a hash of the spec, the epoch and the documents' content versions."""
        content = {
            "algorithm": ALGORITHM_VERSION,
            "epoch": epoch,
            "versions": dict(versions_by_document_id),
            "index": self.index,
            "a": self.a.describe_for_id(),
            "b": self.b.describe_for_id(),
            "method": self.method,
            "preset": self.preset,
            "parameters": self.parameters.get_values_for_id(),
            "options": [self.neighbours, self.cap, self.k, self.with_candidates, self.with_graph, self.is_full_graph],
            "groups": None if self.groups is None else sorted(self.groups),
        }
        return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def make_spec(
    index: str,
    a: Side,
    b: Side,
    *,
    method: str = "cda",
    preset: str = "default",
    options: Mapping[str, Any] | None = None,
    is_full_graph: bool = False,
    groups: Groups = None,
) -> ComparisonSpec:
    """Check method, preset and options and resolve the parameters; an option of None counts as not set.

    Raise UnknownMethod or BadParameter; the message names what is allowed.
    """
    from worker.methods.registry import METHODS

    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod(f"no method named {method!r}", fix=f"use one of {', '.join(METHODS)}")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise BadParameter(f"no preset named {preset!r}", fix=f"use one of {', '.join(PRESETS)}")
    values = {name: value for name, value in (options or {}).items() if value is not None}
    unknown = sorted(set(values) - set(OPTIONS), key=str)
    if unknown:
        raise BadParameter(f"no option named {unknown[0]!r}", fix=f"use one of {', '.join(OPTIONS)}")
    numbers = {name: _check_number(name, values[name]) for name in (*MODEL_OPTIONS, *ODDS_OPTIONS) if name in values}
    try:
        parameters = PRESETS[preset].with_options(**numbers)
    except ValueError as error:
        raise BadParameter(str(error)) from error
    return ComparisonSpec(
        index, a, b, method, preset, parameters,
        neighbours=_check_integer("neighbours", values.get("neighbours", DEFAULT_NEIGHBOURS[preset])),
        cap=_check_integer("cap", values.get("cap", DEFAULT_CAP)),
        k=_check_integer("k", values["k"]) if "k" in values else None,
        with_candidates=_check_flag("candidates", values.get("candidates", False)),
        with_graph=_check_flag("graph", values.get("graph", False)),
        is_full_graph=is_full_graph, groups=groups,
    )  # fmt: skip


def _check_integer(name: str, value: object) -> int:
    minimum, maximum = OPTION_RANGES[name]
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise BadParameter(f"{name} must be a whole number from {minimum:g} to {maximum:g}, not {value!r}")
    return value


def _check_number(name: str, value: object) -> float:
    minimum, maximum = OPTION_RANGES.get(name, _ODDS_RANGE)
    if isinstance(value, bool) or not isinstance(value, int | float) or not minimum <= value <= maximum:
        raise BadParameter(f"{name} must be a number from {minimum:g} to {maximum:g}, not {value!r}")
    return float(value)


def _check_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadParameter(f"{name} must be true or false, not {value!r}")
    return value
