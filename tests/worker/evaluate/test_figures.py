"""Figures counted by hand on small cases."""

from __future__ import annotations

import numpy as np
import pytest

from worker.evaluation.quality_metrics import COUNT_NAMES, AnswerLists, KeywordTally, compute_auc, compute_interval

LABELS = {"s1": "surface", "s2": "surface", "m1": "semantic", "m2": "semantic", "da": "distinct_a", "db": "distinct_b"}


def listed(
    common: list[str], distinct_a: list[str], distinct_b: list[str], cap: int = 99, **margins: float
) -> AnswerLists:
    """Entries written with their folded phrases: ``leader/folded``; every labelled phrase is salient in a."""
    lists = {"common": common, "distinct_a": distinct_a, "distinct_b": distinct_b}
    whole = {name: [tuple(entry.split("/")) for entry in entries] for name, entries in lists.items()}
    shown = {name: entries[:cap] for name, entries in whole.items()}
    return AnswerLists(whole, shown, {**dict.fromkeys(LABELS, -1.0), **margins}, {})


def figures(
    one: AnswerLists, labels: dict[str, str] | None = None, frequent: frozenset[str] = frozenset()
) -> dict[str, float]:
    tally = KeywordTally()
    tally.add("x", "y", LABELS if labels is None else labels, one, frequent)
    return tally.compute_figures()


def test_a_sorting_without_a_mistake_scores_one() -> None:
    found = figures(listed(["s1", "s2", "m1", "m2"], ["da"], ["db"], m1=1, m2=1))
    for name in ("surface_recall", "semantic_f1", "distinct_f1", "macro_f1", "auc"):
        assert found[name] == 1.0


def test_every_figure_of_a_sorting_with_mistakes_is_what_one_counts_by_hand() -> None:
    # common: s1, m1 right, db wrong; m2 is put in distinct_a; s2 is nowhere; da is right
    found = figures(listed(["s1", "m1", "db"], ["da", "m2"], [], m1=2.0, m2=0.5, da=-3.0, db=1.0))
    assert found["surface_recall"] == 1 / 2
    assert found["semantic_f1"] == pytest.approx(2 * 1 / (2 + 2))  # 1 hit, 2 one-sided put in common, 2 wanted
    assert found["distinct_f1"] == pytest.approx(2 * 1 / (2 + 2))  # 1 hit, 2 one-sided put in distinct, 2 wanted
    assert found["macro_f1"] == pytest.approx(1 / 2)
    assert found["auc"] == 3 / 4  # m1 is above da and db, m2 only above da


def test_the_wrong_sides_distinct_list_is_no_hit() -> None:
    found = figures(listed([], ["db"], ["da"]))
    assert found["distinct_f1"] == 0


def test_sorting_counts_salient_phrases_only_and_showing_all_of_them() -> None:
    lists = {"common": [("s1",)], "distinct_a": [], "distinct_b": []}
    found = figures(AnswerLists(lists, lists, {"s1": 1.0}, {}))
    assert found["surface_recall"] == 1.0
    assert found["surface_at3"] == 1 / 2
    assert found["semantic_f1"] == found["distinct_f1"] == 0.0


def test_a_folded_phrase_counts_as_being_in_the_list_of_its_leader() -> None:
    found = figures(listed(["x/s1/m1", "s2"], ["y/da"], []))
    assert found["surface_recall"] == 1.0
    assert found["surface_at3"] == 1.0
    assert found["semantic_at3"] == 1 / 2
    assert found["distinct_at3"] == 1 / 2


def test_showing_counts_the_first_three_and_the_first_eight() -> None:
    common = ["f1", "f2", "s1", "s2", "f3", "f4", "f5", "m1", "m2"]
    found = figures(listed(common, ["g1", "g2", "g3", "da"], ["db"]), frequent=frozenset({"f1", "g1", "m2"}))
    assert (found["surface_at3"], found["surface_at8"]) == (1 / 2, 1.0)
    assert (found["semantic_at3"], found["semantic_at8"]) == (0.0, 1 / 2)
    assert (found["distinct_at3"], found["distinct_at8"]) == (1 / 2, 1.0)
    assert (found["common_size"], found["distinct_size"]) == (9.0, 5 / 2)
    assert found["frequent_share"] == 2 / (8 + 4 + 1)  # m2 stands ninth


