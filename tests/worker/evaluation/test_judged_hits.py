"""Figures by an editor's judgements of hits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from indexer.errors import BadInput
from indexer.progress import no_progress
from tests.support.comparisons import INDEX
from worker.comparer import Comparer
from worker.evaluation.judged_hits import (
    HALVES,
    JudgedHit,
    JudgedOutcome,
    choose_half,
    compute_judged_figures,
    evaluate_judged_hits,
    read_judged_hits,
    tells_reason,
)
from worker.evaluation.query_answers import HitAnswer, QueryRunner


@pytest.fixture(scope="module")
def runner(embedded_comparer: Comparer) -> QueryRunner:
    return QueryRunner(embedded_comparer, INDEX)


def write_judged(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def make_common(*phrases: str, score: float = 0.4) -> list[dict[str, Any]]:
    return [{"phrase": phrase, "display": phrase, "score": score, "kind": "shared"} for phrase in phrases]


def test_every_query_is_in_one_half_with_all_its_hits(tmp_path: Path) -> None:
    rows = [{"query": f"query {n // 2}", "hit": str(n), "relevance": 0} for n in range(400)]
    path = write_judged(tmp_path / "judged.jsonl", *rows)
    halves = {half: read_judged_hits(path, half) for half in HALVES}
    assert Counter(hit.hit for hits in halves.values() for hit in hits) == Counter(str(n) for n in range(400))
    assert all(choose_half(hit.query) == half for half, hits in halves.items() for hit in hits)
    assert all(150 < len(hits) < 250 for hits in halves.values())
    assert len(read_judged_hits(path)) == 400


@pytest.mark.parametrize(
    "row", [{"query": "a", "hit": "b"}, {"query": "a", "hit": "b", "relevance": 3}, {"hit": "b", "relevance": 1}]
)
def test_a_line_that_is_no_judgement_is_refused(tmp_path: Path, row: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="relevance"):
        read_judged_hits(write_judged(tmp_path / "judged.jsonl", row))


@pytest.mark.parametrize(
    ("reason", "is_told"),
    [
        ("honey bees", True),
        ("Bees", True),
        ("honey cake", True),
        ("the honey cake", True),
        ("brown honey cake", False),
        ("out of the", False),
        ("nectar", False),
    ],
)
def test_a_reason_is_told_by_an_entry_with_half_of_its_content_words(
    runner: QueryRunner, reason: str, is_told: bool
) -> None:
    told = runner.list_told_entries(HitAnswer("q", "a1", [], make_common("honey bee", "brown sugar")))
    assert tells_reason(runner, told, reason) is is_told


def test_a_phrase_of_both_texts_is_told_in_the_place_of_its_words(runner: QueryRunner) -> None:
    matched = [{"word": word, "as": word, "field": "text", "start": 0, "end": 1} for word in ("honey", "hive", "bee")]
    told = runner.list_told_entries(HitAnswer("q", "a1", matched, make_common("dance", "honey bee")))
    assert [entry.text for entry in told] == ["honey bee", "hive", "dance"]


def test_matched_words_are_told_before_other_phrases(runner: QueryRunner) -> None:
    matched = [{"word": "dances", "as": "Dance", "field": "text", "start": 3, "end": 8}]
    told = runner.list_told_entries(HitAnswer("q", "a1", matched, make_common("honey bee")))
    assert [entry.text for entry in told] == ["dances", "honey bee"]
    assert tells_reason(runner, told[:1], "dance")


def make_outcome(relevance: int, best_common: float = 0.0, is_matched: bool = False, **values: Any) -> JudgedOutcome:
    return JudgedOutcome(
        JudgedHit("q", "name", "a1", relevance),
        is_told=is_matched or best_common > 0,
        has_common=best_common > 0,
        best_common=best_common,
        is_reason_shown=values.get("is_reason_shown", False),
    )


def test_each_figure_counts_the_hits_of_its_class() -> None:
    outcomes = [
        make_outcome(2, is_matched=True, is_reason_shown=True),
        make_outcome(1, best_common=0.3),
        make_outcome(1),
        make_outcome(0, best_common=0.5),
        make_outcome(0, best_common=0.1),
        make_outcome(0, is_matched=True),
        make_outcome(0),
    ]
    figures = compute_judged_figures(outcomes, np.ones(7))
    assert figures == {
        "relevant_told": pytest.approx(2 / 3),
        "reason_at3": pytest.approx(1 / 3),
        "irrelevant_confident": 0.25,
        "irrelevant_told": 0.5,
        "auc": pytest.approx((1 + 3 + 1) / 12),
    }
    assert compute_judged_figures(outcomes, np.array([1.0, 0, 0, 0, 0, 0, 0])) == {
        "relevant_told": 1.0,
        "reason_at3": 1.0,
        "irrelevant_confident": None,
        "irrelevant_told": None,
        "auc": None,
    }


def test_only_the_first_three_reasons_are_shown(runner: QueryRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    phrases = ["honey bee", "queen cell", "brood nest", "waggle dance"]
    monkeypatch.setattr(
        runner, "explain", lambda query, ids: [HitAnswer(query, id, [], make_common(*phrases)) for id in ids]
    )
    judged = [JudgedHit("q", "name", id, 2, (reason,)) for id, reason in (("a1", "brood nest"), ("b1", "waggle dance"))]
    result = evaluate_judged_hits(runner, judged, 1, [], no_progress)
    assert result["figures"]["reason_at3"] == 0.5
    assert result["figures"]["relevant_told"] == 1


def test_judged_hits_are_explained_against_their_query_and_counted_by_kind(runner: QueryRunner) -> None:
    judged = [
        JudgedHit("waggle dance", "name", "a1", 2, ("waggle dance",)),
        JudgedHit("waggle dance", "name", "gone", 2, ("waggle dance",)),
        JudgedHit("baking bread", "need", "a2", 1, ("rye flour",)),
        JudgedHit("baking bread", "need", "b1", 0),
    ]
    answers: list[HitAnswer] = []
    result = evaluate_judged_hits(runner, judged, 1, answers, no_progress)
    assert [(answer.query, answer.hit) for answer in answers] == [
        ("waggle dance", "a1"),
        ("baking bread", "a2"),
        ("baking bread", "b1"),
    ]
    assert (result["queries"], result["unknown"]) == (2, 1)
    assert result["of"]["relevant_told"] == 2
    assert result["kinds"]["name"]["figures"]["relevant_told"] == 1
    assert result["kinds"]["need"]["of"]["irrelevant_told"] == 1
    assert set(result["intervals"]) == set(result["figures"])


def test_judgements_of_other_documents_are_refused(runner: QueryRunner) -> None:
    with pytest.raises(BadInput, match=f"no judged hit is in the index {INDEX}"):
        evaluate_judged_hits(runner, [JudgedHit("q", "name", "gone", 2)], 1, [], no_progress)
