"""A copy of a source with only the documents that a caller may read: what searches with limited groups must equal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from elasticsearch import Elasticsearch, helpers

UNCOMPARED = {"took", "_shards", "_index", "_score", "max_score", "why"}
"""Scores depend on the words of all documents, by design."""


@contextmanager
def copy_readable(client: Elasticsearch, source: str, documents: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Give the name of an index with the mapping of the source and these documents, which have no groups."""
    copy = f"{source}-readable"
    mappings = client.indices.get_mapping(index=source).body[source]["mappings"]
    client.indices.create(index=copy, mappings=mappings)
    actions = ({"_index": copy, "_id": id, "_source": one} for id, one in documents.items())
    helpers.bulk(client, actions, refresh=True)
    try:
        yield copy
    finally:
        client.indices.delete(index=copy)


def strip_scores(response: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is compared of a response: all but scores, and hits in any order if they are ranked by score."""
    stripped: dict[str, Any] = _strip(response)
    sort = json.dumps(body.get("sort", "_score"))
    if "_score" in sort:
        for hit in stripped["hits"]["hits"]:
            hit.pop("sort", None)
        stripped["hits"]["hits"].sort(key=lambda hit: hit["_id"])
    return stripped


def _strip(node: Any) -> Any:
    if isinstance(node, list):
        return [_strip(one) for one in node]
    if isinstance(node, Mapping):
        return {name: _strip(value) for name, value in node.items() if name not in UNCOMPARED}
    return node
