"""A comparison as asked for: checked, with its parameters resolved, and the key of its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from indexer.engines.base import Groups
from indexer.errors import BadParameter, UnknownMethod
from worker.explain.side import Side
from worker.solver.parameters import PRESETS, Parameters

ALGORITHM = "8"
"""Changes when the same question on the same epoch may get another answer."""

CAP = 8
NEIGHBOURS = {"default": 200, "paper": 1000}
GRAPHS = ("neighbourhood", "full")
MODEL_OPTIONS = {
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
"""Numbers a question may set, and the range within which solving them is sound."""
OPTIONS = ("cap", "candidates", "graph", "neighbours", "k", *MODEL_OPTIONS)
MOST_NEIGHBOURS = 10_000
MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """Everything an answer depends on besides the index's content."""

    index: str
    a: Side
    b: Side
    method: str
    preset: str
    parameters: Parameters
    neighbours: int
    cap: int = CAP
    k: int | None = None
    candidates: bool = False
    graph: bool = False
    """Whether the answer carries the neighbourhood."""
    full: bool = False
    """Whether to solve on the whole corpus."""
    groups: Groups = None
    options: Mapping[str, Any] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    """Documents left out of the neighbourhood; for measuring only."""

    def key(self, epoch: str, versions: Mapping[str, str]) -> str:
        """The id of the answer: asking twice is one job."""
        told = {
            "algorithm": ALGORITHM,
            "epoch": epoch,
            "versions": dict(versions),
            "index": self.index,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "method": self.method,
            "preset": self.preset,
            "parameters": {name: getattr(self.parameters, name) for name in self.parameters.__slots__},
            "options": [self.neighbours, self.cap, self.k, self.candidates, self.graph, self.full],
            "groups": None if self.groups is None else sorted(self.groups),
        }
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def ask(
    index: str,
    a: Side,
    b: Side,
    *,
    method: str = "cda",
    preset: str = "default",
    options: Mapping[str, Any] | None = None,
    full: bool = False,
    groups: Groups = None,
) -> Question:
    """A checked question; every complaint names what is allowed."""
    from worker.methods import METHODS

    if not isinstance(method, str) or method not in METHODS:
        raise UnknownMethod(f"no method named {method!r}", fix=f"use one of {', '.join(METHODS)}")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise BadParameter(f"no preset named {preset!r}", fix=f"use one of {', '.join(PRESETS)}")
    given = {name: value for name, value in (options or {}).items() if value is not None}
    unknown = sorted(set(given) - set(OPTIONS), key=str)
    if unknown:
        raise BadParameter(f"no option named {unknown[0]!r}", fix=f"use one of {', '.join(OPTIONS)}")
    numbers = {name: _number(name, given[name], *allowed) for name, allowed in MODEL_OPTIONS.items() if name in given}
    try:
        parameters = PRESETS[preset].with_options(**numbers)
    except ValueError as error:
        raise BadParameter(str(error)) from error
    return Question(
        index, a, b, method, preset, parameters,
        neighbours=_whole("neighbours", given.get("neighbours", NEIGHBOURS[preset]), 1, MOST_NEIGHBOURS),
        cap=_whole("cap", given.get("cap", CAP), 0, MOST_LISTED),
        k=_whole("k", given["k"], 1, MOST_LISTED) if "k" in given else None,
        candidates=_flag("candidates", given.get("candidates", False)),
        graph=_flag("graph", given.get("graph", False)),
        full=full, groups=groups, options=given,
    )  # fmt: skip


def _whole(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadParameter(f"{name} must be a whole number from {least} to {most}, not {value!r}")
    return value


def _number(name: str, value: object, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise BadParameter(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")
    return float(value)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadParameter(f"{name} must be true or false, not {value!r}")
    return value
