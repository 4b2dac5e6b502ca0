"""How figures change with a parameter, drawn as SVG: a panel for each parameter that was varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from worker.explain.spec import NEIGHBOURS
from worker.solver.parameters import PRESETS
from worker.svg import Axis, line, picture, scale, text

FIGURES = {"macro_f1": "#0b6e4f", "semantic_f1": "#9a3b00", "distinct_f1": "#2c4fb0", "auc": "#6b5b00"}
WIDTH, HEIGHT = 260, 220
ACROSS = 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 56, 40


def draw(found: Mapping[str, Any]) -> str:
    """``found`` as ``evaluate_keywords`` returns it, with rows of varied parameters."""
    panels = _panels(found["rows"])
    parts = []
    for number, (title, points) in enumerate(panels.items()):
        left, top = number % ACROSS * WIDTH, number // ACROSS * HEIGHT
        parts.append(f'<g transform="translate({left} {top + 24})">{"".join(_panel(title, points))}</g>')
    legend = [
        text(_LEFT + 130 * n, 18, f"● {name.replace('_', ' ')}", colour=c)
        for n, (name, c) in enumerate(FIGURES.items())
    ]
    down = 24 + HEIGHT * -(-len(panels) // ACROSS)
    return picture(WIDTH * ACROSS, down, "Figures against parameters", [*legend, *parts])


Points = list[tuple[Any, Mapping[str, float]]]


def _panels(rows: Sequence[Mapping[str, Any]]) -> dict[str, Points]:
    """By preset and parameter, the values in order; the preset's own among them."""
    plain = {row["preset"]: row["figures"] for row in rows if row["method"] == "cda" and not row["changes"]}
    panels: dict[str, Points] = {}
    for row in rows:
        for parameter, value in row["changes"].items():
            panels.setdefault(f"{row['preset']}: {parameter}", []).append((value, row["figures"]))
    for title, points in panels.items():
        preset, _, parameter = title.partition(": ")
        own = usual(preset, parameter)
        if preset in plain and own is not None and own not in [value for value, _ in points]:
            points.append((own, plain[preset]))
        points.sort(key=lambda point: point[0])
    return panels


def usual(preset: str, parameter: str) -> Any:
    """What the preset has for a parameter."""
    if parameter == "neighbours":
        return NEIGHBOURS[preset]
    return getattr(PRESETS[preset], "lambda_" if parameter == "lambda" else parameter)


def _panel(title: str, points: Points) -> list[str]:
    x = Axis([0, max(1, len(points) - 1)], _LEFT + 12, WIDTH - _RIGHT - 12)
    y = Axis([0.0, 1.0], HEIGHT - _BOTTOM, _TOP)
    parts = [text(_LEFT, _TOP - 16, title, size=13), *scale(y, 0.25, _LEFT, WIDTH - _RIGHT)]
    for at, (value, _) in enumerate(points):
        parts.append(text(x(at), HEIGHT - _BOTTOM + 18, f"{value:g}", anchor="middle"))
    for name, colour in FIGURES.items():
        parts += line([(x(at), y(figures[name])) for at, (_, figures) in enumerate(points)], colour)
    return parts
