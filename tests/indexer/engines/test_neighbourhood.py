"""The neighbourhood against a slow, literal computation: documents, order, edges, weights, degrees."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from indexer.documents import AnalysedDocument
from indexer.engines.base import Engine, Reader
from indexer.engines.embedded import neighbourhood_search
from indexer.engines.search_types import NeighbourhoodRequest
from tests.support.corpora.engine_corpus import (
    PHRASE_PAIR,
    PHRASES,
    AnalysedCorpus,
    make_draft,
    weigh_document,
    weigh_drafts,
    write_index,
)
from tests.support.neighbourhood_oracle import (
    assert_same_order,
    collect_edges,
    compute_neighbourhood,
    make_random_request,
)


def assert_matches_oracle(
    reader: Reader, documents: Sequence[AnalysedDocument], request: NeighbourhoodRequest, *, counts_all: bool = True
) -> None:
    found, expected = reader.find_neighbourhood(request), compute_neighbourhood(documents, request)
    assert_same_order(list(found.ids), expected.ids, expected.totals, len(dict.fromkeys(request.include)))
    assert found.phrases == tuple(dict.fromkeys([*request.boosts_a, *request.boosts_b]))
    if counts_all:
        assert found.reached_count == expected.reached_count
    assert min(len(expected.totals), request.limit) <= found.reached_count <= expected.reached_count
    assert collect_edges(found) == pytest.approx(expected.edges, rel=1e-5)
    by_id = {d.document.id: d for d in documents}
    np.testing.assert_allclose(found.degrees, [by_id[name].degree for name in found.ids], rtol=1e-12)
    assert list(found.titles) == [by_id[name].document.title for name in found.ids]
    dtypes = [str(array.dtype) for array in (found.rows, found.columns, found.weights, found.degrees)]
    assert dtypes == ["int64", "int64", "float64", "float64"]


@pytest.mark.parametrize("seed", range(25))
def test_a_neighbourhood_equals_the_literal_computation(papers: Reader, corpus: AnalysedCorpus, seed: int) -> None:
    request = make_random_request(random.Random(seed), list(corpus.documents_by_id()))
    visible = [name for name in request.include if name in compute_neighbourhood(corpus.documents, request).ids]
    assert_matches_oracle(
        papers,
        corpus.documents,
        NeighbourhoodRequest(request.boosts_a, request.boosts_b, tuple(visible), request.limit, request.groups),
    )


def test_a_neighbourhood_is_one_request(shared_engine: Engine, papers: Reader) -> None:
    before = shared_engine.request_count
    papers.find_neighbourhood(NeighbourhoodRequest(dict.fromkeys(PHRASES, 1.0), {"mail": 1.0}, ("doc-0001",), 20))
    assert shared_engine.request_count == before + 1


def test_a_phrase_of_both_sides_counts_on_each(papers: Reader, corpus: AnalysedCorpus) -> None:
    both = {"mail": 2.0, "graph": 0.5}
    assert_matches_oracle(
        papers, corpus.documents, NeighbourhoodRequest(both | {"walk": 1.0}, both | {"model": 3.0}, (), 20)
    )
    assert_matches_oracle(papers, corpus.documents, NeighbourhoodRequest(both, both, ("doc-0000",), 1000))


def test_a_pair_weighs_the_words_of_both_members(papers: Reader, corpus: AnalysedCorpus) -> None:
    request = NeighbourhoodRequest({PHRASE_PAIR: 1.0}, {PHRASE_PAIR: 1.0}, (), 1000)
    assert_matches_oracle(papers, corpus.documents, request)
    assert len(papers.find_neighbourhood(request).ids) > 3


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_of_any_characters_has_its_edges(papers: Reader, corpus: AnalysedCorpus, phrase: str) -> None:
    request = NeighbourhoodRequest({phrase: 1.0}, {phrase: 1.0}, (), 1000)
    assert_matches_oracle(papers, corpus.documents, request)
    assert papers.find_neighbourhood(request).reached_count > 0


def test_included_documents_are_returned_wherever_they_rank(papers: Reader, corpus: AnalysedCorpus) -> None:
    request = NeighbourhoodRequest({"mail": 1.0, "graph": 1.0}, {"model": 1.0}, (), 1000)
    ranked = compute_neighbourhood(corpus.documents, request).ids
    unreached = next(name for name in corpus.documents_by_id() if name not in ranked)
    for include in ((ranked[-1], ranked[0]), (unreached,), (unreached, ranked[2]), (ranked[1], ranked[1])):
        assert_matches_oracle(
            papers, corpus.documents, NeighbourhoodRequest(request.boosts_a, request.boosts_b, include, 2)
        )


def test_an_included_document_keeps_the_edges_of_one_side(papers: Reader, corpus: AnalysedCorpus) -> None:
    one_sided = next(d for d in corpus.documents if "mail" in d.phrases and "graph" not in d.phrases)
    found = papers.find_neighbourhood(NeighbourhoodRequest({"mail": 5.0}, {"graph": 0.2}, (one_sided.document.id,), 3))
    weight = dict(zip(one_sided.phrases, one_sided.weights, strict=True))["mail"]
    assert collect_edges(found)["mail", one_sided.document.id] == pytest.approx(weight, rel=1e-5)


def test_nothing_is_included_that_is_missing_or_not_readable(papers: Reader, corpus: AnalysedCorpus) -> None:
    secret = next(d.document.id for d in corpus.documents if d.document.acl)
    request = NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("missing", secret), 1000, frozenset())
    assert not {"missing", secret} & set(papers.find_neighbourhood(request).ids)


def test_sides_without_a_common_document_return_only_the_included_ones(engine: Engine) -> None:
    corpus = weigh_drafts([make_draft("a", ["mail"], ["mail"]), make_draft("b", ["graph"], ["graph"])])
    reader = write_index(engine, corpus)
    assert_matches_oracle(reader, corpus.documents, NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("b", "a"), 10))
    assert_matches_oracle(reader, corpus.documents, NeighbourhoodRequest({}, {"graph": 1.0}, ("b",), 10))
    assert_matches_oracle(reader, corpus.documents, NeighbourhoodRequest({}, {}, ("b",), 10))
    assert_matches_oracle(reader, corpus.documents, NeighbourhoodRequest({"mail": 1.0}, {"mail": 1.0}, (), 0))


def test_equal_totals_are_ordered_by_id(engine: Engine) -> None:
    names = [f"twin-{i:02d}" for i in range(30)]
    corpus = weigh_drafts([make_draft(name, ["mail graph"], ["mail", "graph"]) for name in reversed(names)])
    reader = write_index(engine, corpus)
    found = reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("twin-20",), 7))
    assert tuple(found.ids) == ("twin-20", *names[:7])
    engine.add_documents(
        "papers", [weigh_document(make_draft("twin-005", ["mail graph"], ["mail", "graph"]), corpus.model)]
    )
    assert "twin-005" in reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, (), 1000)).ids


@pytest.mark.parametrize("max_scanned_edges", [1, 150, neighbourhood_search.MAX_SCANNED_EDGES])
def test_edges_stay_exact_while_documents_are_added_and_deleted(
    tantivy_engine: Engine, corpus: AnalysedCorpus, max_scanned_edges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact on the embedded engine, whose edges keep the epoch's statistics, whether it scans or looks them up."""
    monkeypatch.setattr(neighbourhood_search, "MAX_SCANNED_EDGES", max_scanned_edges)
    reader = write_index(tantivy_engine, corpus)
    live, rng = corpus.documents_by_id(), random.Random(7)
    for step in range(12):
        name = rng.choice([*live, f"new-{step}"])
        if rng.random() < 0.3 and name in live:
            tantivy_engine.delete_documents("papers", [name])
            del live[name]
        else:
            held = rng.sample(PHRASES, 4)
            live[name] = weigh_document(make_draft(name, held, held, acl=rng.choice([(), ("staff",)])), corpus.model)
            tantivy_engine.add_documents("papers", [live[name]])
        request = make_random_request(rng, list(live))
        visible = tuple(n for n in request.include if n in compute_neighbourhood(list(live.values()), request).ids)
        assert_matches_oracle(
            reader,
            list(live.values()),
            NeighbourhoodRequest(request.boosts_a, request.boosts_b, visible, request.limit, request.groups),
            counts_all=max_scanned_edges > 1000,
        )
    assert [a.document.id for a in tantivy_engine.open_reader("papers").scan()] == sorted(live)
