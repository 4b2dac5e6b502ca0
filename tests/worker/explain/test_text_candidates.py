"""Phrases that only the two texts show: their features, and the lists they are in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.analysis.salience import EARLINESS_HALVED_AFTER
from indexer.documents import Document
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.update import add_documents
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, LISTS, compare_sides, resolve_texts
from tests.support.corpora.bad_texts import BAD_TEXTS
from tests.support.corpora.planted_pairs import SHARED
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import build_full_graph
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_problem
from worker.explain.resolved_side import ResolvedSide
from worker.explain.side import Side
from worker.explain.text_candidates import build_text_problem
from worker.methods.base import PairProblem
from worker.methods.registry import METHODS
from worker.solver.parameters import DEFAULT

A = "A copper whistle rang. The copper whistle was by a brass horn. A waggle dance and a zzyzx dance were there."
B = "The copper whistle of Ann Hill. A waggle dance arena was shown. It had tin horns."
SENTENCES = [
    "A copper whistle rang.",
    "The copper whistles of Ann Hill fell.",
    "A waggle dance was by a brass horn.",
    "It had a waggle dance arena.",
    "Rye flour and zzyzx engines were there.",
    "The rye was cut in Berlin's old harbour wall.",
    "It was so.",
    "THE ZZYZX ENGINE RAN!",
]
texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8).map(" ".join)


def make_text_problem(a: ResolvedSide, b: ResolvedSide) -> PairProblem:
    pair = SidePair(a, b, PairCandidates.from_sides(a, b))
    problem = build_text_problem(pair, build_problem([pair], build_full_graph(pair, None), DEFAULT))
    assert problem is not None
    return problem


def make_problem_of_texts(engine: Engine, *texts: str) -> PairProblem:
    a, b = resolve_texts(engine, *(f"text:{text}" for text in texts))
    return make_text_problem(a, b)


def get_features(problem: PairProblem, phrase: str, side: str) -> dict[str, float]:
    row, features = problem.phrases.index(phrase), getattr(problem, side)
    names = "is_salient count document_count bm25 partial_match topic_cosine whole_share earliness".split()
    return {name: getattr(features, name)[row].item() for name in names}


def list_phrases(answer: Comparison) -> dict[str, list[str]]:
    return {name: [entry.phrase for entry in getattr(answer, name)] for name in LISTS}


def list_all_phrases(answer: Comparison) -> set[str]:
    return {phrase for name in LISTS for entry in getattr(answer, name) for phrase in (entry.phrase, *entry.also)}


def test_the_candidates_are_those_that_the_index_does_not_name(indexed_embedded_engine: Engine) -> None:
    problem = make_problem_of_texts(indexed_embedded_engine, A, B)
    assert SHARED in indexed_embedded_engine.open_reader(INDEX).model.phrase_ids
    assert set(problem.phrases) == {
        "copper whistle", "brass horn", "zzyzx dance", "waggle dance arena", "ann hill", "tin horn",
    }  # fmt: skip
    assert not problem.document_frequency.any()


def test_texts_without_phrases_of_their_own_have_no_such_candidates(indexed_embedded_engine: Engine) -> None:
    a, b = resolve_texts(indexed_embedded_engine, "text:It was so.", "text:A waggle dance.")
    pair = SidePair(a, b, PairCandidates.from_sides(a, b))
    assert build_text_problem(pair, build_problem([pair], build_full_graph(pair, None), DEFAULT)) is None


def test_the_features_are_those_of_the_places_in_each_text(indexed_embedded_engine: Engine) -> None:
    problem = make_problem_of_texts(indexed_embedded_engine, f"It was so. The copper whistle arena. {A}", B)
    of_a, of_b = (get_features(problem, "copper whistle", side) for side in "ab")
    assert (of_a["count"], of_b["count"], of_a["document_count"]) == (3, 1, 1)
    assert of_a["is_salient"] and of_b["is_salient"]
    assert (of_a["whole_share"], of_b["whole_share"]) == pytest.approx((2 / 3, 1.0))
    halved = EARLINESS_HALVED_AFTER
    assert (of_a["earliness"], of_b["earliness"]) == pytest.approx((halved / (halved + 8), halved / (halved + 1)))
    assert of_a["bm25"] > of_b["bm25"] > 0 and of_a["partial_match"] == of_b["partial_match"] == 1.0


def test_a_text_that_lacks_a_phrase_has_no_weight_of_it_but_a_partial_match(indexed_embedded_engine: Engine) -> None:
    problem = make_problem_of_texts(indexed_embedded_engine, A, B)
    lacking = get_features(problem, "brass horn", "b")
    assert (lacking["is_salient"], lacking["count"], lacking["bm25"]) == (False, 0, 0.0)
    assert lacking["partial_match"] == pytest.approx(0.5), "of two words as rare, it has the horn"
    assert get_features(problem, "ann hill", "a")["partial_match"] == 0.0
    dance = get_features(problem, "zzyzx dance", "b")["partial_match"]
    assert 0 < dance < 0.5, "the word that it has is not rare"


def test_a_phrase_that_one_text_has_as_a_part_only_is_not_salient_there(indexed_embedded_engine: Engine) -> None:
    problem = make_problem_of_texts(indexed_embedded_engine, "The brass horn fell.", "The brass horn arena fell.")
    of_b = get_features(problem, "brass horn", "b")
    assert (of_b["is_salient"], of_b["count"], of_b["whole_share"]) == (False, 1, 0.0)
    assert problem.is_shared[problem.phrases.index("brass horn")]


def test_the_topic_of_a_phrase_is_that_of_its_words(indexed_embedded_engine: Engine) -> None:
    bees = "The waggle dance. A honey bee and a nectar source in the brood nest."
    problem = make_problem_of_texts(indexed_embedded_engine, bees, "A zzyzx bee, a zzyzx oven and a zzyzx qwrtp.")
    bee, oven, unknown = (
        get_features(problem, f"zzyzx {word}", "a")["topic_cosine"] for word in ("bee", "oven", "qwrtp")
    )
    assert bee > 0.3 > oven and unknown == 0.0


def test_a_text_of_unknown_words_has_no_topics(indexed_embedded_engine: Engine) -> None:
    problem = make_problem_of_texts(indexed_embedded_engine, "A zzyzx.", "A zzyzx bee.")
    assert not problem.a.topic_cosine.any()


def test_phrases_with_a_word_that_a_limited_caller_may_not_read_are_no_candidates(
    indexed_embedded_engine: Engine,
) -> None:
    reader = indexed_embedded_engine.open_reader(INDEX)
    a, b = resolve_texts(indexed_embedded_engine, f"text:{A}", "text:A zzyzx bee and a tin horn.")
    assert "zzyzx bee" in b.text_phrases
    readable = replace(b.documents[0], phrases=("bee",), weights=(1.0,), salient=(), degree=1.0)
    limited = ResolvedSide(b.side, (readable,), reader, frozenset({"guests"}))
    assert limited.unreadable_words == {"a", "and", "horn", "tin", "zzyzx"} and not limited.text_phrases
    assert make_text_problem(a, b) is not None


def test_a_phrase_that_the_model_knows_has_its_frequency(indexed_embedded_engine: Engine) -> None:
    model = indexed_embedded_engine.open_reader(INDEX).model
    a, b = resolve_texts(indexed_embedded_engine, "d0000", "text:A waggle dance, a zzyzx dance.")
    pair = SidePair(a, b, PairCandidates.from_sides(a, b, 1))
    problem = build_text_problem(pair, build_problem([pair], build_full_graph(pair, None), DEFAULT))
    assert problem is not None
    rows = {phrase: row for row, phrase in enumerate(problem.phrases) if phrase in model.phrase_ids}
    assert rows
    for phrase, row in rows.items():
        known = model.phrase_ids[phrase]
        assert problem.document_frequency[row] == model.document_frequency[known] > 0


def test_a_phrase_that_only_the_two_texts_have_is_shared(comparer: Comparer, documents: dict[str, Document]) -> None:
    answer = compare_sides(comparer, f"text:{A}", f"text:{B}", cap=0)
    check_answer(answer, documents)
    (entry,) = (entry for entry in answer.common if entry.phrase == "copper whistle")
    assert (entry.kind, entry.count_a, entry.count_b) == ("shared", 2, 1)
    assert {snippet.side for snippet in entry.evidence} == {"a", "b"}
    assert not {"copper whistle"} & {e.phrase for e in (*answer.distinct_a, *answer.distinct_b)}


def test_a_phrase_that_one_text_has_is_distinct_of_it(comparer: Comparer, documents: dict[str, Document]) -> None:
    answer = compare_sides(comparer, "a1", f"text:{B}", cap=0)
    check_answer(answer, documents)
    displayed = {entry.phrase: entry.display for entry in answer.distinct_b}
    assert (displayed["ann hill"], displayed["tin horn"]) == ("Ann Hill", "tin horns")
    assert not {"ann hill", "tin horn"} & {entry.phrase for entry in (*answer.common, *answer.distinct_a)}
    assert all(entry.count_a == 0 < entry.count_b for entry in answer.distinct_b if entry.phrase in displayed)


def test_such_phrases_are_neither_candidates_nor_in_the_graph(
    embedded_comparer: Comparer, documents: dict[str, Document]
) -> None:
    answer = compare_sides(embedded_comparer, f"text:{A}", f"text:{B}", cap=0, candidates=True, graph=True)
    check_answer(answer, documents, optional_parts=("candidates", "graph"))
    assert "copper whistle" in list_all_phrases(answer) and answer.candidates and answer.graph
    known = set(embedded_comparer.engine.open_reader(INDEX).model.phrases)
    assert {candidate.phrase for side in answer.candidates.values() for candidate in side} <= known
    assert "copper whistle" not in str(answer.graph)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "cda"])
def test_other_methods_rank_phrases_of_the_index_only(embedded_comparer: Comparer, method: str) -> None:
    answer = compare_sides(embedded_comparer, f"text:{A}", f"text:{B}", cap=0, method=method)
    several_words = {phrase for phrases in list_phrases(answer).values() for phrase in phrases if " " in phrase}
    assert several_words <= set(embedded_comparer.engine.open_reader(INDEX).model.phrases)


def test_the_paper_preset_ranks_phrases_of_the_index_only(embedded_comparer: Comparer) -> None:
    answer = compare_sides(embedded_comparer, f"text:{A}", f"text:{B}", cap=0, preset="paper")
    assert list_all_phrases(answer) <= set(embedded_comparer.engine.open_reader(INDEX).model.phrases)
    assert list_all_phrases(answer)


def test_a_set_is_compared_by_phrases_of_the_index_only(embedded_comparer: Comparer) -> None:
    a, _ = resolve_texts(embedded_comparer.engine, "ids:a1,b1", "a1")
    assert a.text_phrases == {}
    answer = compare_sides(embedded_comparer, "ids:a1,b1", f"text:{B}", cap=0)
    phrases = set(embedded_comparer.engine.open_reader(INDEX).model.phrases)
    entries = (*answer.common, *answer.distinct_a, *answer.distinct_b)
    assert entries and {entry.phrase for entry in entries} <= phrases


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(texts, texts)
def test_exchanging_the_sides_exchanges_the_answer(embedded_comparer: Comparer, a: str, b: str) -> None:
    answer, exchanged = (compare_sides(embedded_comparer, f"text:{x}", f"text:{y}", cap=0) for x, y in ((a, b), (b, a)))

    def summarise(entries: Any, swap: bool) -> set[Any]:
        return {
            (e.phrase, e.kind, round(e.score, 5), *((e.count_b, e.count_a) if swap else (e.count_a, e.count_b)))
            for e in entries
        }

    assert summarise(answer.common, False) == summarise(exchanged.common, True)
    assert summarise(answer.distinct_a, False) == summarise(exchanged.distinct_b, True)
    assert summarise(answer.distinct_b, False) == summarise(exchanged.distinct_a, True)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(texts, texts)
def test_features_are_finite_and_within_their_range(indexed_embedded_engine: Engine, a: str, b: str) -> None:
    first, second = resolve_texts(indexed_embedded_engine, f"text:{a}", f"text:{b}")
    pair = SidePair(first, second, PairCandidates.from_sides(first, second))
    problem = build_text_problem(pair, build_problem([pair], build_full_graph(pair, None), DEFAULT))
    if problem is None:
        return
    for features in (problem.a, problem.b):
        for values in (features.whole_share, features.earliness, features.partial_match, features.title_share):
            assert (values >= 0).all() and (values <= 1).all()
        assert (np.abs(features.topic_cosine) <= 1 + 1e-5).all()
        assert np.isfinite(features.bm25).all() and ((features.bm25 > 0) == (features.count > 0)).all()
    assert problem.is_candidate.any()  # the others are listed on no side
    assert (np.abs(problem.specificity) < 1).all()


@pytest.mark.parametrize("name", [name for name, text in BAD_TEXTS.items() if text.strip()])
def test_a_text_that_is_no_prose_is_compared(
    embedded_comparer: Comparer, documents: dict[str, Document], name: str
) -> None:
    text = Side("text", words=BAD_TEXTS[name])
    with_document = compare_sides(embedded_comparer, "a1", text, cap=0)
    check_answer(with_document, documents)
    assert not {"waggle dance"} & set(list_phrases(with_document)["common"]) and with_document.distinct_a
    with_itself = compare_sides(embedded_comparer, text, text, cap=0)
    check_answer(with_itself, documents)
    assert not with_itself.distinct_a and not with_itself.distinct_b
    assert bool(with_itself.common) == bool(with_document.distinct_b or with_document.common)


@pytest.fixture(scope="module")
def former_comparer(tmp_path_factory: pytest.TempPathFactory, indexed_embedded_engine: Engine) -> Iterator[Comparer]:
    """A comparer of an index whose documents have no phrases of their own, as of a former version."""
    reader = indexed_embedded_engine.open_reader(INDEX)
    with open_engine(str(tmp_path_factory.mktemp("former"))) as engine:
        with engine.start_build(INDEX) as building:
            building.write([replace(document, text_phrases=()) for document in reader.scan()])
            building.commit(reader.model, reader.info)
        yield Comparer(engine)


def test_an_index_of_a_former_version_is_compared_by_its_own_phrases(
    former_comparer: Comparer, documents: dict[str, Document]
) -> None:
    for sides in (("a1", "b1"), ("a1", f"text:{B}"), ("ids:a1,b1", "a2"), ("search:honey", "search:oven")):
        answer = compare_sides(former_comparer, *sides, cap=0)
        check_answer(answer, documents)
        assert list_all_phrases(answer)
    assert list_phrases(compare_sides(former_comparer, "a1", "b1"))["common"][0] == SHARED
    assert "ann hill" in list_phrases(compare_sides(former_comparer, "a1", f"text:{B}"))["distinct_b"]


def test_two_documents_share_a_phrase_that_no_model_has(writable_engine: Engine) -> None:
    added = [Document("x", "A note", A), Document("y", "A letter", B)]
    add_documents(added, writable_engine, INDEX)
    assert "copper whistle" not in writable_engine.open_reader(INDEX).model.phrase_ids
    answer = compare_sides(Comparer(writable_engine), "x", "y")
    assert "copper whistle" in list_phrases(answer)["common"]
    assert "brass horn" in list_phrases(answer)["distinct_a"] and "ann hill" in list_phrases(answer)["distinct_b"]
