"""Parts of charts in SVG: axes, scales, words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

GREY = "#555"


@dataclass(frozen=True)
class Axis:
    """Values, drawn from ``start`` to ``end``."""

    values: Sequence[float]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        low, high = min(self.values), max(self.values)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def picture(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(label)}">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def scale(y: Axis, step: float, left: float, right: float) -> list[str]:
    """A line across at every step, with its value before it."""
    parts = []
    for number in range(int(max(y.values) / step + 1e-9) + 1):
        at = y(number * step)
        parts.append(f'<path d="M{left} {at}H{right}" stroke="#ddd"/>')
        parts.append(text(left - 8, at + 4, f"{number * step:g}", anchor="end"))
    return parts


def line(places: Sequence[tuple[float, float]], colour: str) -> list[str]:
    path = "L".join(f"{across} {down}" for across, down in places)
    dots = [f'<circle cx="{across}" cy="{down}" r="3.5" fill="{colour}"/>' for across, down in places]
    return [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = GREY, size: int = 12) -> str:
    place = f'x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f"<text {place}>{escape(words)}</text>"


def round_step(most: float) -> float:
    """A round number of which four or five fit."""
    raw = max(most, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
