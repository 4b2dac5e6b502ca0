"""The page about judged comparisons says what the verdicts say."""

from __future__ import annotations

from tests.tools.judged_report import HERE, compute_struck_share, format_report, read_judged_phrases


def test_the_page_is_written_from_the_verdicts() -> None:
    assert (HERE / "JUDGED.md").read_text("utf-8") == format_report()


def test_readers_strike_out_less_of_the_default_than_of_the_paper_preset() -> None:
    every = list(read_judged_phrases())
    ours, literal = ([p for p in every if p.preset == preset] for preset in ("default", "paper"))
    assert compute_struck_share(ours) < compute_struck_share(literal)
