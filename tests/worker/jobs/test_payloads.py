"""Requests as payloads of jobs: what a worker reads is what was asked, and a vector takes little room."""

from __future__ import annotations

import pytest

from indexer.vectors import encode_vector
from worker.explain.side import Side
from worker.jobs.payloads import ComparisonRequest, PageBatch, PageRequest

NUMBERS = [float(number) / 7 for number in range(1, 4097)]
VECTOR = encode_vector(NUMBERS)
HITS = tuple(f"d{number}" for number in range(50))


@pytest.mark.parametrize("side", [{"query": "web graph"}, {"text": "A web graph."}, {}])
def test_a_comparison_with_a_vector_is_read_as_it_was_written(side: dict[str, str]) -> None:
    request = ComparisonRequest("papers", Side.from_id("d1"), Side.from_json({**side, "vector": NUMBERS}))
    assert ComparisonRequest.from_json(request.to_json()) == request
    assert request.b.vector == VECTOR and len(request.to_json()) < 2 * len(VECTOR)


def test_a_page_has_its_vector_once() -> None:
    page = PageRequest("papers", HITS, "query", "web graph", query_vector=VECTOR)
    batch = PageBatch({"p1": page}, "me")
    assert PageRequest.from_json(page.to_json()) == page and PageBatch.from_json(batch.to_json()) == batch
    assert len(batch.to_json()) < 2 * len(VECTOR)
    assert {comparison.b for _, comparison in page.list_comparisons()} == {Side.from_query("web graph", NUMBERS)}


def test_the_id_of_a_page_depends_on_its_vector() -> None:
    pages = [
        PageRequest("papers", HITS, "query", query, query_vector=vector)
        for query in ("web", None)
        for vector in (VECTOR, encode_vector(NUMBERS[::-1]), None)
    ]
    assert len({page.compute_answer_id("1-a", {}) for page in pages}) == 6


def test_a_vector_is_not_printed() -> None:
    page = PageRequest("papers", HITS[:1], "query", query_vector=VECTOR)
    assert "vector" not in repr(page) and "vector" not in repr(page.list_comparisons())
