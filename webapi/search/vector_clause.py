"""``knn`` in the body of a search of an index of ours: the vector, or the text to make it from; how many of the nearest
documents; and a filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from indexer.engines.search_types import MAX_CANDIDATES, MAX_NEAREST
from indexer.errors import BadParameter
from indexer.vectors import BadVector, encode_vector
from webapi.search.body import reject_unknown_names, require_integer, require_object, require_text, wrap_in_list

VECTOR_FIELD = "vector"
DEFAULT_K = 10
"""For a search that asks for no hits; otherwise ``size`` is the default."""
TEXT_MODEL = "phrasecom"
"""Name of what makes the vectors of texts: the only ``model_id``."""
_NAMES = frozenset({"field", "query_vector", "query_vector_builder", "k", "num_candidates", "filter"})


@dataclass(frozen=True, slots=True)
class VectorClause:
    """The parts of ``knn``, checked, with defaults filled in."""

    vector: bytes | None
    """None if there is a text."""
    text: str | None
    """Documents of the same meaning are searched for."""
    k: int
    num_candidates: int | None
    filters: tuple[object, ...]
    """Queries, not parsed yet."""


def parse_vector_clause(value: object, size: int) -> VectorClause:
    """Parse ``knn``, an object or a list of one; ``size``: that of the search. Raise BadParameter for what is wrong."""
    clauses = wrap_in_list(value)
    if len(clauses) != 1:
        raise BadParameter(f"knn has {len(clauses)} searches", fix="search by one vector at a time")
    options = require_object(clauses[0], "knn")
    if "boost" in options:
        raise BadParameter(
            "knn.boost is not allowed: hits are merged by their ranks, so there is no score to multiply",
            fix="leave it out",
        )
    reject_unknown_names(options, _NAMES, "knn")
    if options.get("field") != VECTOR_FIELD:
        raise BadParameter(
            f"knn.field must be {VECTOR_FIELD!r}: documents have no other vector", fix=f'write "{VECTOR_FIELD}"'
        )
    k = require_integer(options.get("k", min(size, MAX_NEAREST) or DEFAULT_K), "knn.k", 1, MAX_NEAREST)
    text = _parse_text(options)
    return VectorClause(
        _parse_vector(options) if text is None else None,
        text,
        k,
        _parse_candidates(options, k),
        tuple(wrap_in_list(options.get("filter", []))),
    )


def _parse_text(options: Mapping[str, Any]) -> str | None:
    """Return the text of ``query_vector_builder``; None if there is none."""
    if "query_vector_builder" not in options:
        return None
    if "query_vector" in options:
        raise BadParameter("knn has both query_vector and query_vector_builder", fix="leave one out")
    path = "knn.query_vector_builder"
    builder = require_object(options["query_vector_builder"], path)
    reject_unknown_names(builder, frozenset({"text_embedding"}), path)
    path += ".text_embedding"
    embedding = require_object(builder.get("text_embedding"), path)
    reject_unknown_names(embedding, frozenset({"model_id", "model_text"}), path)
    if embedding.get("model_id") != TEXT_MODEL:
        raise BadParameter(f"{path}.model_id must be {TEXT_MODEL!r}: there is no other model here", fix="write it")
    return require_text(embedding.get("model_text"), f"{path}.model_text")


def _parse_vector(options: Mapping[str, Any]) -> bytes:
    try:
        return encode_vector(options.get("query_vector"))
    except BadVector as error:
        raise BadParameter(f"knn.query_vector: {error}", fix="send a list of numbers, one of them not 0") from None


def _parse_candidates(options: Mapping[str, Any], k: int) -> int | None:
    if "num_candidates" not in options:
        return None
    return require_integer(options["num_candidates"], "knn.num_candidates", k, MAX_CANDIDATES)
