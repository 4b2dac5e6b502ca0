"""Figures of small cases, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from worker.evaluation.quality_metrics import COUNT_NAMES, AnswerLists, KeywordTally, compute_auc, compute_interval

LABELS = {"s1": "surface", "s2": "surface", "m1": "semantic", "m2": "semantic", "da": "distinct_a", "db": "distinct_b"}


def make_lists(
    common: list[str], distinct_a: list[str], distinct_b: list[str], cap: int = 99, **margins: float
) -> AnswerLists:
    """Make lists of entries written as ``representative/merged``; every labelled phrase is salient in a."""
    lists = {"common": common, "distinct_a": distinct_a, "distinct_b": distinct_b}
    all_entries = {name: [tuple(entry.split("/")) for entry in entries] for name, entries in lists.items()}
    shown_entries = {name: entries[:cap] for name, entries in all_entries.items()}
    return AnswerLists(all_entries, shown_entries, {**dict.fromkeys(LABELS, -1.0), **margins}, {})


def compute_figures(
    lists: AnswerLists, labels: dict[str, str] | None = None, frequent: frozenset[str] = frozenset()
) -> dict[str, float]:
    tally = KeywordTally()
    tally.add("x", "y", LABELS if labels is None else labels, lists, frequent)
    return tally.compute_figures()


def test_a_result_without_mistakes_scores_one() -> None:
    figures = compute_figures(make_lists(["s1", "s2", "m1", "m2"], ["da"], ["db"], m1=1, m2=1))
    for name in ("surface_recall", "semantic_f1", "distinct_f1", "macro_f1", "auc"):
        assert figures[name] == 1.0


def test_the_figures_of_a_result_with_mistakes_are_as_counted_by_hand() -> None:
    # common: s1, m1 right, db wrong; m2 is put in distinct_a; s2 is nowhere; da is right
    figures = compute_figures(make_lists(["s1", "m1", "db"], ["da", "m2"], [], m1=2.0, m2=0.5, da=-3.0, db=1.0))
    assert figures["surface_recall"] == 1 / 2
    assert figures["semantic_f1"] == pytest.approx(2 * 1 / (2 + 2))  # 1 hit, 2 one-sided put in common, 2 wanted
    assert figures["distinct_f1"] == pytest.approx(2 * 1 / (2 + 2))  # 1 hit, 2 one-sided put in distinct, 2 wanted
    assert figures["macro_f1"] == pytest.approx(1 / 2)
    assert figures["auc"] == 3 / 4  # m1 is above da and db, m2 only above da


def test_the_distinct_list_of_the_wrong_side_does_not_count() -> None:
    figures = compute_figures(make_lists([], ["db"], ["da"]))
    assert figures["distinct_f1"] == 0


def test_recall_counts_salient_phrases_only_and_at3_all_of_them() -> None:
    lists = {"common": [("s1",)], "distinct_a": [], "distinct_b": []}
    figures = compute_figures(AnswerLists(lists, lists, {"s1": 1.0}, {}))
    assert figures["surface_recall"] == 1.0
    assert figures["surface_at3"] == 1 / 2
    assert figures["semantic_f1"] == figures["distinct_f1"] == 0.0


def test_a_merged_phrase_counts_as_in_the_list_of_its_representative() -> None:
    figures = compute_figures(make_lists(["x/s1/m1", "s2"], ["y/da"], []))
    assert figures["surface_recall"] == 1.0
    assert figures["surface_at3"] == 1.0
    assert figures["semantic_at3"] == 1 / 2
    assert figures["distinct_at3"] == 1 / 2


def test_at3_and_at8_count_the_first_entries() -> None:
    common = ["f1", "f2", "s1", "s2", "f3", "f4", "f5", "m1", "m2"]
    figures = compute_figures(
        make_lists(common, ["g1", "g2", "g3", "da"], ["db"]), frequent=frozenset({"f1", "g1", "m2"})
    )
    assert (figures["surface_at3"], figures["surface_at8"]) == (1 / 2, 1.0)
    assert (figures["semantic_at3"], figures["semantic_at8"]) == (0.0, 1 / 2)
    assert (figures["distinct_at3"], figures["distinct_at8"]) == (1 / 2, 1.0)
    assert (figures["common_size"], figures["distinct_size"]) == (9.0, 5 / 2)
    assert figures["frequent_share"] == 2 / (8 + 4 + 1)  # m2 is the ninth


def test_recall_is_measured_on_whole_lists_and_at3_on_shown_ones() -> None:
    figures = compute_figures(make_lists(["x", "s1", "s2"], ["da"], ["db"], cap=2))
    assert figures["surface_recall"] == 1.0
    assert figures["surface_at3"] == 1 / 2
    assert figures["common_size"] == 2.0


def test_figures_pool_counts_over_pairs_and_do_not_average_pairs() -> None:
    tally = KeywordTally()
    tally.add("x", "y", {"s1": "surface"}, make_lists(["s1"], [], []), frozenset())
    tally.add("y", "z", {"s1": "surface", "s2": "surface", "s3": "surface"}, make_lists([], [], [], s3=0), frozenset())
    assert tally.compute_figures()["surface_recall"] == 1 / 4
    assert tally.compute_figures(np.array([3.0, 1.0]))["surface_recall"] == 3 / 6
    assert tally.compute_figures(np.array([0.0, 0.0]))["surface_recall"] == 0.0


def test_a_tally_of_nothing_has_no_figures() -> None:
    assert KeywordTally().compute_figures() == {}
    assert KeywordTally().resample_figures(5, seed=1) == []


def test_a_tally_has_a_count_for_every_name() -> None:
    tally = KeywordTally()
    tally.add("x", "y", LABELS, make_lists([], [], []), frozenset())
    assert tally.rows[0].shape == (len(COUNT_NAMES),)
    assert len(set(COUNT_NAMES)) == len(COUNT_NAMES)


def test_resampling_by_document_is_the_same_for_the_same_seed() -> None:
    tally = KeywordTally()
    for n in range(30):
        common = ["s1", "m1"] if n % 3 else ["m2"]
        tally.add(f"d{n}", f"d{n + 1}", LABELS, make_lists(common, ["da"], ["m2"], m1=n, m2=-n), frozenset())
    samples, again, other = (tally.resample_figures(20, seed=seed) for seed in (1, 1, 2))
    assert samples == again != other
    assert len({sample["macro_f1"] for sample in samples}) > 5
    low, high = compute_interval([sample["surface_recall"] for sample in samples])
    assert low < tally.compute_figures()["surface_recall"] < high


def test_a_pair_is_resampled_only_if_both_its_documents_are() -> None:
    """A sample of one pair's two documents has it once, or not at all if one document is drawn twice."""
    tally = KeywordTally()
    tally.add("x", "y", {"s1": "surface"}, make_lists(["s1"], [], []), frozenset())
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
def test_auc_is_the_probability_that_a_positive_ranks_above_a_negative(
    score: list[float], positive: list[int], weight: list[float], auc: float
) -> None:
    arrays = np.array(score, dtype=float), np.array(positive, dtype=bool), np.array(weight, dtype=float)
    assert compute_auc(*arrays) == pytest.approx(auc)


def test_an_interval_is_the_middle_of_the_samples() -> None:
    assert compute_interval([float(n) for n in range(101)]) == pytest.approx((2.5, 97.5))
    assert compute_interval([0.3]) == (0.3, 0.3)
