"""One line of the table: what was measured, against what, and whether the goal is met."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Unit = Literal["ms", "s", "MB", "1/s", "tokens/s"]


@dataclass(frozen=True, slots=True)
class Goal:
    """What the ratio (or, with nothing to measure against, the figure itself) should be."""

    sign: Literal["<=", ">="]
    value: float

    def met(self, value: float) -> bool:
        return value <= self.value if self.sign == "<=" else value >= self.value

    def __str__(self) -> str:
        return f"{self.sign} {self.value:,.12g}"


@dataclass(frozen=True, slots=True)
class Row:
    """Figures are in ``unit``; None where there is nothing to say, and ``note`` says why."""

    name: str
    measure: str
    """What was measured, in words."""
    engine: str | None = None
    ours: float | None = None
    against: float | None = None
    against_what: str = ""
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None
    p95: float | None = None
    """Of ours; ``against_p95`` of the other side."""
    against_p95: float | None = None
    repetitions: int = 0
    unit: Unit = "ms"
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Figures:
    """What measuring gave, before it is judged."""

    ours: float
    against: float | None = None
    p95: float | None = None
    against_p95: float | None = None
    repetitions: int = 1
    note: str = ""


Better = Literal["ours/against", "against/ours"]
"""How the ratio is formed: a share of the other side's figure, or how many times faster ours is."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table before it is measured."""

    name: str
    measure: str
    against_what: str
    goal: Goal | None
    unit: Unit = "ms"
    better: Better = "ours/against"

    def judged(self, figures: Figures, engine: str | None) -> Row:
        ratio = self._ratio(figures)
        judged = figures.ours if ratio is None else ratio
        return Row(
            name=self.name,
            measure=self.measure,
            engine=engine,
            ours=_digits(figures.ours),
            against=_digits(figures.against),
            against_what=self.against_what,
            ratio=_digits(ratio),
            goal=None if self.goal is None else str(self.goal),
            met=None if self.goal is None else self.goal.met(judged),
            p95=_digits(figures.p95),
            against_p95=_digits(figures.against_p95),
            repetitions=figures.repetitions,
            unit=self.unit,
            note=figures.note,
        )

    def unmeasured(self, engine: str | None, why: str) -> Row:
        goal = None if self.goal is None else str(self.goal)
        return Row(self.name, self.measure, engine, against_what=self.against_what, goal=goal, unit=self.unit, note=why)

    def _ratio(self, figures: Figures) -> float | None:
        if figures.against is None:
            return None
        over, under = (figures.ours, figures.against)
        if self.better == "against/ours":
            over, under = under, over
        return over / under if under else None


def _digits(value: float | None) -> float | None:
    """To four significant digits: more is noise."""
    return None if value is None else float(f"{value:.4g}")
