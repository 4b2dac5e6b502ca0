"""The numbers a comparison depends on, checked once, and the two presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

DeltaMode = Literal["each", "mass"]
Threshold = Literal["mean", "log"]

FEW = 25
"""Documents below which a corpus has no graph to speak of."""
WEIGHTS = ("word_weight", "topic_weight", "base_weight")
"""Of the evidence beside the graph's."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Graph, solver and thresholds. Defaults are the paper's."""

    alpha: float = 100.0
    """Strength of supervision in Eq. 7: how firmly g is held to g0."""
    lambda_: float = 0.1
    """Weight of the selected phrases in Eqs. 8 and 9; 0 learns the relevance apart from the selection."""
    gamma: float = 1.0
    """Smoothing of the distinction score, Eq. 5."""
    delta: float = 0.1
    """Background added to g0: to every entry, or as a mass spread over the corpus."""
    delta_mode: DeltaMode = "each"
    kappa: float | None = None
    """Relevance of an average salient phrase on the calibrated scale; None leaves relevance as it is."""
    threshold: Threshold = "mean"
    """``mean``: the constraints of Eqs. 8 and 9. ``log``: relevance to the other side in the log domain
    against ``cut``, and what is not common is distinct."""
    cut: float = 0.0
    """Log domain: how far above the average salient phrase a common one must be, for each e-fold of documents
    beyond ``FEW``: the more documents, the more of them stand between any two texts."""
    word_weight: float = 0.0
    """Log domain: worth of finding all of the phrase, worded differently, in the side that lacks it."""
    topic_weight: float = 0.0
    """Log domain: worth of a cosine of 1 between that side and the documents that hold the phrase."""
    base_weight: float = 0.0
    """Log domain: worth of being held by e times as many documents, against one in ``FEW``: the base rate."""
    tolerance: float = 1e-4
    """Relative change of the objective that ends a loop."""
    max_inner: int = 200
    max_outer: int = 20

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma"):
            _check(name, getattr(self, name), above=0.0)
        for name in ("lambda_", "delta", "tolerance", *WEIGHTS):
            _check(name, getattr(self, name), least=0.0)
        _check("cut", self.cut)
        if self.kappa is not None:
            _check("kappa", self.kappa, above=0.0)
        for name in ("max_inner", "max_outer"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
        for name, allowed in (("delta_mode", ("each", "mass")), ("threshold", ("mean", "log"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")
        if self.lambda_ > self.gamma**2:
            raise ValueError(
                f"lambda must be at most gamma squared ({self.gamma**2:g}), not {self.lambda_:g}: "
                "above it the distinct problem has no single solution"
            )

    def with_options(self, **options: object) -> Parameters:
        """A copy with some values changed; ``lambda`` is accepted for ``lambda_``."""
        known = {f.name for f in fields(self)}
        changes = {"lambda_" if name == "lambda" else name: value for name, value in options.items()}
        unknown = sorted(set(changes) - known)
        if unknown:
            names = ", ".join(sorted(name.rstrip("_") for name in known))
            raise ValueError(f"no parameter named {unknown[0]!r}; there are {names}")
        return replace(self, **changes)  # type: ignore[arg-type]

    def cut_at(self, documents: int) -> float:
        """The cut in a corpus of so many documents."""
        return self.cut * max(1.0, math.log(max(documents, 1) / FEW))

    def background(self, documents: int) -> float:
        """What delta adds to each entry of g0 in a corpus of so many documents."""
        return self.delta if self.delta_mode == "each" else self.delta / max(documents, 1)

    def notes(self) -> list[str]:
        """What a reader of the answer should know about these numbers."""
        bound = min(self.gamma**2 / 4, self.alpha * self.gamma * self.delta / (1 + self.alpha))
        if self.lambda_ > bound:
            return [f"lambda {self.lambda_:g} is above the paper's bound {bound:.4g}: relevance is kept at 0 or more"]
        return []


def _check(name: str, value: object, *, above: float | None = None, least: float | None = None) -> None:
    said = name.rstrip("_")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{said} must be a finite number, not {value!r}")
    if above is not None and value <= above:
        raise ValueError(f"{said} must be above {above:g}, not {value:g}")
    if least is not None and value < least:
        raise ValueError(f"{said} must be at least {least:g}, not {value:g}")


PAPER = Parameters()
"""Literal: alpha 100, lambda 0.1, gamma 1, delta 0.1 on every entry, mean thresholds."""

DEFAULT = Parameters(
    lambda_=0.0, delta=0.0, kappa=1.0, threshold="log",
    cut=0.16, word_weight=2.2, topic_weight=2.6, base_weight=0.1,
)  # fmt: skip
"""Ours: no background, relevance learned first, cut in the log domain with other evidence beside the graph's."""

PRESETS = {"default": DEFAULT, "paper": PAPER}


def preset(name: str) -> Parameters:
    try:
        return PRESETS[name]
    except KeyError:
        raise ValueError(f"no preset named {name!r}; there are {', '.join(sorted(PRESETS))}") from None
