"""The chart of times against corpus sizes."""

from __future__ import annotations

from xml.etree import ElementTree

from worker.benchmark.growth_chart import GrowthPoint, draw_growth_chart


def test_the_chart_is_valid_svg_and_shows_every_point() -> None:
    points = [GrowthPoint(kind, size, 10.0, 20.0) for kind in ("embedded", "elasticsearch") for size in (10, 100, 1000)]
    chart = ElementTree.fromstring(draw_growth_chart(points))
    circles = chart.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(points)
    words = {text.text for text in chart.findall("{http://www.w3.org/2000/svg}text")}
    assert {"10", "100", "1,000", "embedded 10.0", "elasticsearch 10.0"} <= words
