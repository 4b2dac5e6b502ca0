"""A results page: many comparisons that share their requests to the engine."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.errors import BadParameter, UnknownDocument
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import SHARED
from worker.answer.comparison import Comparison
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.explain.spec import ComparisonSpec

HITS = ["b1", "a1", *(f"d{n:04}" for n in range(0, 48, 6))]


def make_page_specs(comparer: Comparer, against: str, **options: object) -> list[ComparisonSpec]:
    """Return the specs of every hit against the query, a document, the rest of the page or the hit above."""
    specs = []
    for position, hit in enumerate(HITS):
        other = {
            "query": Side.from_text(f"query:{SHARED}"),
            "document": Side.from_id("b2"),
            "page": Side.from_json({"ids": [h for h in HITS if h != hit]}),
            "above": Side.from_id(HITS[position - 1]),
        }[against]
        specs.append(comparer.make_spec(INDEX, Side.from_id(hit), other, **options))  # type: ignore[arg-type]
    return specs


@pytest.mark.parametrize("against", ["query", "document", "page", "above"])
def test_a_page_of_ten_hits_costs_two_requests(
    comparer: Comparer, documents: dict[str, Document], against: str
) -> None:
    specs = make_page_specs(comparer, against)
    compare_sides(comparer, "a1", "b1")
    before = comparer.engine.request_count
    answers = list(comparer.explain(specs))
    assert comparer.engine.request_count - before == 2
    assert [answer.a.ids for answer in answers] == [(hit,) for hit in HITS]
    for answer in answers:
        check_answer(answer, documents)


@pytest.mark.parametrize("against", ["query", "document", "page", "above"])
def test_each_hit_is_explained_as_if_it_were_compared_alone(comparer: Comparer, against: str) -> None:
    """This holds while the neighbourhood has room for all documents reached, as in a small index."""
    specs = make_page_specs(comparer, against, options={"neighbours": 1000})
    for spec, answer in zip(specs, comparer.explain(specs), strict=True):
        alone = comparer.compare(spec)
        assert answer.id == alone.id
        for one, other in zip(list_scores(answer), list_scores(alone), strict=True):
            assert [phrase for phrase, _ in one] == [phrase for phrase, _ in other]
            assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=2e-6)


def list_scores(answer: Comparison) -> list[list[tuple[str, float]]]:
    lists = (answer.common, answer.distinct_a, answer.distinct_b)
    return [[(entry.phrase, entry.score) for entry in entries] for entries in lists]


def test_answers_are_computed_one_by_one(embedded_comparer: Comparer) -> None:
    answers = embedded_comparer.explain(make_page_specs(embedded_comparer, "query"))
    before = embedded_comparer.engine.request_count
    assert next(answers).a.ids == (HITS[0],)
    assert embedded_comparer.engine.request_count - before == 2
    assert next(answers).a.ids == (HITS[1],)


def test_a_deleted_hit_is_named_in_the_error(embedded_comparer: Comparer) -> None:
    specs = [
        *make_page_specs(embedded_comparer, "query"),
        embedded_comparer.make_spec(INDEX, Side.from_id("gone"), Side.from_id("a1")),
    ]
    with pytest.raises(UnknownDocument, match="gone"):
        list(embedded_comparer.explain(specs))


def test_an_empty_page_has_no_answers(embedded_comparer: Comparer) -> None:
    assert list(embedded_comparer.explain([])) == []


def test_specs_of_different_callers_are_not_explained_together(embedded_comparer: Comparer) -> None:
    specs = (
        make_page_specs(embedded_comparer, "query")[:1]
        + make_page_specs(embedded_comparer, "query", groups=frozenset({"staff"}))[1:]
    )
    with pytest.raises(BadParameter, match="differ"):
        list(embedded_comparer.explain(specs))
