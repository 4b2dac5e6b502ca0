"""Recorded requests and Elasticsearch's own search for similar documents, with which comparisons are timed."""

from __future__ import annotations

from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from tests.support.corpora.bench_corpus import INDEX
from worker.benchmark.replay import make_more_like_this_search, record_requests
from worker.benchmark.workload import DocumentPair
from worker.comparer import Comparer


def test_recorded_requests_are_repeated_exactly(
    generated_elasticsearch_engine: ElasticsearchEngine, pairs: list[DocumentPair]
) -> None:
    comparer = Comparer(generated_elasticsearch_engine)
    spec = pairs[0].build_spec(comparer, INDEX)
    comparer.compare(spec)
    with record_requests(generated_elasticsearch_engine) as first:
        comparer.compare(spec)
    with record_requests(generated_elasticsearch_engine) as second:
        comparer.compare(spec)
    assert len(first.requests) == 2
    assert first.requests == second.requests
    first.replay()


def test_more_like_this_returns_documents_with_summaries(
    generated_elasticsearch_engine: ElasticsearchEngine, pairs: list[DocumentPair]
) -> None:
    response = make_more_like_this_search(generated_elasticsearch_engine, INDEX, pairs[0].a)()
    hits = response["hits"]["hits"]  # type: ignore[index]
    assert len(hits) == 10
    assert all("card" in hit["fields"] for hit in hits)
