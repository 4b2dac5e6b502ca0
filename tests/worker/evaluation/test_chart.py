"""The chart of varied parameters: a panel for each, with the value of the preset among the others."""

from __future__ import annotations

from xml.etree import ElementTree

from worker.evaluation.parameter_chart import FIGURE_COLOURS, draw_parameter_chart, get_preset_value

SVG = "{http://www.w3.org/2000/svg}"


def make_row(preset: str, value: float, **changes: object) -> dict[str, object]:
    return {"method": "cda", "preset": preset, "changes": changes, "figures": dict.fromkeys(FIGURE_COLOURS, value)}


def test_every_varied_parameter_has_a_panel_with_the_value_of_the_preset() -> None:
    rows = [
        make_row("default", 0.5),
        make_row("default", 0.4, cut=0),
        make_row("default", 0.3, cut=9),
        make_row("default", 0.2, alpha=1),
    ]
    drawing = ElementTree.fromstring(draw_parameter_chart({"rows": rows}))
    words = [element.text for element in drawing.iter(f"{SVG}text")]
    assert [word for word in words if word and word.startswith("default:")] == ["default: cut", "default: alpha"]
    assert [
        f"{get_preset_value('default', 'cut'):g}" in words,
        f"{get_preset_value('default', 'alpha'):g}" in words,
    ] == [True, True]
    dots = list(drawing.iter(f"{SVG}circle"))
    assert len(dots) == (3 + 2) * len(FIGURE_COLOURS), "a dot for each value and figure"


def test_preset_values_include_lambda_and_neighbours() -> None:
    assert (get_preset_value("paper", "lambda"), get_preset_value("default", "neighbours")) == (0.1, 200)
