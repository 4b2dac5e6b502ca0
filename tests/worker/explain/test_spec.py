"""Options of a comparison: bad ones are refused with what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from indexer.engines.base import Engine
from indexer.errors import BadParameter, PhraseComError, UnknownIndex, UnknownMethod
from tests.support.comparisons import INDEX, compare_sides
from worker.comparer import Comparer, compare
from worker.explain.side import Side
from worker.explain.spec import MODEL_OPTIONS, OPTION_RANGES
from worker.solver.ranking_weights import DEFAULT_WEIGHTS

NUMBERS = [float("nan"), float("inf"), -float("inf"), -1, -1e-9, 1e300, 10**400, "1", True, [1]]


@pytest.mark.parametrize("name", MODEL_OPTIONS)
@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_out_of_range_is_refused(embedded_comparer: Comparer, name: str, value: object) -> None:
    with pytest.raises(BadParameter, match=name):
        compare_sides(embedded_comparer, "a1", "b1", **{name: value})


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("name", MODEL_OPTIONS)
@pytest.mark.parametrize("end", [0, 1])
def test_the_ends_of_every_range_give_finite_answers(
    embedded_comparer: Comparer, preset: str, name: str, end: int
) -> None:
    value = OPTION_RANGES[name][end]
    options = {name: value} | ({"gamma": 1e3} if name == "lambda" else {"lambda": 0} if name == "gamma" else {})
    answer = compare_sides(embedded_comparer, "a1", "b1", preset=preset, cap=0, candidates=True, **options)
    json.dumps(answer.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"cap": -1}, "cap"), ({"cap": 1.5}, "cap"), ({"cap": True}, "cap"), ({"cap": 10**6}, "cap"),
        ({"neighbours": 0}, "neighbours"), ({"neighbours": 10**9}, "neighbours"), ({"k": 0}, "k"), ({"k": "5"}, "k"),
        ({"candidates": 1}, "candidates"), ({"graph": "full"}, "graph"), ({"colour": 1}, "colour"),
        ({"lambda_": 0}, "lambda_"), ({"lambda": 4, "gamma": 1}, "lambda"),
    ],
)  # fmt: skip
def test_an_invalid_option_is_refused_by_name(
    embedded_comparer: Comparer, options: Mapping[str, Any], named: str
) -> None:
    with pytest.raises(BadParameter, match=named):
        embedded_comparer.make_spec(INDEX, Side.from_id("a1"), Side.from_id("b1"), options=options)


def test_an_option_of_none_takes_the_value_of_the_preset(embedded_comparer: Comparer) -> None:
    spec = embedded_comparer.make_spec(
        INDEX, Side.from_id("a1"), Side.from_id("b1"), options={"alpha": None, "cap": None}
    )
    assert spec == embedded_comparer.make_spec(INDEX, Side.from_id("a1"), Side.from_id("b1"))


@pytest.mark.parametrize("method", ["cdb", "", None, ["cda"], 3])
def test_an_unknown_method_is_refused_with_the_known_ones(embedded_comparer: Comparer, method: Any) -> None:
    with pytest.raises(UnknownMethod, match="cda_two_step"):
        compare_sides(embedded_comparer, "a1", "b1", method=method)


@pytest.mark.parametrize("preset", ["best", "", None, {}])
def test_an_unknown_preset_is_refused_with_the_known_ones(embedded_comparer: Comparer, preset: Any) -> None:
    with pytest.raises(BadParameter, match="default, paper"):
        compare_sides(embedded_comparer, "a1", "b1", preset=preset)


def test_an_unknown_index_is_refused_with_the_command_that_builds_it(comparer: Comparer) -> None:
    with pytest.raises(UnknownIndex, match="phrasecom index"):
        compare_sides(comparer, "a1", "b1", index="nowhere")
    with pytest.raises(PhraseComError, match="is not a valid index name"):
        compare_sides(comparer, "a1", "b1", index="../etc")


def test_an_unknown_graph_is_refused(indexed_embedded_engine: Engine) -> None:
    with pytest.raises(BadParameter, match="neighbourhood, full"):
        compare("a1", "b1", index=INDEX, engine=indexed_embedded_engine, graph="half")


def test_comparing_in_one_call_takes_a_folder_an_engine_or_a_comparer(
    indexed_embedded_engine: Engine, embedded_comparer: Comparer
) -> None:
    answers = [
        compare("a1", "b1", index=INDEX, engine=engine, candidates=True, cap=0)
        for engine in (indexed_embedded_engine.address, indexed_embedded_engine, embedded_comparer)
    ]
    assert len({str([answer.common, answer.distinct_a, answer.candidates]) for answer in answers}) == 1
    assert compare("a1", "b1", index=INDEX, engine=embedded_comparer, graph=True).graph
    assert compare("a1", "b1", index=INDEX, engine=embedded_comparer, graph="full", cap=1).common


def test_the_answer_id_does_not_depend_on_the_order_of_options(embedded_comparer: Comparer) -> None:
    def key(**options: Any) -> str:
        return embedded_comparer.make_spec(
            INDEX, Side.from_id("a1"), Side.from_id("b1"), options=options
        ).compute_answer_id("e", {"a1": "v"})

    assert key(cap=3, k=5) == key(k=5, cap=3)
    assert (
        len({key(), key(cap=3), key(k=5), key(alpha=50), key(candidates=True), key(graph=True), key(neighbours=9)}) == 7
    )


def test_the_id_of_an_answer_depends_on_the_versions_of_its_documents_only(embedded_comparer: Comparer) -> None:
    ids = [
        compare_sides(embedded_comparer, "a1", "b1").id,
        compare_sides(embedded_comparer, "a1", "b1").id,
        compare_sides(embedded_comparer, "b1", "a1").id,
        compare_sides(embedded_comparer, "a1", "b2").id,
    ]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_the_weights_of_the_reader_odds_are_options(embedded_comparer: Comparer) -> None:
    usual, same = (
        compare_sides(embedded_comparer, "a1", "b1", cap=0),
        compare_sides(embedded_comparer, "a1", "b1", cap=0, odds_intercept=DEFAULT_WEIGHTS.intercept),
    )
    other = compare_sides(embedded_comparer, "a1", "b1", cap=0, odds_intercept=0)
    assert usual.id == same.id != other.id
    assert other.distinct_a[0].score > usual.distinct_a[0].score
    assert other.common == usual.common, "common phrases have an intercept of their own"
    with pytest.raises(BadParameter, match="odds_min_quality must be above 0"):
        compare_sides(embedded_comparer, "a1", "b1", odds_min_quality=0)
    with pytest.raises(BadParameter, match="odds_min_salience"):
        compare_sides(embedded_comparer, "a1", "b1", odds_min_salience=0.02)
