"""Documents by id, in the form of Elasticsearch's ``_mget``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from indexer.documents import AnalysedDocument
from indexer.errors import BadParameter
from webapi.search.body import MAX_HITS, reject_unknown_names, require_object, require_text
from webapi.search.response import build_document_source


def parse_mget_ids(body: object, index: str) -> list[str]:
    """Return the ids that a body asks for, as ``ids`` or ``docs``; raise BadParameter if it asks for another index."""
    parts = require_object(body, "the body")
    reject_unknown_names(parts, frozenset({"ids", "docs"}), "the body")
    if len(parts) != 1 or not isinstance(values := next(iter(parts.values())), list) or len(values) > MAX_HITS:
        raise BadParameter(f"the body must be a list of ids or docs, of at most {MAX_HITS}")
    if "ids" in parts:
        return [require_text(id, "ids") for id in values]
    ids = []
    for number, value in enumerate(values):
        entry = require_object(value, f"docs.{number}")
        reject_unknown_names(entry, frozenset({"_id", "_index"}), f"docs.{number}")
        if entry.get("_index", index) != index:
            raise BadParameter(f"docs.{number}._index must be {index!r}", fix="ask for each index separately")
        ids.append(require_text(entry.get("_id"), f"docs.{number}._id"))
    return ids


def build_own_documents(index: str, ids: Sequence[str], documents: Mapping[str, AnalysedDocument]) -> dict[str, Any]:
    """Return the response for an index of ours; ``documents``: those that exist for the caller, by id."""
    found = {id: {"_source": build_document_source(document)} for id, document in documents.items()}
    return {"docs": [_build_entry(index, id, found.get(id)) for id in ids]}


def build_found_documents(index: str, ids: Sequence[str], response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response for an attached index; ``response``: that of a search for the ids."""
    found = {hit["_id"]: hit for hit in response["hits"]["hits"]}
    return {"docs": [_build_entry(index, id, found.get(id)) for id in ids]}


def _build_entry(index: str, id: str, found: Mapping[str, Any] | None) -> dict[str, Any]:
    if found is None:
        return {"_index": index, "_id": id, "found": False}
    content = {name: found[name] for name in ("_source", "fields") if name in found}
    return {"_index": found.get("_index", index), "_id": id, "found": True, **content}
