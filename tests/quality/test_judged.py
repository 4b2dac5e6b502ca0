"""The page about judged comparisons says what the verdicts say."""

from __future__ import annotations

from tests.quality.judged import HERE, page, shown, struck


def test_the_page_is_written_from_the_verdicts() -> None:
    assert (HERE / "JUDGED.md").read_text("utf-8") == page()


def test_readers_strike_out_less_of_the_default_than_of_the_paper_preset() -> None:
    every = list(shown())
    ours, literal = ([p for p in every if p.preset == preset] for preset in ("default", "paper"))
    assert struck(ours) < struck(literal)
