"""Both engines give the same answers, and the weights are those that the engines themselves compute."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from tantivy import Occur, Query

from indexer.engines import open_engine
from indexer.engines.base import Engine, Reader
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.elasticsearch.reader import ElasticsearchReader
from indexer.engines.embedded.reader import EmbeddedReader
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.model.bm25 import split_phrase_words
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_corpus, make_draft, weigh_document, write_index
from tests.support.engines import open_elasticsearch
from tests.support.neighbourhood_oracle import assert_same_order, collect_edges, make_random_request

SIZE = 300


@pytest.fixture(scope="module")
def large_corpus() -> AnalysedCorpus:
    return make_corpus(SIZE, seed=5)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory, large_corpus: AnalysedCorpus) -> Iterator[Reader]:
    with open_engine(str(tmp_path_factory.mktemp("engine"))) as engine:
        yield write_index(engine, large_corpus)


@pytest.fixture(scope="module")
def one_shard(elasticsearch_url: str, large_corpus: AnalysedCorpus) -> Iterator[Reader]:
    with open_elasticsearch(elasticsearch_url, shards=1) as engine:
        yield write_index(engine, large_corpus)


@pytest.fixture(scope="module")
def two_shards(elasticsearch_url: str, large_corpus: AnalysedCorpus) -> Iterator[Reader]:
    with open_elasticsearch(elasticsearch_url, shards=2) as engine:
        yield write_index(engine, large_corpus)


def sum_boosts_by_document(reader: Reader, request: NeighbourhoodRequest) -> dict[str, float]:
    totals: defaultdict[str, float] = defaultdict(float)
    for phrase, name in collect_edges(reader.find_neighbourhood(request)):
        totals[name] += request.boosts_a.get(phrase, 0.0) + request.boosts_b.get(phrase, 0.0)
    return dict(totals)


def assert_readers_agree(reader_a: Reader, reader_b: Reader, seed: int) -> None:
    rng = random.Random(seed)
    request = make_random_request(rng, [f"doc-{i:04d}" for i in range(SIZE)])
    first, second = reader_a.find_neighbourhood(request), reader_b.find_neighbourhood(request)
    included = sum(name in request.include for name in first.ids)
    assert_same_order(
        list(first.ids),
        list(second.ids),
        sum_boosts_by_document(reader_a, request) | sum_boosts_by_document(reader_b, request),
        included,
    )
    assert first.reached_count == second.reached_count and first.phrases == second.phrases
    if set(first.ids) == set(second.ids):
        assert collect_edges(first) == pytest.approx(collect_edges(second), rel=1e-5)
    words = tuple(rng.sample(("mail", "graph", "walk", "model", "word1", "word2"), 3))
    hits = [reader.search(Selection(words=words), size=50, facets=["venue"]) for reader in (reader_a, reader_b)]
    assert hits[0].total == hits[1].total and hits[0].facets == hits[1].facets
    np.testing.assert_allclose([h.score for h in hits[0].hits], [h.score for h in hits[1].hits], rtol=1e-5)


@pytest.mark.parametrize("seed", range(15))
def test_the_two_engines_agree(embedded: Reader, one_shard: Reader, seed: int) -> None:
    assert_readers_agree(embedded, one_shard, seed)


@pytest.mark.parametrize("seed", range(5))
def test_two_shards_weigh_like_one(one_shard: Reader, two_shards: Reader, seed: int) -> None:
    assert_readers_agree(one_shard, two_shards, seed)


def sample_edges(reader: Reader, large_corpus: AnalysedCorpus) -> list[tuple[str, str, float]]:
    everything = dict.fromkeys(large_corpus.model.phrases, 1.0)
    edges = collect_edges(reader.find_neighbourhood(NeighbourhoodRequest(everything, everything, (), SIZE)))
    assert len(edges) == sum(len(d.phrases) for d in large_corpus.documents)
    return [(*edge, edges[edge]) for edge in random.Random(3).sample(sorted(edges), 60)]


def test_embedded_weights_are_tantivys_own_scores(embedded: Reader, large_corpus: AnalysedCorpus) -> None:
    assert isinstance(embedded, EmbeddedReader)
    epoch = embedded._epoch
    for phrase, name, weight in sample_edges(embedded, large_corpus):
        words = [Query.term_query(epoch.schema, "tokens", word, "freq") for word in split_phrase_words(phrase)]
        only = Query.const_score_query(Query.term_query(epoch.schema, "id", name, "basic"), 0.0)
        query = Query.boolean_query([(Occur.Must, only), *((Occur.Should, word) for word in words)])
        (score, _), *_ = epoch.current_state().searcher.search(query, 1).hits
        assert score == pytest.approx(weight, rel=1e-5)


def assert_elasticsearch_explains(reader: Reader, edges: Iterable[tuple[str, str, float]]) -> None:
    assert isinstance(reader, ElasticsearchReader)
    for phrase, name, weight in edges:
        answer = reader._engine.connection.client.search(
            index=reader._concrete,
            query={
                "bool": {
                    "must": {"match": {"tokens": " ".join(split_phrase_words(phrase))}},
                    "filter": [{"ids": {"values": [name]}}],
                }
            },
            explain=True,
            search_type="dfs_query_then_fetch",
        )
        assert answer["hits"]["hits"][0]["_explanation"]["value"] == pytest.approx(weight, rel=1e-5)


@pytest.mark.parametrize("shards", [1, 2])
def test_server_weights_are_what_elasticsearch_explains(
    one_shard: Reader, two_shards: Reader, large_corpus: AnalysedCorpus, shards: int
) -> None:
    reader = one_shard if shards == 1 else two_shards
    assert_elasticsearch_explains(reader, sample_edges(reader, large_corpus)[:25])


@pytest.mark.parametrize("shards", [1, 2])
def test_server_weights_follow_the_documents_that_are_added_and_deleted(elasticsearch_url: str, shards: int) -> None:
    corpus = make_corpus(60, seed=6)
    request = NeighbourhoodRequest({"mail": 1.0}, {"graph": 1.0, "mail": 2.0}, (), 1000)
    with open_elasticsearch(elasticsearch_url, shards=shards) as engine:
        reader = write_index(engine, corpus)
        before = collect_edges(reader.find_neighbourhood(request))
        drafts = [make_draft(f"new-{n}", ["mail mail", "graph of mail"], ["mail", "graph"]) for n in range(20)]
        engine.add_documents("papers", [weigh_document(draft, corpus.model) for draft in drafts])
        engine.delete_documents("papers", [document.document.id for document in corpus.documents[:10]])
        edges = collect_edges(reader.find_neighbourhood(request))
        kept = before.keys() & edges.keys()
        assert kept and all(abs(edges[edge] / before[edge] - 1) > 1e-3 for edge in kept)
        added = [edge for edge in edges if edge[1].startswith("new-")]
        assert_elasticsearch_explains(reader, [(*edge, edges[edge]) for edge in [*sorted(kept)[:10], *added[:5]]])


def test_an_engine_is_chosen_by_its_address(tmp_path: object, elasticsearch_url: str) -> None:
    with open_engine(str(tmp_path)) as folder, open_engine(elasticsearch_url) as url:
        kinds: list[Engine] = [folder, url]
        assert [engine.kind for engine in kinds] == ["tantivy", "elasticsearch"]
        assert url.address == elasticsearch_url and isinstance(url, ElasticsearchEngine)
        assert int(url.get_version().split(".")[0]) in (8, 9) and folder.get_version()
