"""Rows of the benchmark: their goals, figures, and how a row is built from figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

MB = 1e6
"""Bytes of a megabyte, the unit of memory figures."""
Unit = Literal["ms", "s", "bytes", "MB", "1/s", "tokens/s"]


@dataclass(frozen=True, slots=True)
class SpeedGoal:
    """Bound of the ratio or, with nothing to measure against, of the figure itself."""

    sign: Literal["<=", ">="]
    value: float

    def is_met(self, value: float) -> bool:
        return value <= self.value if self.sign == "<=" else value >= self.value

    def __str__(self) -> str:
        return f"{self.sign} {self.value:,.12g}"


@dataclass(frozen=True, slots=True)
class BenchRow:
    """A measured row, with figures in ``unit``; None if it could not be measured, for the reason in ``note``."""

    name: str
    measure: str
    """Description of what was measured."""
    engine: str | None = None
    ours: float | None = None
    against: float | None = None
    against_what: str = ""
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None
    p95: float | None = None
    """95th percentile of ours."""
    against_p95: float | None = None
    """95th percentile of the other side."""
    repetitions: int = 0
    unit: Unit = "ms"
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class MeasuredFigures:
    """Figures of a row before they are compared with its goal; units are those of the row."""

    ours: float
    against: float | None = None
    p95: float | None = None
    against_p95: float | None = None
    repetitions: int = 1
    note: str = ""


RatioForm = Literal["ours/against", "against/ours"]
"""Form of the ratio: our share of the other side's figure, or how many times faster ours is."""


@dataclass(frozen=True, slots=True)
class RowSpec:
    """Name, description and goal of a row."""

    name: str
    measure: str
    against_what: str
    goal: SpeedGoal | None
    unit: Unit = "ms"
    ratio_form: RatioForm = "ours/against"

    def build_row(self, figures: MeasuredFigures, engine: str | None) -> BenchRow:
        """Return the row with its ratio, and whether the ratio (or the lone figure) meets the goal."""
        ratio = self._compute_ratio(figures)
        goal_value = figures.ours if ratio is None else ratio
        return BenchRow(
            name=self.name,
            measure=self.measure,
            engine=engine,
            ours=_round_to_four_digits(figures.ours),
            against=_round_to_four_digits(figures.against),
            against_what=self.against_what,
            ratio=_round_to_four_digits(ratio),
            goal=None if self.goal is None else str(self.goal),
            met=None if self.goal is None else self.goal.is_met(goal_value),
            p95=_round_to_four_digits(figures.p95),
            against_p95=_round_to_four_digits(figures.against_p95),
            repetitions=figures.repetitions,
            unit=self.unit,
            note=figures.note,
        )

    def build_unmeasured_row(self, engine: str | None, reason: str) -> BenchRow:
        """Return the row without figures."""
        goal = None if self.goal is None else str(self.goal)
        return BenchRow(
            self.name, self.measure, engine, against_what=self.against_what, goal=goal, unit=self.unit, note=reason
        )

    def _compute_ratio(self, figures: MeasuredFigures) -> float | None:
        if figures.against is None:
            return None
        numerator, denominator = (figures.ours, figures.against)
        if self.ratio_form == "against/ours":
            numerator, denominator = denominator, numerator
        return numerator / denominator if denominator else None


def _round_to_four_digits(value: float | None) -> float | None:
    """Round to four significant digits; more would be noise."""
    return None if value is None else float(f"{value:.4g}")
