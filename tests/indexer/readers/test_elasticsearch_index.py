"""Reading an existing Elasticsearch index, from a real one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from elasticsearch import Elasticsearch

from indexer.errors import BadInput, BadParameter, EngineUnavailable
from indexer.readers import elasticsearch_index as reader
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap


@pytest.fixture
def source(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An index of 25 documents in pages of 10, one of them without text."""
    monkeypatch.setattr(reader, "PAGE_SIZE", 10)
    name = f"news-{uuid.uuid4().hex[:8]}"
    with Elasticsearch(elasticsearch_url) as client:
        for number in range(25):
            body = {"headline": f"Story {number}", "body": f"Words of story {number}", "meta": {"desk": "sports"}}
            client.index(index=name, id=f"s{number:02}", document=body if number != 7 else {"headline": "empty"})
        client.indices.refresh(index=name)
        yield f"{elasticsearch_url}/{name}"
        client.indices.delete(index=name)


MAPS = FieldMap.parse(["title=headline", "text=body", "facets.desk=meta.desk"])


def test_every_document_is_read_once_under_its_own_id(source: str) -> None:
    rejects = Rejects()
    found = sorted(reader.read_elasticsearch_index(source, rejects, MAPS), key=lambda document: document.id)
    assert [document.id for document in found] == [f"s{number:02}" for number in range(25) if number != 7]
    assert found[0].title == "Story 0"
    assert found[0].text == "Words of story 0"
    assert found[0].facets == {"desk": ("sports",)}
    assert [(r.source.rpartition("/")[2], r.reason) for r in rejects.examples] == [("s07", "no text")]


@pytest.mark.parametrize("field_map", ["acl=grps", "title=titel", "facets.desk=meta.dsk"])
def test_a_field_that_the_index_lacks_is_refused(source: str, field_map: str) -> None:
    with pytest.raises(BadParameter, match=r"does not have; use one of body, headline, meta"):
        reader.read_elasticsearch_index(source, Rejects(), FieldMap.parse(["text=body", field_map]))


def test_a_field_that_is_not_mapped_is_read_where_the_index_allows_it(elasticsearch_url: str) -> None:
    name = f"loose-{uuid.uuid4().hex[:8]}"
    with Elasticsearch(elasticsearch_url) as client:
        client.indices.create(index=name, mappings={"dynamic": False, "properties": {"body": {"type": "text"}}})
        client.index(index=name, id="s1", document={"body": "words", "head": "Loose"}, refresh=True)
        maps = FieldMap.parse(["text=body", "title=head", "date="])
        (found,) = reader.read_elasticsearch_index(f"{elasticsearch_url}/{name}", Rejects(), maps)
        client.indices.delete(index=name)
    assert found.title == "Loose"


def test_documents_written_during_the_read_are_not_seen(source: str, elasticsearch_url: str) -> None:
    documents = reader.read_elasticsearch_index(source, Rejects(), MAPS)
    first = next(documents)
    with Elasticsearch(elasticsearch_url) as client:
        index = source.rpartition("/")[2]
        client.index(index=index, id="late", document={"body": "late words"}, refresh=True)
    assert "late" not in {first.id, *(document.id for document in documents)}


def test_the_source_is_left_as_it_was(source: str, elasticsearch_url: str) -> None:
    index = source.rpartition("/")[2]
    with Elasticsearch(elasticsearch_url) as client:
        before = client.indices.stats(index=index, metric="indexing")["_all"]["total"]["indexing"]["index_total"]
        list(reader.read_elasticsearch_index(source, Rejects(), MAPS))
        after = client.indices.stats(index=index, metric="indexing")["_all"]["total"]["indexing"]["index_total"]
    assert after == before


def test_a_missing_source_is_reported(elasticsearch_url: str) -> None:
    with pytest.raises(BadInput, match="has no index 'nowhere'"):
        list(reader.read_elasticsearch_index(f"{elasticsearch_url}/nowhere", Rejects()))
    with pytest.raises(EngineUnavailable, match="does not answer"):
        reader.read_elasticsearch_index("http://127.0.0.1:9/news", Rejects(), timeout=1)


@pytest.mark.parametrize("written", ["news", "http://host:9200", "http://host:9200/", "ftp://host/news"])
def test_a_url_without_an_index_is_refused_with_a_fix(written: str) -> None:
    with pytest.raises(BadParameter, match="write http://HOST:9200/INDEX"):
        reader.split_index_url(written)
