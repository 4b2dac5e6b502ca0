"""The vector that a search body finds hits by, read off its ``knn`` clauses: hits are explained in the space that found
them.

Like the words of ``query_texts``, it is found in any body: at the top, in queries, retrievers and what they consist of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from indexer.errors import BadSide
from indexer.vectors import BadVector, encode_vector
from webapi.search.query_texts import SEARCHING_PARTS, UNSEARCHED_PARTS
from worker.index_catalog import IndexCatalog


def read_query_vector(body: Mapping[str, Any], field: str | None) -> bytes | None:
    """Return the vector that a search looks for in a field, as bytes of ``encode_vector``.

    None if there is none, or there are several: it is not clear by which of them a hit was found. The vector of a
    filter counts if there is no other.
    """
    searched: set[bytes] = set()
    filtered: set[bytes] = set()
    for vector, in_filter in _iterate_vectors(body, field):
        (filtered if in_filter else searched).add(vector)
    vectors = searched or filtered
    return vectors.pop() if len(vectors) == 1 else None


def _iterate_vectors(body: Mapping[str, Any], field: str | None) -> Iterator[tuple[bytes, bool]]:
    """Yield each vector that a body looks for in a field, and whether that is a filter."""
    stack: list[tuple[str, object, bool]] = [(part, body.get(part), False) for part in SEARCHING_PARTS]
    while stack:
        kind, node, in_filter = stack.pop()
        if isinstance(node, list):
            stack += [(kind, item, in_filter) for item in node if isinstance(item, Mapping | list)]
        if not isinstance(node, Mapping):
            continue
        if kind == "knn" and field is not None and node.get("field") == field:
            yield from ((vector, in_filter) for vector in _encode_if_valid(node.get("query_vector")))
        stack += [
            (name, content, in_filter or (name == "filter" and kind != "constant_score"))
            for name, content in node.items()
            if name not in UNSEARCHED_PARTS
        ]


def _encode_if_valid(value: object) -> list[bytes]:
    try:
        return [encode_vector(value)]
    except BadVector:
        return []  # Elasticsearch refuses it, or it is written as a text


def keep_fitting_vector(catalog: IndexCatalog, index: str, vector: bytes | None, *, is_given: bool) -> bytes | None:
    """Return the vector to explain the hits of an index by, None if there is none.

    One that the caller has given for this purpose (``is_given``) must fit the index: BadSide is raised if it does not.
    One that only the search looks for is left out then, as the hits can be explained without it.
    """
    try:
        catalog.check_vector(index, vector)
    except BadSide:
        if is_given:
            raise
        return None
    return vector
