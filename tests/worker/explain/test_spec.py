"""What may be asked: every complaint is one line that says what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from indexer.engines.base import Engine
from indexer.errors import BadParameter, PhraseComError, UnknownIndex, UnknownMethod
from tests.worker.conftest import INDEX, ask
from worker.comparer import Comparer, compare
from worker.explain.side import Side
from worker.explain.spec import MODEL_OPTIONS, OPTION_RANGES

NUMBERS = [float("nan"), float("inf"), -float("inf"), -1, -1e-9, 1e300, 10**400, "1", True, [1]]


@pytest.mark.parametrize("name", MODEL_OPTIONS)
@pytest.mark.parametrize("value", NUMBERS)
def test_a_number_out_of_range_is_refused(local: Comparer, name: str, value: object) -> None:
    with pytest.raises(BadParameter, match=name):
        ask(local, "a1", "b1", **{name: value})


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("name", MODEL_OPTIONS)
@pytest.mark.parametrize("end", [0, 1])
def test_the_ends_of_every_range_give_finite_answers(local: Comparer, preset: str, name: str, end: int) -> None:
    value = OPTION_RANGES[name][end]
    given = {name: value} | ({"gamma": 1e3} if name == "lambda" else {"lambda": 0} if name == "gamma" else {})
    answer = ask(local, "a1", "b1", preset=preset, cap=0, candidates=True, **given)
    from tests.support.answer_shape import _finite

    _finite(answer.to_dict())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"cap": -1}, "cap"), ({"cap": 1.5}, "cap"), ({"cap": True}, "cap"), ({"cap": 10**6}, "cap"),
        ({"neighbours": 0}, "neighbours"), ({"neighbours": 10**9}, "neighbours"), ({"k": 0}, "k"), ({"k": "5"}, "k"),
        ({"candidates": 1}, "candidates"), ({"graph": "full"}, "graph"), ({"colour": 1}, "colour"),
        ({"lambda_": 0}, "lambda_"), ({"lambda": 4, "gamma": 1}, "lambda"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_is_named(local: Comparer, options: Mapping[str, Any], named: str) -> None:
    with pytest.raises(BadParameter, match=named):
        local.make_spec(INDEX, Side.from_id("a1"), Side.from_id("b1"), options=options)


def test_an_option_left_empty_is_the_presets(local: Comparer) -> None:
    asked = local.make_spec(INDEX, Side.from_id("a1"), Side.from_id("b1"), options={"alpha": None, "cap": None})
    assert asked == local.make_spec(INDEX, Side.from_id("a1"), Side.from_id("b1"))


@pytest.mark.parametrize("method", ["cdb", "", None, ["cda"], 3])
def test_an_unknown_method_is_told_the_known_ones(local: Comparer, method: Any) -> None:
    with pytest.raises(UnknownMethod, match="cda_two_step"):
        ask(local, "a1", "b1", method=method)


@pytest.mark.parametrize("preset", ["best", "", None, {}])
def test_an_unknown_preset_is_told_the_known_ones(local: Comparer, preset: Any) -> None:
    with pytest.raises(BadParameter, match="default, paper"):
        ask(local, "a1", "b1", preset=preset)


def test_an_unknown_index_is_told_how_to_make_it(comparer: Comparer) -> None:
    with pytest.raises(UnknownIndex, match="phrasecom index"):
        ask(comparer, "a1", "b1", index="nowhere")
    with pytest.raises(PhraseComError, match="cannot name an index"):
        ask(comparer, "a1", "b1", index="../etc")


def test_an_unknown_graph_is_refused(embedded: Engine) -> None:
    with pytest.raises(BadParameter, match="neighbourhood, full"):
        compare("a1", "b1", index=INDEX, engine=embedded, graph="half")


def test_comparing_in_one_call_takes_a_folder_an_engine_or_a_comparer(embedded: Engine, local: Comparer) -> None:
    answers = [
        compare("a1", "b1", index=INDEX, engine=engine, candidates=True, cap=0)
        for engine in (embedded.address, embedded, local)
    ]
    assert len({str([answer.common, answer.distinct_a, answer.candidates]) for answer in answers}) == 1
    assert compare("a1", "b1", index=INDEX, engine=local, graph=True).graph
    assert compare("a1", "b1", index=INDEX, engine=local, graph="full", cap=1).common


def test_a_question_has_one_key_whatever_the_order_of_its_options(local: Comparer) -> None:
    def key(**options: Any) -> str:
        return local.make_spec(INDEX, Side.from_id("a1"), Side.from_id("b1"), options=options).compute_answer_id(
            "e", {"a1": "v"}
        )

    assert key(cap=3, k=5) == key(k=5, cap=3)
    assert (
        len({key(), key(cap=3), key(k=5), key(alpha=50), key(candidates=True), key(graph=True), key(neighbours=9)}) == 7
    )


def test_the_id_of_an_answer_depends_on_the_versions_of_its_documents_only(local: Comparer) -> None:
    ids = [ask(local, "a1", "b1").id, ask(local, "a1", "b1").id, ask(local, "b1", "a1").id, ask(local, "a1", "b2").id]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_the_weights_of_the_ranking_are_options_too(local: Comparer) -> None:
    usual, same = ask(local, "a1", "b1", cap=0), ask(local, "a1", "b1", cap=0, odds_intercept=-2.1)
    other = ask(local, "a1", "b1", cap=0, odds_intercept=0)
    assert usual.id == same.id != other.id
    assert other.common[0].score > usual.common[0].score
    with pytest.raises(BadParameter, match="odds_min_salience must be above 0"):
        ask(local, "a1", "b1", odds_min_salience=0)
