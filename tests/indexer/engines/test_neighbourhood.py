"""The neighbourhood against a slow, literal oracle: documents, order, edges, weights, degrees."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from indexer.documents import AnalysedDocument
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import NeighbourhoodRequest
from tests.support.bm25_oracle import edges_of, expected
from tests.support.corpora.engine_corpus import PAIRED, PHRASES, Corpus, analyse, build, draft, weigh


def agree(reader: Reader, documents: Sequence[AnalysedDocument], request: NeighbourhoodRequest) -> None:
    found, wanted = reader.find_neighbourhood(request), expected(documents, request)
    assert_same_order(list(found.ids), wanted.ids, wanted.totals, len(dict.fromkeys(request.include)))
    assert found.phrases == tuple(dict.fromkeys([*request.boosts_a, *request.boosts_b]))
    assert found.reached_count == wanted.reached
    assert edges_of(found) == pytest.approx(wanted.edges, rel=1e-5)
    by_id = {d.document.id: d for d in documents}
    np.testing.assert_allclose(found.degrees, [by_id[name].degree for name in found.ids], rtol=1e-12)
    assert list(found.titles) == [by_id[name].document.title for name in found.ids]
    dtypes = [str(array.dtype) for array in (found.rows, found.columns, found.weights, found.degrees)]
    assert dtypes == ["int64", "int64", "float64", "float64"]


def assert_same_order(found: list[str], wanted: list[str], totals: dict[str, float], included: int) -> None:
    """Equal, but that totals within single precision of each other may change places."""
    assert found[:included] == wanted[:included] and len(found) == len(wanted)
    for one, other in zip(found[included:], wanted[included:], strict=True):
        assert one == other or totals[one] == pytest.approx(totals[other], rel=1e-5)


def random_request(chance: random.Random, ids: Sequence[str]) -> NeighbourhoodRequest:
    pool = [*PHRASES, PAIRED, "no such phrase"]
    sides = [{phrase: chance.uniform(0.1, 3.0) for phrase in chance.sample(pool, chance.randint(1, 9))} for _ in "ab"]
    groups = chance.choice([None, None, frozenset({"staff"}), frozenset[str]()])
    return NeighbourhoodRequest(
        sides[0], sides[1], tuple(chance.sample(list(ids), 2)), chance.choice([1, 3, 10, 1000]), groups
    )


@pytest.mark.parametrize("seed", range(25))
def test_it_is_what_its_definition_says(papers: Reader, corpus: Corpus, seed: int) -> None:
    request = random_request(random.Random(seed), list(corpus.by_id()))
    visible = [name for name in request.include if name in expected(corpus.documents, request).ids]
    agree(
        papers,
        corpus.documents,
        NeighbourhoodRequest(request.boosts_a, request.boosts_b, tuple(visible), request.limit, request.groups),
    )


def test_it_is_one_request(shared_engine: Engine, papers: Reader) -> None:
    before = shared_engine.request_count
    papers.find_neighbourhood(NeighbourhoodRequest(dict.fromkeys(PHRASES, 1.0), {"mail": 1.0}, ("doc-0001",), 20))
    assert shared_engine.request_count == before + 1


def test_a_phrase_of_both_sides_counts_on_each(papers: Reader, corpus: Corpus) -> None:
    both = {"mail": 2.0, "graph": 0.5}
    agree(papers, corpus.documents, NeighbourhoodRequest(both | {"walk": 1.0}, both | {"model": 3.0}, (), 20))
    agree(papers, corpus.documents, NeighbourhoodRequest(both, both, ("doc-0000",), 1000))


def test_a_pair_weighs_the_words_of_both_members(papers: Reader, corpus: Corpus) -> None:
    request = NeighbourhoodRequest({PAIRED: 1.0}, {PAIRED: 1.0}, (), 1000)
    agree(papers, corpus.documents, request)
    assert len(papers.find_neighbourhood(request).ids) > 3


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_of_any_characters_has_its_edges(papers: Reader, corpus: Corpus, phrase: str) -> None:
    request = NeighbourhoodRequest({phrase: 1.0}, {phrase: 1.0}, (), 1000)
    agree(papers, corpus.documents, request)
    assert papers.find_neighbourhood(request).reached_count > 0


def test_what_is_included_is_there_wherever_it_ranks(papers: Reader, corpus: Corpus) -> None:
    request = NeighbourhoodRequest({"mail": 1.0, "graph": 1.0}, {"model": 1.0}, (), 1000)
    ranked = expected(corpus.documents, request).ids
    unreached = next(name for name in corpus.by_id() if name not in ranked)
    for include in ((ranked[-1], ranked[0]), (unreached,), (unreached, ranked[2]), (ranked[1], ranked[1])):
        agree(papers, corpus.documents, NeighbourhoodRequest(request.boosts_a, request.boosts_b, include, 2))


def test_an_included_document_keeps_the_edges_of_one_side(papers: Reader, corpus: Corpus) -> None:
    one_sided = next(d for d in corpus.documents if "mail" in d.phrases and "graph" not in d.phrases)
    found = papers.find_neighbourhood(NeighbourhoodRequest({"mail": 5.0}, {"graph": 0.2}, (one_sided.document.id,), 3))
    weight = dict(zip(one_sided.phrases, one_sided.weights, strict=True))["mail"]
    assert edges_of(found)["mail", one_sided.document.id] == pytest.approx(weight, rel=1e-5)


def test_nothing_is_included_that_is_missing_or_not_readable(papers: Reader, corpus: Corpus) -> None:
    secret = next(d.document.id for d in corpus.documents if d.document.acl)
    request = NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("missing", secret), 1000, frozenset())
    assert not {"missing", secret} & set(papers.find_neighbourhood(request).ids)


def test_sides_that_share_no_document_give_only_what_is_included(engine: Engine) -> None:
    corpus = analyse([draft("a", ["mail"], ["mail"]), draft("b", ["graph"], ["graph"])])
    reader = build(engine, corpus)
    agree(reader, corpus.documents, NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("b", "a"), 10))
    agree(reader, corpus.documents, NeighbourhoodRequest({}, {"graph": 1.0}, ("b",), 10))
    agree(reader, corpus.documents, NeighbourhoodRequest({}, {}, ("b",), 10))
    agree(reader, corpus.documents, NeighbourhoodRequest({"mail": 1.0}, {"mail": 1.0}, (), 0))


def test_equal_totals_come_by_id(engine: Engine) -> None:
    names = [f"twin-{i:02d}" for i in range(30)]
    corpus = analyse([draft(name, ["mail graph"], ["mail", "graph"]) for name in reversed(names)])
    reader = build(engine, corpus)
    found = reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, ("twin-20",), 7))
    assert found.ids == ("twin-20", *names[:7])
    engine.add_documents("papers", [weigh(draft("twin-005", ["mail graph"], ["mail", "graph"]), corpus.model)])
    assert "twin-005" in reader.find_neighbourhood(NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0}, (), 1000)).ids


def test_edges_stay_right_while_documents_come_and_go(tantivy_engine: Engine, corpus: Corpus) -> None:
    """Exact on the embedded engine, whose edges keep the epoch's statistics."""
    reader = build(tantivy_engine, corpus)
    live, chance = corpus.by_id(), random.Random(7)
    for step in range(12):
        name = chance.choice([*live, f"new-{step}"])
        if chance.random() < 0.3 and name in live:
            tantivy_engine.delete_documents("papers", [name])
            del live[name]
        else:
            held = chance.sample(PHRASES, 4)
            live[name] = weigh(draft(name, held, held, acl=chance.choice([(), ("staff",)])), corpus.model)
            tantivy_engine.add_documents("papers", [live[name]])
        request = random_request(chance, list(live))
        visible = tuple(n for n in request.include if n in expected(list(live.values()), request).ids)
        agree(
            reader,
            list(live.values()),
            NeighbourhoodRequest(request.boosts_a, request.boosts_b, visible, request.limit, request.groups),
        )
    assert [a.document.id for a in tantivy_engine.open_reader("papers").scan()] == sorted(live)
