"""SVG chart of figures against parameter values, with a panel for each varied parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from worker.explain.spec import DEFAULT_NEIGHBOURS
from worker.solver.parameters import PRESETS
from worker.svg import Axis, draw_horizontal_grid, draw_line, draw_svg, draw_text

FIGURE_COLOURS = {"macro_f1": "#0b6e4f", "semantic_f1": "#9a3b00", "distinct_f1": "#2c4fb0", "auc": "#6b5b00"}
PANEL_WIDTH, PANEL_HEIGHT = 260, 220
PANELS_PER_ROW = 3
_MARGIN_LEFT, _MARGIN_RIGHT, _MARGIN_TOP, _MARGIN_BOTTOM = 44, 16, 56, 40

Points = list[tuple[Any, Mapping[str, float]]]
"""Values of a parameter with the figures measured at each."""


def draw_parameter_chart(evaluation: Mapping[str, Any]) -> str:
    """Return the chart of a result of ``evaluate_keywords`` that has rows of varied parameters."""
    panels = _group_points_by_panel(evaluation["rows"])
    parts = []
    for number, (title, points) in enumerate(panels.items()):
        left, top = number % PANELS_PER_ROW * PANEL_WIDTH, number // PANELS_PER_ROW * PANEL_HEIGHT
        parts.append(f'<g transform="translate({left} {top + 24})">{"".join(_draw_panel(title, points))}</g>')
    legend = [
        draw_text(_MARGIN_LEFT + 130 * n, 18, f"● {name.replace('_', ' ')}", colour=c)
        for n, (name, c) in enumerate(FIGURE_COLOURS.items())
    ]
    height = 24 + PANEL_HEIGHT * -(-len(panels) // PANELS_PER_ROW)
    return draw_svg(PANEL_WIDTH * PANELS_PER_ROW, height, "Figures against parameters", [*legend, *parts])


def _group_points_by_panel(rows: Sequence[Mapping[str, Any]]) -> dict[str, Points]:
    """Group the points by preset and parameter, in order of the values and with the preset's own value among them."""
    plain = {row["preset"]: row["figures"] for row in rows if row["method"] == "cda" and not row["changes"]}
    panels: dict[str, Points] = {}
    for row in rows:
        for parameter, value in row["changes"].items():
            panels.setdefault(f"{row['preset']}: {parameter}", []).append((value, row["figures"]))
    for title, points in panels.items():
        preset, _, parameter = title.partition(": ")
        preset_value = get_preset_value(preset, parameter)
        if preset in plain and preset_value is not None and preset_value not in [value for value, _ in points]:
            points.append((preset_value, plain[preset]))
        points.sort(key=lambda point: point[0])
    return panels


def get_preset_value(preset: str, parameter: str) -> Any:
    """Return the value that a preset has for a parameter."""
    if parameter == "neighbours":
        return DEFAULT_NEIGHBOURS[preset]
    return PRESETS[preset].get_option(parameter)


def _draw_panel(title: str, points: Points) -> list[str]:
    x = Axis([0, max(1, len(points) - 1)], _MARGIN_LEFT + 12, PANEL_WIDTH - _MARGIN_RIGHT - 12)
    y = Axis([0.0, 1.0], PANEL_HEIGHT - _MARGIN_BOTTOM, _MARGIN_TOP)
    parts = [
        draw_text(_MARGIN_LEFT, _MARGIN_TOP - 16, title, size=13),
        *draw_horizontal_grid(y, 0.25, _MARGIN_LEFT, PANEL_WIDTH - _MARGIN_RIGHT),
    ]
    for column, (value, _) in enumerate(points):
        parts.append(draw_text(x(column), PANEL_HEIGHT - _MARGIN_BOTTOM + 18, f"{value:g}", anchor="middle"))
    for name, colour in FIGURE_COLOURS.items():
        parts += draw_line([(x(column), y(figures[name])) for column, (_, figures) in enumerate(points)], colour)
    return parts
