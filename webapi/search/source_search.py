"""A search of an attached index in its source: Elasticsearch's own hits, with ``why`` from the side index.

A caller with limited groups gets, and counts, only what the side index allows them to read: the filter is part of the
query, so totals and aggregations respect it as well, and every hit is checked once more before it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.analysis.analyzer import Analyzer
from indexer.documents import AnalysedDocument, Document
from indexer.engines.attached_source import AttachedSource, SourceAccess
from indexer.engines.field_guard import FieldGuard
from indexer.engines.search_types import Hit
from indexer.errors import TooLarge
from indexer.model.query_words import list_lemmas
from webapi.auth.gate import require_scope
from webapi.context import WebContext
from webapi.search.hit_reasons import QueryWords, add_missing_matches, check_page_size, explain_hits
from webapi.search.source_plan import SourcePlan, build_source_plan
from worker.access import Caller

_HIT_FIELDS = ("_id", "_score", "sort", "highlight", "matched_queries")
NOT_INDEXED_DETAIL = "it was added to the source after the last attach; attach the index again to get reasons"
CHANGED_DETAIL = "it was changed in the source after the last attach; attach the index again to get reasons"


@dataclass(frozen=True, slots=True)
class SourceHit:
    """A hit of the source, with the document of the side index."""

    hit: Mapping[str, Any]
    current: Document | None
    """The document as it would be attached now."""
    attached: AnalysedDocument | None
    """The document as it was attached."""

    def is_readable(self, caller: Caller) -> bool:
        """Return whether the caller may read it, by the acl of the side index and by that of the source now."""
        if caller.groups is None:
            return True
        return self.attached is not None and self.current is not None and caller.may_read(self.current.acl)

    def find_mismatch(self) -> tuple[str, str] | None:
        """Return a state and a sentence if it has no reasons because the side index has it not, or not as it is."""
        if self.attached is None:
            return "not-indexed", NOT_INDEXED_DETAIL
        if self.current is None or self.current.compute_version() != self.attached.version:
            return "changed", CHANGED_DETAIL
        return None

    def analyse_current(self, analyzer: Analyzer) -> AnalysedDocument | None:
        """Return the document as it is in the source now; None if it could not be attached."""
        if self.attached is not None and self.find_mismatch() is None:
            return self.attached
        return None if self.current is None else analyzer.analyse(self.current)


def search_source(
    index: str, source: AttachedSource, body: object, caller: Caller, context: WebContext, wait: float
) -> dict[str, Any]:
    """Search the source of an index; return the response, with ``took`` still 0.

    Raise BadParameter for what the body may not contain, Forbidden or TooLarge.
    """
    fields = source.get_fields()
    guard = None if caller.groups is None else source.fetch_guard()
    plan = build_source_plan(body, fields if guard is None else fields.without_hidden(guard))
    if plan.with_why:
        require_scope(caller, "compare")
        check_page_size(plan.body["size"], context.settings)
    response = source.search(plan.body, _get_access(index, caller, guard, context))
    raw_hits = response["hits"]["hits"]
    attached = (
        context.catalog.fetch_documents(index, [hit["_id"] for hit in raw_hits], caller.groups) if raw_hits else {}
    )
    all_hits = [SourceHit(hit, source.parse_hit(hit), attached.get(hit["_id"])) for hit in raw_hits]
    hits = [hit for hit in all_hits if hit.is_readable(caller)]
    whys: Sequence[dict[str, Any] | None] = [None] * len(hits)
    if plan.with_why and hits:
        whys = _explain_hits(index, plan, hits, caller, context, wait)
    out = {
        "took": 0,
        "timed_out": response["timed_out"],
        "_shards": {name: response["_shards"][name] for name in ("total", "successful", "skipped", "failed")},
        "hits": {
            "total": {"value": response["hits"]["total"]["value"] - (len(all_hits) - len(hits)), "relation": "eq"},
            "max_score": response["hits"]["max_score"] if guard is None else _find_max_score(hits),
            "hits": [_build_hit(index, plan, hit, guard, why) for hit, why in zip(hits, whys, strict=True)],
        },
    }
    return out | ({"aggregations": response["aggregations"]} if "aggs" in plan.body else {})


def _get_access(index: str, caller: Caller, guard: FieldGuard | None, context: WebContext) -> SourceAccess | None:
    """Return what a caller with limited groups may read; None for no limit."""
    groups = caller.groups
    if groups is None or guard is None:
        return None
    guard.require_checkable()
    max_ids = context.settings.max_source_ids
    catalog = context.catalog

    def load() -> tuple[str, ...]:
        ids = catalog.run_on_reader(index, lambda reader: reader.readable_ids(groups, max_ids + 1))
        if len(ids) > max_ids:
            raise TooLarge(
                f"this key may read more than {max_ids} documents of index {index!r}, "
                "which is too many to search its source",
                fix="use a key for all groups, or raise max_source_ids",
            )
        return tuple(ids)

    epoch = catalog.open_reader(index).info.epoch
    return SourceAccess(groups, context.gateway.get_readable_ids(index, epoch, groups, load), guard)


def _find_max_score(hits: Sequence[SourceHit]) -> float | None:
    """Return the largest score of the hits; None if they have none."""
    scores = [hit.hit["_score"] for hit in hits if hit.hit.get("_score") is not None]
    return max(scores, default=None)


def _explain_hits(
    index: str, plan: SourcePlan, source_hits: Sequence[SourceHit], caller: Caller, context: WebContext, wait: float
) -> list[dict[str, Any]]:
    """Return for each hit its reasons, or why it has none."""
    analyzer = context.catalog.get_analyzer(index)
    words = QueryWords(plan.text, list_lemmas(analyzer.split_query(plan.text)))
    matching = [hit.attached for hit in source_hits if hit.find_mismatch() is None]
    hits = [Hit(attached.document.id, 0.0, attached) for attached in matching if attached is not None]
    reasons = iter(explain_hits(context.gateway, index, words, hits, caller, wait) if hits else ())
    whys = []
    for hit in source_hits:
        mismatch = hit.find_mismatch()
        whys.append(next(reasons) if mismatch is None else {"state": mismatch[0], "detail": mismatch[1]})
    documents = [hit.analyse_current(analyzer) for hit in source_hits]
    return add_missing_matches(whys, documents, lambda: context.catalog.make_query_matcher(index, plan.text), caller)


def _build_hit(
    index: str, plan: SourcePlan, hit: SourceHit, guard: FieldGuard | None, why: Mapping[str, Any] | None
) -> dict[str, Any]:
    out = {"_index": index} | {name: hit.hit[name] for name in _HIT_FIELDS if name in hit.hit}
    if plan.source_filter is not False:
        record = hit.hit.get("_source") or {}
        record = record if guard is None else guard.strip_record(record)
        out["_source"] = record if plan.source_filter is True else select_fields(record, plan.source_filter)
    return out if why is None else out | {"why": why}


def select_fields(record: Any, paths: frozenset[str], prefix: str = "") -> Any:
    """Return the parts of a record under these paths."""
    if isinstance(record, list):
        return [select_fields(item, paths, prefix) for item in record]
    if not isinstance(record, Mapping):
        return {}
    out = {}
    for name, value in record.items():
        path = prefix + name
        if path in paths:
            out[name] = value
        elif any(one.startswith(f"{path}.") for one in paths) and (inner := select_fields(value, paths, f"{path}.")):
            out[name] = inner
    return out
