"""The sample of a shared source is the one that a stream of its documents gives, and its slices cover it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import pytest
from elasticsearch import Elasticsearch, helpers

from indexer.documents import Document
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.errors import BadInput
from indexer.indexing import source_sample
from indexer.indexing.source_sample import SourceIds, SourceSample
from indexer.indexing.vector_check import VectorCheck
from indexer.mining.document_sample import SampleBounds, SampleSelector
from indexer.readers.point_in_time import open_point_in_time
from indexer.readers.rejects import Rejects
from indexer.readers.shared_source import SharedSource, SourceSlice
from indexer.records import FieldMap
from tests.support.engines import make_prefix

FIELDS = FieldMap.parse(["text=body"])
BOUNDS = [
    SampleBounds(documents=20),
    SampleBounds(documents=60, text_bytes=300),
    SampleBounds(text_bytes=300),
    SampleBounds(documents=95),
    SampleBounds(documents=96),
    SampleBounds(),
]


@contextmanager
def open_source(url: str, bodies: dict[tuple[str, str], str]) -> Iterator[tuple[ElasticsearchConnection, SharedSource]]:
    """Open a source of two shards with these texts, by id and routing."""
    name = make_prefix() + "source"
    with Elasticsearch(url) as client:
        client.indices.create(index=name, settings={"number_of_shards": 2})
        actions = [
            {"_index": name, "_id": id, "routing": routing, "_source": {"body": body}}
            for (id, routing), body in bodies.items()
        ]
        helpers.bulk(client, actions, refresh=True)
        connection = ElasticsearchConnection(url, 30.0)
        with open_point_in_time(connection, name) as pit:
            yield connection, SharedSource.open(connection, name, pit, FIELDS, 2**20)
        client.indices.delete(index=name)


def read_all(connection: ElasticsearchConnection, source: SharedSource) -> list[Document]:
    return list(source.read_slice(connection, SourceSlice(None, 1000), Rejects()))


def test_the_sample_is_that_of_a_stream_of_the_documents(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_sample, "_SPARE_IDS", 1)  # the ids that have no text are more
    bodies = {(f"d{n}", f"{n}"): "some words " * (n % 5) for n in range(120)}
    with open_source(elasticsearch_url, bodies) as (connection, source):
        documents = read_all(connection, source)
        assert len(documents) == 96
        for bounds in BOUNDS:
            selector = SampleSelector(bounds)
            list(selector.watch(documents))
            expected = [documents[number] for number in selector.list_numbers()]
            ids = SourceIds(connection, source, bounds)
            sample = SourceSample(connection, source, ids, bounds, VectorCheck())
            found = list(sample)
            assert ids.count == 120
            assert sample.covers_all == selector.covers_all
            if bounds == SampleBounds():
                assert sorted(each.id for each in found) == sorted(each.id for each in documents)
            else:
                assert found == expected
            assert sample.text_bytes == sum(len(each.text) for each in found)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 96])
def test_slices_cover_the_source(elasticsearch_url: str, count: int) -> None:
    bodies = {(f"d{n}", f"{n}"): "words" for n in range(count)}
    with open_source(elasticsearch_url, bodies) as (connection, source):
        ids = SourceIds(connection, source, SampleBounds(10))
        for size in (1, 16, 40, 1000):
            slices = ids.split(size)
            read = [list(source.read_slice(connection, part, Rejects())) for part in slices]
            assert all(read), "no slice is empty"
            assert list(chain.from_iterable(read)) == read_all(connection, source)


def test_two_documents_of_one_id_are_refused(elasticsearch_url: str) -> None:
    bodies = {("same", routing): "words" for routing in "abcdefgh"}
    with (
        open_source(elasticsearch_url, bodies) as (connection, source),
        pytest.raises(BadInput, match="have the same id"),
    ):
        SourceIds(connection, source, SampleBounds(10))
