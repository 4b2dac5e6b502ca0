"""Parts of SVG charts: axes, scales, lines, text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

GREY = "#555"


@dataclass(frozen=True)
class Axis:
    """Linear map from the range of some values to the coordinates from ``start`` to ``end``."""

    values: Sequence[float]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value; the middle if all values are equal."""
        low, high = min(self.values), max(self.values)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def draw_svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """Return an SVG document of the parts, with a text alternative for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(label)}">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def draw_horizontal_grid(y_axis: Axis, step: float, left: float, right: float) -> list[str]:
    """Draw a horizontal line at every step, with its value to the left."""
    parts = []
    for number in range(int(max(y_axis.values) / step + 1e-9) + 1):
        height = y_axis(number * step)
        parts.append(f'<path d="M{left} {height}H{right}" stroke="#ddd"/>')
        parts.append(draw_text(left - 8, height + 4, f"{number * step:g}", anchor="end"))
    return parts


def draw_line(points: Sequence[tuple[float, float]], colour: str) -> list[str]:
    """Draw a line through points, with a dot at each."""
    path = "L".join(f"{x} {y}" for x, y in points)
    dots = [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in points]
    return [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def draw_text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = GREY, size: int = 12) -> str:
    attributes = f'x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f"<text {attributes}>{escape(text)}</text>"


def choose_axis_step(maximum: float) -> float:
    """Return a round step that divides the range from 0 to ``maximum`` into about four or five."""
    raw = max(maximum, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
