"""The cold comparison against the size of the corpus, drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from worker.bench.setting import Setting
from worker.bench.timing import interleaved

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 132, 44, 52
COLOURS = {"embedded": "#0b6e4f", "elasticsearch": "#9a3b00"}
_AXIS = "#555"


@dataclass(frozen=True, slots=True)
class Point:
    """Milliseconds of a cold comparison on so many documents."""

    engine: str
    documents: int
    ms: float
    p95: float


def points(setting: Setting) -> list[Point]:
    """Every size on every engine, the sizes in turns."""
    found = []
    for kind in setting.engines:
        steps = {str(size): setting.cold(kind, size) for size in setting.corpus.sizes}
        for size, times in interleaved(steps, len(setting.drawn[0]), setting.budget).items():
            found.append(Point(kind, int(size), round(1000 * times.median, 3), round(1000 * times.p95, 3)))
    return found


def draw(found: Sequence[Point]) -> str:
    """Sizes on a logarithmic axis, medians as lines, 95th percentiles as strokes above them."""
    x = _Axis([math.log10(point.documents) for point in found], LEFT, WIDTH - RIGHT)
    y = _Axis([0.0, max(point.p95 for point in found) * 1.1], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="Cold comparison against corpus size">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, 22, "Cold comparison, ms (line: median, stroke: 95th percentile)", size=13),
        *_scales(found, x, y),
    ]
    for engine in dict.fromkeys(point.engine for point in found):
        parts += _line([point for point in found if point.engine == engine], x, y)
    return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True)
class _Axis:
    values: Sequence[float]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        low, high = min(self.values), max(self.values)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def _scales(found: Sequence[Point], x: _Axis, y: _Axis) -> list[str]:
    base, parts = HEIGHT - BOTTOM, []
    step = _step(max(point.p95 for point in found) * 1.1)
    for number in range(int(max(y.values) / step) + 1):
        at = y(number * step)
        parts.append(f'<path d="M{LEFT} {at}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 8, at + 4, f"{number * step:g}", anchor="end"))
    for size in sorted({point.documents for point in found}):
        parts.append(_text(x(math.log10(size)), base + 20, f"{size:,}", anchor="middle"))
    parts.append(f'<path d="M{LEFT} {base}H{WIDTH - RIGHT}" stroke="{_AXIS}"/>')
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "documents", anchor="middle"))
    return parts


def _line(own: Sequence[Point], x: _Axis, y: _Axis) -> list[str]:
    colour = COLOURS.get(own[0].engine, "#333")
    places = [(x(math.log10(point.documents)), y(point.ms), y(point.p95)) for point in own]
    path = "L".join(f"{across} {down}" for across, down, _ in places)
    parts = [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for across, down, high in places:
        parts.append(f'<path d="M{across} {down}V{high}" stroke="{colour}" stroke-opacity="0.5"/>')
        parts.append(f'<circle cx="{across}" cy="{down}" r="3.5" fill="{colour}"/>')
    last = places[-1]
    parts.append(_text(last[0] + 8, last[1] + 4, f"{own[0].engine} {own[-1].ms:.1f}", colour=colour))
    return parts


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = _AXIS, size: int = 12) -> str:
    place = f'x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"'
    return f"<text {place}>{escape(words)}</text>"


def _step(most: float) -> float:
    """A round number of which four or five fit."""
    raw = max(most, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
