"""Slices of a source, read by several processes at one point in time of a real Elasticsearch."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator

import pytest
from elasticsearch import Elasticsearch, helpers

from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.errors import BadInput, BadParameter
from indexer.readers import elasticsearch_index
from indexer.readers.point_in_time import keep_point_in_time, open_point_in_time
from indexer.readers.rejects import Rejects
from indexer.readers.shared_source import SharedSource, SourceSlice
from indexer.records import FieldMap

MAPS = FieldMap.parse(["title=headline", "text=body"])
DOCUMENTS = 70


@pytest.fixture
def source(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ElasticsearchConnection, str]]:
    """An index of 70 documents in three shards, read in pages of 10; one of them has no text."""
    monkeypatch.setattr(elasticsearch_index, "PAGE_SIZE", 10)
    monkeypatch.setattr("indexer.readers.shared_source.ID_PAGE_SIZE", 10)
    name = f"news-{uuid.uuid4().hex[:8]}"
    with Elasticsearch(elasticsearch_url) as client:
        client.indices.create(index=name, settings={"number_of_shards": 3})
        bodies = [{"headline": f"Story {n}", **({"body": f"Words of {n}"} if n != 7 else {})} for n in range(DOCUMENTS)]
        actions = ({"_index": name, "_id": f"s{n:02}", "_source": body} for n, body in enumerate(bodies))
        helpers.bulk(client, actions, refresh=True)
        yield ElasticsearchConnection(elasticsearch_url, 30.0), name
        client.indices.delete(index=name, ignore_unavailable=True)


def test_slices_together_are_the_source_whatever_is_written_meanwhile(
    source: tuple[ElasticsearchConnection, str], elasticsearch_url: str
) -> None:
    connection, index = source
    whole = list(elasticsearch_index.read_elasticsearch_index(f"{elasticsearch_url}/{index}", Rejects(), MAPS))
    with open_point_in_time(connection, index) as pit:
        shared = SharedSource.open(connection, index, pit, MAPS, 2**20)
        connection.client.delete(index=index, id="s03")
        connection.client.index(index=index, id="late", document={"body": "late words"}, refresh=True)
        shared = SharedSource(**shared.to_dict())  # as another process gets it
        places = list(shared.list_places(connection))
        assert len(places) == DOCUMENTS
        assert [each.place for each in places] == sorted(each.place for each in places)
        for size in (1, 16, 30, DOCUMENTS + 1):
            rejects, read = Rejects(), []
            for first in range(0, DOCUMENTS, size):
                part = SourceSlice(places[first - 1].place if first else None, size)
                documents = list(shared.read_slice(connection, part, rejects))
                assert len(documents) <= size
                read += documents
            assert read == whole
            assert [reject.reason for reject in rejects.examples] == ["no text"]


def test_documents_are_read_by_their_ids_in_the_order_asked_for(source: tuple[ElasticsearchConnection, str]) -> None:
    connection, index = source
    with open_point_in_time(connection, index) as pit:
        shared = SharedSource.open(connection, index, pit, MAPS, 2**20)
        found = shared.read_documents(connection, ["s40", "s07", "s01", "unknown", "s69"])
    assert [document.id for document in found] == ["s40", "s01", "s69"]


def test_a_source_that_is_gone_is_an_error_with_its_fix(source: tuple[ElasticsearchConnection, str]) -> None:
    connection, index = source
    with open_point_in_time(connection, index) as pit, keep_point_in_time(connection, pit):
        shared = SharedSource.open(connection, index, pit, MAPS, 2**20)
        connection.client.indices.delete(index=index)
        with pytest.raises(BadInput, match="cannot be read any more as it was"):
            list(shared.read_slice(connection, SourceSlice(None, 5), Rejects()))
    with pytest.raises(BadInput, match="has no index"), open_point_in_time(connection, index):
        pass


def test_ids_from_a_field_are_refused(source: tuple[ElasticsearchConnection, str]) -> None:
    connection, index = source
    with pytest.raises(BadParameter, match="leave out --map id"):
        SharedSource.open(connection, index, "pit", FieldMap.parse(["id=headline"]), 2**20)


def test_what_processes_are_told_holds_no_credentials(source: tuple[ElasticsearchConnection, str]) -> None:
    connection, index = source
    with open_point_in_time(connection, index) as pit:
        connection.url = connection.url.replace("http://", "http://user:secret@")
        shared = SharedSource.open(connection, index, pit, MAPS, 2**20)
    assert "secret" not in str(dataclasses.asdict(shared))
