"""A results page: many comparisons for the price of one reading."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.errors import BadParameter, UnknownDocument
from tests.support.answer_shape import check
from tests.support.corpora.planted_pairs import SHARED
from tests.worker.conftest import INDEX, ask
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.explain.spec import ComparisonSpec

HITS = ["b1", "a1", *(f"d{n:04}" for n in range(0, 48, 6))]


def page(comparer: Comparer, against: str, **given: object) -> list[ComparisonSpec]:
    """Every hit against the query, a document, the rest of the page or the hit above."""
    questions = []
    for position, hit in enumerate(HITS):
        other = {
            "query": Side.from_text(f"query:{SHARED}"),
            "document": Side.from_id("b2"),
            "page": Side.from_json({"ids": [h for h in HITS if h != hit]}),
            "above": Side.from_id(HITS[position - 1]),
        }[against]
        questions.append(comparer.make_spec(INDEX, Side.from_id(hit), other, **given))  # type: ignore[arg-type]
    return questions


@pytest.mark.parametrize("against", ["query", "document", "page", "above"])
def test_a_page_of_ten_hits_costs_two_requests(
    comparer: Comparer, documents: dict[str, Document], against: str
) -> None:
    questions = page(comparer, against)
    ask(comparer, "a1", "b1")
    before = comparer.engine.request_count
    answers = list(comparer.explain(questions))
    assert comparer.engine.request_count - before == 2
    assert [answer.a.ids for answer in answers] == [(hit,) for hit in HITS]
    for answer in answers:
        check(answer.to_dict(), documents)


@pytest.mark.parametrize("against", ["query", "document", "page", "above"])
def test_each_hit_is_explained_as_if_it_were_compared_alone(comparer: Comparer, against: str) -> None:
    """While all that is reached has room in the neighbourhood, as in a small index."""
    questions = page(comparer, against, options={"neighbours": 1000})
    for question, answer in zip(questions, comparer.explain(questions), strict=True):
        alone = comparer.compare(question)
        assert answer.id == alone.id
        for one, other in zip(phrases(answer), phrases(alone), strict=True):
            assert [phrase for phrase, _ in one] == [phrase for phrase, _ in other]
            assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=2e-6)


def phrases(answer: Comparison) -> list[list[tuple[str, float]]]:
    lists = (answer.common, answer.distinct_a, answer.distinct_b)
    return [[(entry.phrase, entry.score) for entry in entries] for entries in lists]


def test_answers_come_one_by_one(local: Comparer) -> None:
    answers = local.explain(page(local, "query"))
    before = local.engine.request_count
    assert next(answers).a.ids == (HITS[0],)
    assert local.engine.request_count - before == 2
    assert next(answers).a.ids == (HITS[1],)


def test_a_hit_that_is_gone_is_named(local: Comparer) -> None:
    questions = [*page(local, "query"), local.make_spec(INDEX, Side.from_id("gone"), Side.from_id("a1"))]
    with pytest.raises(UnknownDocument, match="gone"):
        list(local.explain(questions))


def test_an_empty_page_has_no_answers(local: Comparer) -> None:
    assert list(local.explain([])) == []


def test_questions_of_two_callers_are_not_explained_together(local: Comparer) -> None:
    questions = page(local, "query")[:1] + page(local, "query", groups=frozenset({"staff"}))[1:]
    with pytest.raises(BadParameter, match="differ"):
        list(local.explain(questions))
