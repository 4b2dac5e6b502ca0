"""docs/results/judged.md agrees with the verdicts."""

from __future__ import annotations

from tests.tools.judged_report import REPORT, compute_struck_share, format_report, read_judged_phrases


def test_the_page_is_written_from_the_verdicts() -> None:
    assert REPORT.read_text("utf-8") == format_report()


def test_readers_strike_out_less_of_the_default_than_of_the_paper_preset() -> None:
    phrases = list(read_judged_phrases())
    default, paper = ([p for p in phrases if p.preset == preset] for preset in ("default", "paper"))
    assert compute_struck_share(default) < compute_struck_share(paper)
