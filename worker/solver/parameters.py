"""The numbers a comparison depends on, checked once, and the two presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

from worker.solver.ranking_weights import DEFAULT_WEIGHTS, ODDS_OPTIONS, ODDS_PREFIX, ReaderOddsWeights

Threshold = Literal["mean", "log"]

MIN_DOCUMENTS_FOR_GRAPH = 25
"""Documents below which the graph of a corpus is negligible."""
_EVIDENCE_WEIGHTS = ("word_weight", "topic_weight", "base_weight")
"""Weights of the evidence other than the graph."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Graph, solver, thresholds and ranking. Defaults are the paper's."""

    alpha: float = 100.0
    """Strength of supervision in Eq. 7: how firmly g is held to g0."""
    lambda_: float = 0.1
    """Weight of the selected phrases in Eqs. 8 and 9; 0 learns the relevance apart from the selection."""
    gamma: float = 1.0
    """Smoothing of the distinction score, Eq. 5."""
    delta: float = 0.1
    """Background added to every entry of g0."""
    kappa: float | None = None
    """Relevance of an average salient phrase on the calibrated scale; None leaves relevance as it is."""
    threshold: Threshold = "mean"
    """``mean``: the constraints of Eqs. 8 and 9. ``log``: the evidence for the other side in the log domain
    against ``cut``; a phrase that is not common is distinct."""
    cut: float = 0.0
    """Log domain: how far above the average salient phrase a common one must be, for each e-fold of documents beyond
    ``MIN_DOCUMENTS_FOR_GRAPH``: the more documents, the more of them link any two texts."""
    word_weight: float = 0.0
    """Log domain: weight of finding all of the phrase, worded differently, in the side that lacks it."""
    topic_weight: float = 0.0
    """Log domain: weight of a cosine of 1 between that side and the documents that contain the phrase."""
    base_weight: float = 0.0
    """Log domain: weight of the base rate: of each e-fold of documents that contain the phrase, beyond one in
    ``MIN_DOCUMENTS_FOR_GRAPH``."""
    tolerance: float = 1e-4
    """Relative change of the objective that ends a loop."""
    max_inner: int = 200
    """Steps of the inner loop at most."""
    max_outer: int = 20
    """Rounds of the outer loop at most."""
    reader_odds: ReaderOddsWeights = DEFAULT_WEIGHTS
    """Log domain: the ranking."""

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma"):
            _check_number(name, getattr(self, name), above=0.0)
        for name in ("lambda_", "delta", "tolerance", *_EVIDENCE_WEIGHTS):
            _check_number(name, getattr(self, name), minimum=0.0)
        _check_number("cut", self.cut)
        if self.kappa is not None:
            _check_number("kappa", self.kappa, above=0.0)
        for name in ("max_inner", "max_outer"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
        if self.threshold not in ("mean", "log"):
            raise ValueError(f"threshold must be one of mean, log, not {self.threshold!r}")
        if self.lambda_ > self.gamma**2:
            raise ValueError(
                f"lambda must be at most gamma squared ({self.gamma**2:g}), not {self.lambda_:g}: "
                "above it the distinct problem has no single solution"
            )

    def with_options(self, **options: object) -> Parameters:
        """Return a copy with some values changed.

        Names are those of the fields, ``lambda`` for ``lambda_``, and ``odds_NAME`` for a field of ``reader_odds``.
        Raises ValueError for an unknown name or a value out of range.
        """
        known = {f.name for f in fields(self)} - {"reader_odds"}
        changes = {"lambda_" if name == "lambda" else name: value for name, value in options.items()}
        odds = {name.removeprefix(ODDS_PREFIX): changes.pop(name) for name in ODDS_OPTIONS if name in changes}
        unknown = sorted(set(changes) - known)
        if unknown:
            names = ", ".join([*sorted(name.rstrip("_") for name in known), *ODDS_OPTIONS])
            raise ValueError(f"no parameter named {unknown[0]!r}; use one of {names}")
        if odds:
            changes["reader_odds"] = replace(self.reader_odds, **odds)  # type: ignore[arg-type]
        return replace(self, **changes)  # type: ignore[arg-type]

    def get_option(self, name: str) -> object:
        """Return the value of an option by the name that ``with_options`` takes."""
        if name in ODDS_OPTIONS:
            return getattr(self.reader_odds, name.removeprefix(ODDS_PREFIX))
        return getattr(self, "lambda_" if name == "lambda" else name)

    def get_values_for_id(self) -> dict[str, object]:
        """Return the values that enter the id of a comparison, JSON-ready.

        Ids of stored answers must not change: names stay, ``delta_mode`` was a field with one value in use, and the
        weights of the ranking count only where they are not the default.
        """
        values: dict[str, object] = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "reader_odds"}
        values["delta_mode"] = "each"
        if self.reader_odds != DEFAULT_WEIGHTS:
            values["reader_odds"] = {f.name: getattr(self.reader_odds, f.name) for f in fields(self.reader_odds)}
        return values

    def compute_cut_for_corpus(self, document_count: int) -> float:
        """Return the cut in a corpus of this number of documents."""
        return self.cut * max(1.0, math.log(max(document_count, 1) / MIN_DOCUMENTS_FOR_GRAPH))

    def build_notes(self) -> list[str]:
        """Return remarks on these numbers for a reader of the answer."""
        bound = min(self.gamma**2 / 4, self.alpha * self.gamma * self.delta / (1 + self.alpha))
        if self.lambda_ > bound:
            return [f"lambda {self.lambda_:g} is above the paper's bound {bound:.4g}: relevance is kept at 0 or more"]
        return []


def _check_number(name: str, value: object, *, above: float | None = None, minimum: float | None = None) -> None:
    option = name.rstrip("_")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{option} must be a finite number, not {value!r}")
    if above is not None and value <= above:
        raise ValueError(f"{option} must be above {above:g}, not {value:g}")
    if minimum is not None and value < minimum:
        raise ValueError(f"{option} must be at least {minimum:g}, not {value:g}")


PAPER = Parameters()
"""Literal: alpha 100, lambda 0.1, gamma 1, delta 0.1 on every entry, mean thresholds."""

DEFAULT = Parameters(
    lambda_=0.0, delta=0.0, kappa=1.0, threshold="log",
    cut=0.16, word_weight=2.2, topic_weight=2.6, base_weight=0.1,
)  # fmt: skip
"""PhraseCom's preset: no background, relevance solved first, cut in the log domain with evidence beyond the graph."""

PRESETS = {"default": DEFAULT, "paper": PAPER}