def test_sorting_is_measured_on_whole_lists_and_showing_on_what_a_reader_gets() -> None:
    found = figures(listed(["x", "s1", "s2"], ["da"], ["db"], cap=2))
    assert found["surface_recall"] == 1.0
    assert found["surface_at3"] == 1 / 2
    assert found["common_size"] == 2.0


def test_figures_pool_counts_over_pairs_and_do_not_average_pairs() -> None:
    tally = KeywordTally()
    tally.add("x", "y", {"s1": "surface"}, listed(["s1"], [], []), frozenset())
    tally.add("y", "z", {"s1": "surface", "s2": "surface", "s3": "surface"}, listed([], [], [], s3=0), frozenset())
    assert tally.compute_figures()["surface_recall"] == 1 / 4
    assert tally.compute_figures(np.array([3.0, 1.0]))["surface_recall"] == 3 / 6
    assert tally.compute_figures(np.array([0.0, 0.0]))["surface_recall"] == 0.0


def test_a_tally_of_nothing_has_no_figures() -> None:
    assert KeywordTally().compute_figures() == {}
    assert KeywordTally().resample_figures(5, seed=1) == []


def test_a_count_is_kept_for_every_name() -> None:
    tally = KeywordTally()
    tally.add("x", "y", LABELS, listed([], [], []), frozenset())
    assert tally.rows[0].shape == (len(COUNT_NAMES),)
    assert len(set(COUNT_NAMES)) == len(COUNT_NAMES)


def test_resampling_by_document_is_the_same_for_the_same_seed() -> None:
    tally = KeywordTally()
    for n in range(30):
        hits = ["s1", "m1"] if n % 3 else ["m2"]
        tally.add(f"d{n}", f"d{n + 1}", LABELS, listed(hits, ["da"], ["m2"], m1=n, m2=-n), frozenset())
    one, again, other = (
        tally.resample_figures(20, seed=1),
        tally.resample_figures(20, seed=1),
        tally.resample_figures(20, seed=2),
    )
    assert one == again != other
    assert len({sample["macro_f1"] for sample in one}) > 5
    low, high = compute_interval([sample["surface_recall"] for sample in one])
    assert low < tally.compute_figures()["surface_recall"] < high


def test_a_pair_counts_as_often_as_both_its_documents_were_drawn() -> None:
    """With one pair of two documents a sample holds it 0 (one document drawn twice) or 1 time."""
    tally = KeywordTally()
    tally.add("x", "y", {"s1": "surface"}, listed(["s1"], [], []), frozenset())
    assert {sample["surface_recall"] for sample in tally.resample_figures(50, seed=1)} == {0.0, 1.0}


@pytest.mark.parametrize(
    ("score", "positive", "weight", "auc"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], [1, 1, 1, 1], 1.0),
        ([4, 3, 2, 1], [0, 0, 1, 1], [1, 1, 1, 1], 0.0),
        ([1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], 0.5),
        ([1, 2, 2, 3], [0, 0, 1, 1], [1, 1, 1, 1], 3.5 / 4),
        ([1, 2, 3], [1, 0, 1], [3, 1, 1], 1 / 4),
        ([1, 2], [1, 1], [1, 1], 0.5),
        ([], [], [], 0.5),
    ],
)
def test_the_area_under_the_curve_is_the_chance_to_be_above(
    score: list[float], positive: list[int], weight: list[float], auc: float
) -> None:
    arrays = np.array(score, dtype=float), np.array(positive, dtype=bool), np.array(weight, dtype=float)
    assert compute_auc(*arrays) == pytest.approx(auc)


def test_an_interval_is_the_middle_of_the_samples() -> None:
    assert compute_interval([float(n) for n in range(101)]) == pytest.approx((2.5, 97.5))
    assert compute_interval([0.3]) == (0.3, 0.3)
