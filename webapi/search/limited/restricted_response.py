"""What a caller with limited groups is shown of the response of an attached source.

The request already keeps to the documents that they may read and to the fields that they may see. Everything is checked
once more here: a hit that should not be there is not sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from indexer.engines.attached_source import SourceAccess
from indexer.engines.field_guard import FieldGuard, is_within
from indexer.errors import Unavailable

_HIT_PARTS = frozenset(
    "_index _id _score _rank _version _nested _source fields highlight sort matched_queries inner_hits".split()
)
"""Left out are ``_ignored`` and ``ignored_field_values``, which may name groups, and ``_seq_no``, which counts."""


def restrict_response(response: Mapping[str, Any], access: SourceAccess) -> dict[str, Any]:
    """Return what the caller may see of a response; raise Unavailable if it has a document they may not read."""
    checker = _ResponseChecker(access.guard, frozenset(access.readable_ids))
    shards = response["_shards"]
    # how many shards were skipped depends on all documents, and failures quote them
    restricted: dict[str, Any] = {
        "took": response["took"],
        "timed_out": response["timed_out"],
        "_shards": {name: shards[name] for name in ("total", "successful", "failed")} | {"skipped": 0},
        "hits": checker.restrict_part(response["hits"]),
    }
    if "aggregations" in response:
        restricted["aggregations"] = checker.restrict_part(response["aggregations"])
    return restricted


@dataclass(frozen=True, slots=True)
class _ResponseChecker:
    guard: FieldGuard
    readable_ids: Collection[str]

    def restrict_part(self, value: Any) -> Any:
        """Return a part of a response, with the hits that are anywhere in it restricted."""
        if isinstance(value, list):
            return [self.restrict_part(one) for one in value]
        if not isinstance(value, Mapping):
            return value
        return {
            name: [self._restrict_hit(hit) for hit in one]
            if name == "hits" and isinstance(one, list)
            else self.restrict_part(one)
            for name, one in value.items()
        }

    def _restrict_hit(self, hit: Mapping[str, Any]) -> dict[str, Any]:
        if hit.get("_index") != self.guard.index or hit.get("_id") not in self.readable_ids:
            raise Unavailable("the source returned a document that this key may not read", fix="search again")
        shown = {name: value for name, value in hit.items() if name in _HIT_PARTS}
        if "_source" in shown:
            source = self.guard.strip_record(shown["_source"], _find_nested_prefix(hit))
            shown["_source"] = {name: value for name, value in source.items() if name != "_inference_fields"}
        for name in ("fields", "highlight"):
            if name in shown:
                shown[name] = {
                    field: value for field, value in shown[name].items() if not is_within(field, self.guard.hidden)
                }
        if "inner_hits" in shown:
            shown["inner_hits"] = self.restrict_part(shown["inner_hits"])
        return shown


def _find_nested_prefix(hit: Mapping[str, Any]) -> str:
    """Return the path of the nested object that a hit is, with a dot at its end; empty for a whole document."""
    prefix, nested = "", hit.get("_nested")
    while nested is not None:
        prefix, nested = f"{prefix}{nested['field']}.", nested.get("_nested")
    return prefix
