"""BM25 weights, compared with those of a real Elasticsearch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from elasticsearch import Elasticsearch

from indexer.model.bm25 import Bm25Scorer, quantise_length, split_phrase_words
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_corpus


@pytest.fixture
def client(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elasticsearch_url) as client:
        yield client


def round_length_literally(length: int) -> int:
    """Apply Lucene's SmallFloat.intToByte4 and its inverse, bit by bit."""
    if length < 24:
        return length
    rest = length - 24
    shift = max(rest.bit_length() - 4, 0)
    return 24 + (rest >> shift << shift)


def test_a_length_is_rounded_down_to_four_significant_bits() -> None:
    lengths = np.arange(70_000)
    np.testing.assert_array_equal(quantise_length(lengths), [round_length_literally(int(length)) for length in lengths])
    assert quantise_length([39, 40, 41, 42, 1000, 2**31 - 1]).tolist() == [39, 40, 40, 42, 984, 2013265944]


def test_the_words_of_a_pair_are_those_of_both_members() -> None:
    assert split_phrase_words("web graph@@web page") == ["web", "graph", "web", "page"]


def test_a_phrase_with_a_repeated_word_counts_it_twice() -> None:
    corpus = make_corpus(20)
    scorer, tokens = Bm25Scorer(corpus.model), corpus.documents[0].tokens.split()
    once, twice = scorer.score_phrases(tokens, [tokens[0], f"{tokens[0]} {tokens[0]}"])
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("shards", [1, 2])
def test_weights_equal_those_elasticsearch_explains(client: Elasticsearch, shards: int) -> None:
    corpus = make_corpus(80)
    name = f"bm25-{shards}"
    client.options(ignore_status=404).indices.delete(index=name)
    client.indices.create(
        index=name,
        settings={"number_of_shards": shards, "number_of_replicas": 0},
        mappings={"properties": {"tokens": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}}},
    )
    actions = [line for a in corpus.documents for line in ({"index": {"_id": a.document.id}}, {"tokens": a.tokens})]
    client.bulk(index=name, operations=actions, refresh=True)
    compared = sum(compare_explanations(client, name, corpus, phrase) for phrase in corpus.model.phrases)
    client.indices.delete(index=name)
    assert compared > 300


def compare_explanations(client: Elasticsearch, name: str, corpus: AnalysedCorpus, phrase: str) -> int:
    answer = client.search(
        index=name,
        query={"match": {"tokens": " ".join(split_phrase_words(phrase))}},
        explain=True,
        size=100,
        search_type="dfs_query_then_fetch",
    )
    documents = corpus.documents_by_id()
    for hit in answer["hits"]["hits"]:
        ours = Bm25Scorer(corpus.model).score_phrases(documents[hit["_id"]].tokens.split(), [phrase])[0]
        assert hit["_explanation"]["value"] == pytest.approx(ours, rel=1e-5)
    return len(answer["hits"]["hits"])
