"""The cold comparison against the size of the corpus, drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from worker.benchmark.environment import Setting
from worker.benchmark.timing import interleaved
from worker.svg import GREY, Axis, line, picture, round_step, scale, text

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 132, 44, 52
COLOURS = {"embedded": "#0b6e4f", "elasticsearch": "#9a3b00"}


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
    highest = max(point.p95 for point in found) * 1.1
    x = Axis([math.log10(point.documents) for point in found], LEFT, WIDTH - RIGHT)
    y = Axis([0.0, highest], HEIGHT - BOTTOM, TOP)
    parts = [
        text(LEFT, 22, "Cold comparison, ms (line: median, stroke: 95th percentile)", size=13),
        *scale(y, round_step(highest), LEFT, WIDTH - RIGHT),
        *_sizes(found, x),
    ]
    for engine in dict.fromkeys(point.engine for point in found):
        parts += _line([point for point in found if point.engine == engine], x, y)
    return picture(WIDTH, HEIGHT, "Cold comparison against corpus size", parts)


def _sizes(found: Sequence[Point], x: Axis) -> list[str]:
    base = HEIGHT - BOTTOM
    sizes = sorted({point.documents for point in found})
    return [
        *(text(x(math.log10(size)), base + 20, f"{size:,}", anchor="middle") for size in sizes),
        f'<path d="M{LEFT} {base}H{WIDTH - RIGHT}" stroke="{GREY}"/>',
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "documents", anchor="middle"),
    ]


def _line(own: Sequence[Point], x: Axis, y: Axis) -> list[str]:
    colour = COLOURS.get(own[0].engine, "#333")
    places = [(x(math.log10(point.documents)), y(point.ms)) for point in own]
    highs = [y(point.p95) for point in own]
    strokes = [
        f'<path d="M{across} {down}V{high}" stroke="{colour}" stroke-opacity="0.5"/>'
        for (across, down), high in zip(places, highs, strict=True)
    ]
    across, down = places[-1]
    said = text(across + 8, down + 4, f"{own[0].engine} {own[-1].ms:.1f}", colour=colour)
    return [*strokes, *line(places, colour), said]
