"""The API with Elasticsearch behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.web_servers import RunningServer
from webapi.client import ApiError, Client


@pytest.fixture
def client(elastic_server: RunningServer) -> Iterator[Client]:
    with elastic_server.make_client() as client:
        yield client


def test_comparisons_pages_and_searches(client: Client) -> None:
    answer = client.compare("papers", "d1", "d2")
    assert [entry["phrase"] for entry in answer["common"]]
    page = client.explain("papers", ["d1", "d2"], query="web graph")
    assert [entry["state"] for entry in page["explanations"]] == ["done", "done"]
    found = client.search("papers", {"query": {"match": {"text": "web graph"}}, "size": 3})
    assert found["hits"]["total"]["value"] >= 12 and len(found["hits"]["hits"]) == 3


def test_a_written_document_is_seen_and_changes_its_answers(client: Client) -> None:
    client.add_documents("papers", [{"id": "late", "title": "New", "text": "A random walk."}])
    before = client.compare("papers", "d3", "late")["id"]
    client.add_documents("papers", [{"id": "late", "title": "Changed", "text": "A random walk on the web graph."}])
    assert client.get_document("papers", "late")["title"] == "Changed"
    assert client.compare("papers", "d3", "late")["id"] != before


def test_unknown_indexes_and_documents_are_404(client: Client) -> None:
    with pytest.raises(ApiError, match="unknown-index"):
        client.get_index("nope")
    with pytest.raises(ApiError, match="unknown-document"):
        client.get_document("papers", "nope")
