"""Evaluation over pairs of an index: every method in one table, with its distance to containment."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from tests.support.comparisons import INDEX
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun, compute_text_cosine, evaluate_keywords, vary_parameter
from worker.evaluation.gold import GoldDocument, GoldPair
from worker.evaluation.quality_metrics import SORTING_FIGURES
from worker.solver.parameters import DEFAULT


def test_every_run_is_a_row_over_the_same_pairs(embedded_comparer: Comparer, gold_pairs: list[GoldPair]) -> None:
    runs = [MethodRun("cda", "default"), MethodRun("cda", "paper"), MethodRun("containment", "default")]
    reported: list[tuple[int, int]] = []
    table = evaluate_keywords(
        embedded_comparer, INDEX, gold_pairs, runs, resamples=20, progress=lambda *done: reported.append(done)
    )
    assert table["pairs"] == len(gold_pairs)
    assert reported[-1] == (len(gold_pairs), len(gold_pairs))
    assert sum(table["labels"].values()) == sum(len(pair.labels) for pair in gold_pairs)
    assert [row["name"] for row in table["rows"]] == ["cda/default", "cda/paper", "containment"]
    for row in table["rows"]:
        assert set(row["intervals"]) == set(SORTING_FIGURES)
        for name in SORTING_FIGURES:
            low, high = row["intervals"][name]
            assert 0 <= low <= high <= 1
        assert ("above_containment" in row) == (row["name"] != "containment")
        assert all(0 <= figures["surface_recall"] <= 1 for figures in row["bands"].values())


def test_bands_separate_pairs_with_a_keyword_in_both_texts(
    embedded_comparer: Comparer, gold_pairs: list[GoldPair]
) -> None:
    with_shared_keyword = [pair for pair in gold_pairs if "surface" in pair.labels.values()]
    without_shared_keyword = [pair for pair in gold_pairs if pair not in with_shared_keyword]
    assert with_shared_keyword and without_shared_keyword
    run = MethodRun("cda", "default")
    (row,) = evaluate_keywords(embedded_comparer, INDEX, gold_pairs, [run], resamples=2)["rows"]
    for name, subset in (
        ("a keyword in both texts", with_shared_keyword),
        ("no keyword in both texts", without_shared_keyword),
    ):
        (alone,) = evaluate_keywords(embedded_comparer, INDEX, subset, [run], resamples=2)["rows"]
        assert row["bands"][name] == pytest.approx(alone["figures"])


def test_containment_finds_all_surface_keywords_and_no_semantic_ones(
    embedded_comparer: Comparer, gold_pairs: list[GoldPair]
) -> None:
    (row,) = evaluate_keywords(
        embedded_comparer, INDEX, gold_pairs, [MethodRun("containment", "default")], resamples=2
    )["rows"]
    assert row["figures"]["surface_recall"] == 1.0
    assert row["figures"]["semantic_f1"] == 0.0
    assert row["figures"]["auc"] == 0.5


def test_evaluating_twice_gives_the_same_table(embedded_comparer: Comparer, gold_pairs: list[GoldPair]) -> None:
    tables = [
        evaluate_keywords(embedded_comparer, INDEX, gold_pairs[:6], [MethodRun("cda", "default")], resamples=5)
        for _ in range(2)
    ]
    assert tables[0] == tables[1]


def test_no_pairs_give_an_empty_row(embedded_comparer: Comparer) -> None:
    table = evaluate_keywords(
        embedded_comparer, INDEX, [], [MethodRun("cda", "default"), MethodRun("containment", "default")], resamples=5
    )
    assert [row["figures"] for row in table["rows"]] == [{}, {}]


def test_the_cosine_of_texts_depends_on_their_shared_words(
    embedded_comparer: Comparer, gold_pairs: list[GoldPair]
) -> None:
    pair = gold_pairs[0]
    assert compute_text_cosine(embedded_comparer, INDEX, GoldPair(pair.a, pair.a, {})) == pytest.approx(1.0)
    assert 0 < compute_text_cosine(embedded_comparer, INDEX, pair) < 1
    empty = GoldDocument(Document("e"), "", frozenset())
    assert compute_text_cosine(embedded_comparer, INDEX, GoldPair(pair.a, empty, {})) == 0.0


def test_a_varied_parameter_gives_rows_of_its_own(embedded_comparer: Comparer, gold_pairs: list[GoldPair]) -> None:
    plain = [MethodRun("cda", "default"), MethodRun("containment", "default")]
    runs = [*plain, *vary_parameter(plain, "cut", [DEFAULT.cut, 50.0])]
    runs += vary_parameter(plain, "odds_implied_intercept", [3.0])
    rows = evaluate_keywords(embedded_comparer, INDEX, gold_pairs, runs, resamples=2)["rows"]
    assert [row["name"] for row in rows] == [
        "cda/default",
        "containment",
        f"cda/default cut={DEFAULT.cut}",
        "cda/default cut=50.0",
        "cda/default odds_implied_intercept=3.0",
    ]
    figures = [row["figures"] for row in rows]
    assert figures[2] == figures[0], "the preset's own value changes nothing"
    assert figures[4]["implied_share"] > 0, "a shown phrase that one text lacks counts as implied"
    assert figures[3]["semantic_f1"] == figures[3]["implied_share"] == 0.0, "nothing reaches so high a threshold"
