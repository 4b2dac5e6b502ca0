"""Properties that every method has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import BadParameter, UnknownMethod
from tests.support.problems import make_problem, make_random_problem, replace_features
from worker.methods.base import MethodResult, PairProblem, RankedList
from worker.methods.registry import METHODS, get_method
from worker.solver.parameters import DEFAULT, PAPER, Parameters

NAMES = list(METHODS)
OWN_PHRASES = {"word_match"}
NEED_GRAPH = {"cda", "cda_two_step", "cda_alter_mea"}
PARAMETERS = {"paper": PAPER.with_options(tolerance=1e-13), "default": DEFAULT, "joint": DEFAULT.with_options(
    threshold="mean", kappa=3.0, lambda_=0.3, tolerance=1e-13)}  # fmt: skip
seeds = st.integers(0, 2**32 - 1)
presets = st.sampled_from(sorted(PARAMETERS))


def get_lists(result: MethodResult) -> tuple[RankedList, RankedList, RankedList]:
    return result.common, result.distinct_a, result.distinct_b


def name_phrases(result: MethodResult) -> tuple[list[str], list[str], list[str]]:
    a, b, c = ([result.phrases[i] for i in ranked.indices] for ranked in get_lists(result))
    return a, b, c


def is_clear_cut(result: MethodResult) -> bool:
    """Return whether no phrase is so close to its threshold that rounding decides."""
    return bool((np.abs(result.margin) > 1e-6).all())


@pytest.mark.parametrize("name", NAMES)
class TestEveryMethod:
    @settings(max_examples=40, deadline=None)
    @given(seed=seeds, preset=presets)
    def test_lists_are_disjoint_and_hold_candidates_of_their_side(self, name: str, seed: int, preset: str) -> None:
        problem = make_random_problem(seed, PARAMETERS[preset])
        result = get_method(name).sort_phrases(problem)
        common, only_a, only_b = (set(phrases) for phrases in name_phrases(result))
        assert not common & only_a and not common & only_b and not only_a & only_b
        assert [len(set(ranked.indices.tolist())) for ranked in get_lists(result)] == [
            len(ranked) for ranked in get_lists(result)
        ]
        if name in OWN_PHRASES:
            assert only_a <= set(problem.a.tokens) and only_b <= set(problem.b.tokens)
            return
        assert result.phrases == problem.phrases
        assert problem.is_candidate[result.common.indices].all()
        assert (
            problem.a.is_salient[result.distinct_a.indices].all()
            and problem.b.is_salient[result.distinct_b.indices].all()
        )

    @settings(max_examples=40, deadline=None)
    @given(seed=seeds, preset=presets)
    def test_lists_are_ranked_best_first_with_finite_numbers(self, name: str, seed: int, preset: str) -> None:
        result = get_method(name).sort_phrases(make_random_problem(seed, PARAMETERS[preset]))
        size = len(result.phrases)
        for ranked in get_lists(result):
            assert ranked.indices.shape == ranked.scores.shape
            assert (np.diff(ranked.scores) <= 1e-8 * np.abs(ranked.scores[:-1])).all()
            assert np.isfinite(ranked.scores).all()
        for array in (result.relevance_a, result.relevance_b, result.margin):
            assert array.shape == (size,) and np.isfinite(array).all()
        assert (result.relevance_a >= 0).all() and (result.relevance_b >= 0).all()

    @settings(max_examples=40, deadline=None)
    @given(seed=seeds, preset=presets)
    def test_the_sign_of_the_margin_says_what_is_common(self, name: str, seed: int, preset: str) -> None:
        result = get_method(name).sort_phrases(make_random_problem(seed, PARAMETERS[preset]))
        chosen = np.isin(np.arange(len(result.phrases)), result.common.indices)
        assert (result.margin[chosen] >= -1e-9).all()
        others = np.concatenate([result.distinct_a.indices, result.distinct_b.indices])
        assert (result.margin[others] <= 1e-9).all()

    @settings(max_examples=40, deadline=None)
    @given(seed=seeds, preset=presets)
    def test_swapping_the_sides_swaps_the_lists(self, name: str, seed: int, preset: str) -> None:
        problem = make_random_problem(seed, PARAMETERS[preset])
        one, other = (
            get_method(name).sort_phrases(problem),
            get_method(name).sort_phrases(replace(problem, a=problem.b, b=problem.a)),
        )
        if not is_clear_cut(one):
            return
        (common, only_a, only_b), (common_2, only_a_2, only_b_2) = name_phrases(one), name_phrases(other)
        assert set(common) == set(common_2)
        if preset != "joint":  # the joint problem settles side by side, its ties only within its tolerance
            assert (common, only_a, only_b) == (common_2, only_b_2, only_a_2)

    @settings(max_examples=20, deadline=None)
    @given(seed=seeds, preset=presets)
    def test_the_same_problem_gives_the_same_bytes(self, name: str, seed: int, preset: str) -> None:
        runs = [get_method(name).sort_phrases(make_random_problem(seed, PARAMETERS[preset])) for _ in range(2)]
        one, other = (
            [a.tobytes() for r in get_lists(run) for a in (r.indices, r.scores)] + [run.margin.tobytes()]
            for run in runs
        )
        assert one == other

    @settings(max_examples=30, deadline=None)
    @given(seed=seeds)
    def test_the_order_of_the_candidates_does_not_matter(self, name: str, seed: int) -> None:
        problem = make_random_problem(seed, DEFAULT)
        texts = [" ".join(words) for words in problem.neighbour_texts]
        reversed_problem = make_problem(texts, list(problem.phrases)[::-1], parameters=DEFAULT)
        one = get_method(name).sort_phrases(make_problem(texts, list(problem.phrases), parameters=DEFAULT))
        if is_clear_cut(one):
            assert name_phrases(one) == name_phrases(get_method(name).sort_phrases(reversed_problem))

    @pytest.mark.parametrize("parameters", [PAPER, DEFAULT])
    def test_a_text_compared_with_itself_has_nothing_distinct(self, name: str, parameters: Parameters) -> None:
        text = "web graph link analysis web graph page rank"
        problem = make_problem([text, text, "other words here"], ["web graph", "link analysis"], parameters=parameters)
        result = get_method(name).sort_phrases(problem)
        assert len(result.distinct_a) == len(result.distinct_b) == 0

    @pytest.mark.parametrize("parameters", [PAPER, DEFAULT])
    def test_without_candidates_the_lists_are_empty(self, name: str, parameters: Parameters) -> None:
        result = get_method(name).sort_phrases(make_problem(["", "", "a b"], [], parameters=parameters))
        assert [len(ranked) for ranked in get_lists(result)] == [0, 0, 0]

    @pytest.mark.parametrize("parameters", [PAPER, DEFAULT])
    def test_an_empty_side_has_nothing_common(self, name: str, parameters: Parameters) -> None:
        problem = make_problem(
            ["web graph web graph", "", "x y"], ["web graph"], parameters=parameters.with_options(delta=0.0)
        )
        result = get_method(name).sort_phrases(problem)
        assert len(result.distinct_b) == 0
        if name != "cda_alter_mea":  # a sum is large where one side is
            assert len(result.common) == 0

    def test_it_is_registered_by_its_name(self, name: str) -> None:
        assert METHODS[name].name == name and get_method(name) is METHODS[name]


@pytest.mark.parametrize("name", sorted(NEED_GRAPH))
def test_a_method_that_needs_the_graph_says_so(name: str) -> None:
    with pytest.raises(BadParameter, match=f"{name} needs the phrase-document graph"):
        get_method(name).sort_phrases(replace(make_random_problem(1), graph=None))


@pytest.mark.parametrize("name", sorted(set(NAMES) - NEED_GRAPH))
def test_the_other_methods_work_without_the_graph(name: str) -> None:
    get_method(name).sort_phrases(replace(make_random_problem(1), graph=None))


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownMethod, match=r"no method named 'magic'; choose one of word_match, .*containment"):
        get_method("magic")


def make_changed_problem(**changes: object) -> PairProblem:
    return replace_features(make_random_problem(1), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bm25_a": np.array([1.0])}, r"bm25 has shape \(1,\), there are"),
        ({"is_salient_a": np.array([True])}, "has shape"),
        ({"phrases": ["x", "x"]}, "given twice"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_changed_problem(**changes)


def test_negative_and_infinite_numbers_are_refused_and_nan_salience_is_none() -> None:
    size = len(make_random_problem(1).phrases)
    for value in (-1.0, float("inf")):
        with pytest.raises(ValueError, match="salience must be finite numbers of at least 0"):
            make_changed_problem(salience_a=np.full(size, value))
    assert (make_changed_problem(salience_a=np.full(size, float("nan"))).a.salience == 0).all()


def test_a_graph_of_another_size_is_refused() -> None:
    other = make_problem(["a b", "a c"], ["a"]).graph
    with pytest.raises(ValueError, match="a graph of 1 phrases for 2 candidates"):
        replace(make_problem(["a b", "a c"], ["a", "b"]), graph=other)
