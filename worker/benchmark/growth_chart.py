"""SVG chart of the time of a cold comparison against the size of the corpus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from worker.benchmark.environment import BenchEnvironment
from worker.svg import GREY, Axis, choose_axis_step, draw_horizontal_grid, draw_line, draw_svg, draw_text

WIDTH, HEIGHT = 640, 360
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 64, 132, 44, 52
COLOURS = {"embedded": "#0b6e4f", "elasticsearch": "#9a3b00"}


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """Median and 95th percentile, in milliseconds, of a cold comparison on a corpus of one size."""

    engine: str
    documents: int
    ms: float
    p95: float


def measure_growth_points(environment: BenchEnvironment) -> list[GrowthPoint]:
    """Measure every size on every engine, alternating between sizes."""
    points = []
    for kind in environment.engines:
        steps = {str(size): environment.build_cold_step(kind, size) for size in environment.corpus.sizes}
        for size, times in environment.time_steps(steps, len(environment.pairs)).items():
            points.append(GrowthPoint(kind, int(size), round(1000 * times.median, 3), round(1000 * times.p95, 3)))
    return points


def draw_growth_chart(points: Sequence[GrowthPoint]) -> str:
    """Draw sizes on a logarithmic axis, medians as lines, and 95th percentiles as strokes above them."""
    highest = max(point.p95 for point in points) * 1.1
    x = Axis([math.log10(point.documents) for point in points], MARGIN_LEFT, WIDTH - MARGIN_RIGHT)
    y = Axis([0.0, highest], HEIGHT - MARGIN_BOTTOM, MARGIN_TOP)
    parts = [
        draw_text(MARGIN_LEFT, 22, "Cold comparison, ms (line: median, stroke: 95th percentile)", size=13),
        *draw_horizontal_grid(y, choose_axis_step(highest), MARGIN_LEFT, WIDTH - MARGIN_RIGHT),
        *_draw_size_axis(points, x),
    ]
    for engine in dict.fromkeys(point.engine for point in points):
        parts += _draw_engine_line([point for point in points if point.engine == engine], x, y)
    return draw_svg(WIDTH, HEIGHT, "Cold comparison against corpus size", parts)


def _draw_size_axis(points: Sequence[GrowthPoint], x_axis: Axis) -> list[str]:
    base = HEIGHT - MARGIN_BOTTOM
    sizes = sorted({point.documents for point in points})
    return [
        *(draw_text(x_axis(math.log10(size)), base + 20, f"{size:,}", anchor="middle") for size in sizes),
        f'<path d="M{MARGIN_LEFT} {base}H{WIDTH - MARGIN_RIGHT}" stroke="{GREY}"/>',
        draw_text((MARGIN_LEFT + WIDTH - MARGIN_RIGHT) / 2, HEIGHT - 10, "documents", anchor="middle"),
    ]


def _draw_engine_line(points: Sequence[GrowthPoint], x_axis: Axis, y_axis: Axis) -> list[str]:
    colour = COLOURS.get(points[0].engine, "#333")
    positions = [(x_axis(math.log10(point.documents)), y_axis(point.ms)) for point in points]
    highs = [y_axis(point.p95) for point in points]
    strokes = [
        f'<path d="M{left} {bottom}V{high}" stroke="{colour}" stroke-opacity="0.5"/>'
        for (left, bottom), high in zip(positions, highs, strict=True)
    ]
    left, bottom = positions[-1]
    label = draw_text(left + 8, bottom + 4, f"{points[0].engine} {points[-1].ms:.1f}", colour=colour)
    return [*strokes, *draw_line(positions, colour), label]
