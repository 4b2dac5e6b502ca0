"""Evaluation over pairs of an index: every method in one table, with its distance to containment."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_document
from tests.support.comparisons import INDEX
from tests.support.corpora.planted_pairs import PHRASES
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun, compute_text_cosine, evaluate_keywords, vary_parameter
from worker.evaluation.gold import GoldDocument, GoldPair, label_pair
from worker.evaluation.quality_metrics import SORTING_FIGURES
from worker.solver.parameters import DEFAULT

LEMMAS = Lemmatizer("en")


def gold(document: Document) -> GoldDocument:
    """Its keywords: all phrases of the fields that it holds, and the field's second phrase always."""
    tokens = lemmatize_document(document, LEMMAS)
    held = {phrase for phrases in PHRASES.values() for phrase in phrases if f" {phrase} " in f" {tokens} "}
    (field,) = document.facets["source"]
    return GoldDocument(document, tokens, frozenset({*held, PHRASES[field][1]}))


@pytest.fixture(scope="module")
def pairs(documents: dict[str, Document]) -> list[GoldPair]:
    names = [(f"d{n:04}", f"d{n + 6:04}") for n in range(0, 60, 2)]
    return [label_pair(gold(documents[a]), gold(documents[b])) for a, b in names]


def test_every_run_is_a_row_over_the_same_pairs(embedded_comparer: Comparer, pairs: list[GoldPair]) -> None:
    runs = [MethodRun("cda", "default"), MethodRun("cda", "paper"), MethodRun("containment", "default")]
    heard: list[tuple[int, int]] = []
    table = evaluate_keywords(
        embedded_comparer, INDEX, pairs, runs, resamples=20, progress=lambda *done: heard.append(done)
    )
    assert table["pairs"] == len(pairs)
    assert heard[-1] == (len(pairs), len(pairs))
    assert sum(table["labels"].values()) == sum(len(pair.labels) for pair in pairs)
    assert [row["name"] for row in table["rows"]] == ["cda/default", "cda/paper", "containment"]
    for row in table["rows"]:
        assert set(row["intervals"]) == set(SORTING_FIGURES)
        for name in SORTING_FIGURES:
            low, high = row["intervals"][name]
            assert 0 <= low <= high <= 1
        assert ("above_containment" in row) == (row["name"] != "containment")
        assert all(0 <= figures["surface_recall"] <= 1 for figures in row["bands"].values())


def test_pairs_are_told_apart_by_whether_a_keyword_of_both_stands_in_both(
    embedded_comparer: Comparer, pairs: list[GoldPair]
) -> None:
    openly = [pair for pair in pairs if "surface" in pair.labels.values()]
    others = [pair for pair in pairs if pair not in openly]
    assert openly and others
    run = MethodRun("cda", "default")
    (row,) = evaluate_keywords(embedded_comparer, INDEX, pairs, [run], resamples=2)["rows"]
    for name, some in (("a keyword in both texts", openly), ("no keyword in both texts", others)):
        (alone,) = evaluate_keywords(embedded_comparer, INDEX, some, [run], resamples=2)["rows"]
        assert row["bands"][name] == pytest.approx(alone["figures"])


def test_containment_finds_all_that_both_texts_hold_and_nothing_implied(
    embedded_comparer: Comparer, pairs: list[GoldPair]
) -> None:
    (row,) = evaluate_keywords(embedded_comparer, INDEX, pairs, [MethodRun("containment", "default")], resamples=2)[
        "rows"
    ]
    assert row["figures"]["surface_recall"] == 1.0
    assert row["figures"]["semantic_f1"] == 0.0
    assert row["figures"]["auc"] == 0.5


def test_evaluating_twice_gives_the_same_table(embedded_comparer: Comparer, pairs: list[GoldPair]) -> None:
    tables = [
        evaluate_keywords(embedded_comparer, INDEX, pairs[:6], [MethodRun("cda", "default")], resamples=5)
        for _ in range(2)
    ]
    assert tables[0] == tables[1]


def test_no_pairs_give_an_empty_row(embedded_comparer: Comparer) -> None:
    table = evaluate_keywords(
        embedded_comparer, INDEX, [], [MethodRun("cda", "default"), MethodRun("containment", "default")], resamples=5
    )
    assert [row["figures"] for row in table["rows"]] == [{}, {}]


def test_texts_are_as_alike_as_the_words_they_share(embedded_comparer: Comparer, pairs: list[GoldPair]) -> None:
    pair = pairs[0]
    assert compute_text_cosine(embedded_comparer, INDEX, GoldPair(pair.a, pair.a, {})) == pytest.approx(1.0)
    assert 0 < compute_text_cosine(embedded_comparer, INDEX, pair) < 1
    empty = GoldDocument(Document("e"), "", frozenset())
    assert compute_text_cosine(embedded_comparer, INDEX, GoldPair(pair.a, empty, {})) == 0.0


def test_a_varied_parameter_gives_rows_of_its_own(embedded_comparer: Comparer, pairs: list[GoldPair]) -> None:
    plain = [MethodRun("cda", "default"), MethodRun("containment", "default")]
    runs = [*plain, *vary_parameter(plain, "cut", [DEFAULT.cut, 50.0])]
    rows = evaluate_keywords(embedded_comparer, INDEX, pairs, runs, resamples=2)["rows"]
    assert [row["name"] for row in rows] == [
        "cda/default",
        "containment",
        f"cda/default cut={DEFAULT.cut}",
        "cda/default cut=50.0",
    ]
    figures = [row["figures"] for row in rows]
    assert figures[2] == figures[0], "the preset's own value changes nothing"
    assert figures[0]["implied_share"] > 0, "a shown phrase that one text lacks counts as implied"
    assert figures[3]["semantic_f1"] == figures[3]["implied_share"] == 0.0, "nothing reaches so high a cut"
