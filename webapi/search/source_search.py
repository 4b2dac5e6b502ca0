"""A search of an attached index in its source: Elasticsearch's own hits, with ``why`` from the side index.

A caller with limited groups is shown, and counted, what the side index says they may read: the filter is part of the
query, so totals and aggregations keep to it as well, and every hit is checked once more before it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.documents import AnalysedDocument, Document
from indexer.engines.attached_source import Source
from indexer.engines.base import Groups, Hit
from indexer.errors import TooLarge
from webapi.context import Context, require
from webapi.search.hit_reasons import Words, check_page, explain_page
from webapi.search.source_plan import SourcePlan, read_source_body
from worker.access import Caller

_SENT = ("_id", "_score", "sort", "highlight")
NOT_INDEXED = "it was added to the source after it was attached; attach it again to have reasons"
CHANGED = "it was changed in the source after it was attached; attach it again to have reasons"


@dataclass(frozen=True, slots=True)
class Found:
    """A hit of the source, and what the side index knows of it."""

    hit: Mapping[str, Any]
    now: Document | None
    """As it would be attached now."""
    attached: AnalysedDocument | None

    def readable(self, who: Caller) -> bool:
        """By the rights of the side index, and by those the source says now."""
        if who.groups is None:
            return True
        return self.attached is not None and self.now is not None and who.may_read(self.now.acl)

    def trouble(self) -> tuple[str, str] | None:
        """Why there are no reasons for it: a state and a sentence."""
        if self.attached is None:
            return "not-indexed", NOT_INDEXED
        if self.now is None or self.now.version() != self.attached.version:
            return "changed", CHANGED
        return None


def search_source(
    index: str, source: Source, body: object, who: Caller, within: Context, wait: float
) -> dict[str, Any]:
    """The response, except for the time it took."""
    fields = source.fields()
    hidden = None if who.groups is None else fields.names.get("acl")
    plan = read_source_body(body, fields.without(hidden))
    if plan.why:
        require(who, "compare")
        check_page(plan.body["size"], within.settings)
    answer = source.search(plan.body, _readable(index, who.groups, within), who.groups)
    hits = answer["hits"]["hits"]
    attached = within.service.library.fetch(index, [hit["_id"] for hit in hits], who.groups) if hits else {}
    found = [Found(hit, source.document(hit), attached.get(hit["_id"])) for hit in hits]
    shown = [one for one in found if one.readable(who)]
    whys = _whys(index, plan, shown, who, within, wait) if plan.why and shown else [None] * len(shown)
    out = {
        "took": 0,
        "timed_out": answer["timed_out"],
        "_shards": {name: answer["_shards"][name] for name in ("total", "successful", "skipped", "failed")},
        "hits": {
            "total": {"value": answer["hits"]["total"]["value"] - (len(found) - len(shown)), "relation": "eq"},
            "max_score": answer["hits"]["max_score"],
            "hits": [_hit(index, plan, one, hidden, why) for one, why in zip(shown, whys, strict=True)],
        },
    }
    return out | ({"aggregations": answer["aggregations"]} if "aggs" in plan.body else {})


def _readable(index: str, groups: Groups, within: Context) -> Sequence[str] | None:
    """The ids a caller with limited groups may read."""
    if groups is None:
        return None
    most = within.settings.max_source_ids
    library, desk = within.service.library, within.desk

    def load() -> tuple[str, ...]:
        ids = library.read(index, lambda reader: reader.readable(groups, most + 1))
        if len(ids) > most:
            raise TooLarge(
                f"more than {most} documents of index {index!r} are this key's to read: too many to search its source",
                fix="use a key for all groups, or raise max_source_ids",
            )
        return tuple(ids)

    return desk.readable_ids(index, library.current(index).info.epoch, groups, load)


def _whys(
    index: str, plan: SourcePlan, found: Sequence[Found], who: Caller, within: Context, wait: float
) -> list[dict[str, Any] | None]:
    """One for each hit: its reasons, or why there are none."""
    words = Words(plan.text, within.service.library.lemmas(index, plan.text))
    known = [one for one in found if one.trouble() is None]
    hits = [Hit(one.attached.document.id, 0.0, one.attached) for one in known if one.attached is not None]
    reasons = iter(explain_page(within.desk, index, words, hits, who, wait) if hits else ())
    out: list[dict[str, Any] | None] = []
    for one in found:
        trouble = one.trouble()
        why = next(reasons) if trouble is None else {"state": trouble[0], "detail": trouble[1]}
        out.append(why | {"matched": [label.name or label.said for label in _matched(plan, one)]})
    return out


def _hit(
    index: str, plan: SourcePlan, found: Found, hidden: str | None, why: Mapping[str, Any] | None
) -> dict[str, Any]:
    out = {"_index": index} | {name: found.hit[name] for name in _SENT if name in found.hit}
    if plan.source is not False:
        record = found.hit.get("_source") or {}
        record = record if hidden is None else without(record, hidden)
        out["_source"] = record if plan.source is True else only_these(record, plan.source)
    named = [label.name for label in _matched(plan, found) if label.name is not None]
    if named:
        out["matched_queries"] = named
    return out if why is None else out | {"why": why}


def _matched(plan: SourcePlan, found: Found) -> list[Any]:
    return [plan.labels[int(name)] for name in sorted(found.hit.get("matched_queries", ()), key=int)]


def only_these(record: Any, wanted: frozenset[str], path: str = "") -> Any:
    """The parts of a record that are named, by the path to them."""
    if isinstance(record, list):
        return [only_these(one, wanted, path) for one in record]
    if not isinstance(record, Mapping):
        return {}
    out = {}
    for name, value in record.items():
        here = path + name
        if here in wanted:
            out[name] = value
        elif any(one.startswith(f"{here}.") for one in wanted) and (inside := only_these(value, wanted, f"{here}.")):
            out[name] = inside
    return out


def without(record: Any, hidden: str, path: str = "") -> Any:
    """The record without what stands under one path."""
    if isinstance(record, list):
        return [without(one, hidden, path) for one in record]
    if not isinstance(record, Mapping):
        return record
    kept = {name: value for name, value in record.items() if path + name != hidden}
    return {
        name: without(value, hidden, f"{path}{name}.") if hidden.startswith(f"{path}{name}.") else value
        for name, value in kept.items()
    }
