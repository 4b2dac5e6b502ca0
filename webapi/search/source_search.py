"""A search of an attached index in its source: Elasticsearch's own hits, with ``why`` from the side index.

It takes four steps, so that several searches can take each of them together: plan it, send it, explain its hits, build
the response. The body of a caller who may read everything goes to the source as it came, and the answer comes back as
it came. A caller with limited groups gets, and counts, only what the side index allows them to read: the filter is part
of the query, so totals and aggregations respect it as well, and every hit is checked once more before it is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from indexer.analysis.analyzer import Analyzer
from indexer.documents import AnalysedDocument, Document
from indexer.engines.attached_source import AttachedSource, AttachedVersion, HitKey, SourceAccess, SourceSearch
from indexer.engines.search_types import Hit
from indexer.errors import BadParameter, Forbidden, PhraseComError, TooLarge
from webapi.auth.gate import require_scope
from webapi.context import WebContext
from webapi.http.problems import public_message
from webapi.search.body import require_object
from webapi.search.hit_reasons import HitPage, add_missing_matches, check_page_size, explain_hits
from webapi.search.limited.restricted_body import restrict_body
from webapi.search.limited.restricted_response import restrict_response
from webapi.search.passthrough_body import check_passthrough_body
from webapi.search.query_texts import read_query_texts
from webapi.search.query_vectors import keep_fitting_vector, read_query_vector
from webapi.search.url_parameters import (
    LIMITED_PARAMETERS,
    NO_EFFECT_PARAMETERS,
    PASSTHROUGH_PARAMETERS,
    check_parameters,
)
from webapi.search.why_options import WhyOptions, parse_why
from worker.access import Caller

log = logging.getLogger(__name__)

_DEFAULT_SIZE = 10
NOT_INDEXED_DETAIL = "it was added to the source after the last attach; attach the index again to get reasons"
CHANGED_DETAIL = "it was changed in the source after the last attach; attach the index again to get reasons"


@dataclass(frozen=True, slots=True)
class PlannedSourceSearch:
    """A search of a source, checked and ready to send."""

    index: str
    source: AttachedSource
    body: Mapping[str, Any]
    """What is sent."""
    parameters: Mapping[str, str]
    """Of the URL."""
    why: WhyOptions
    text: str
    """The words to explain by, as written."""
    vector: bytes | None = field(default=None, repr=False)
    """The vector to explain by."""
    access: SourceAccess | None = None
    """What a caller with limited groups may read; None for no limit."""

    def send(self) -> dict[str, Any]:
        """Run the search and return Elasticsearch's response, or what the caller may see of it.

        Raises like ``AttachedSource.send_search``.
        """
        return self.restrict_response(self.make_request().send())

    def make_request(self) -> SourceSearch:
        return SourceSearch(self.source, self.body, self.parameters, with_server_reason=self.access is None)

    def restrict_response(self, response: dict[str, Any]) -> dict[str, Any]:
        """Return what the caller may see of Elasticsearch's response; raise Unavailable if that cannot be said."""
        return response if self.access is None else restrict_response(response, self.access)


def send_source_searches(searches: Sequence[PlannedSourceSearch]) -> list[dict[str, Any] | PhraseComError]:
    """Run several searches together; return for each what its ``send`` returns, or the error that it raises."""
    responses = searches[0].source.send_searches([one.make_request() for one in searches]) if searches else []
    return [_restrict_outcome(one, response) for one, response in zip(searches, responses, strict=True)]


def _restrict_outcome(
    search: PlannedSourceSearch, outcome: dict[str, Any] | PhraseComError
) -> dict[str, Any] | PhraseComError:
    try:
        return outcome if isinstance(outcome, PhraseComError) else search.restrict_response(outcome)
    except PhraseComError as error:
        return error


@dataclass(frozen=True, slots=True)
class SourceHit:
    """A hit of the source, with the document of the side index."""

    hit: Mapping[str, Any]
    attached: AnalysedDocument | None
    """The document as it was attached."""
    is_as_attached: bool = False
    current: Document | None = None
    """If it is not as it was attached: the document as it would be attached now."""
    failure: Mapping[str, str] = field(default_factory=dict)
    """``code`` and ``detail`` of the reason why it is not known whether it is as it was attached."""

    @property
    def has_key(self) -> bool:
        """Whether its index and id are known: ``filter_path`` and ``stored_fields`` may leave them out."""
        return "_index" in self.hit and "_id" in self.hit

    @property
    def key(self) -> HitKey:
        return HitKey(self.hit["_index"], self.hit["_id"])

    def is_readable(self, caller: Caller) -> bool:
        """Return whether the caller may read it, by the acl of the side index and by that of the source now."""
        if caller.groups is None:
            return True
        if self.attached is None:
            return False
        return self.is_as_attached or (self.current is not None and caller.may_read(self.current.acl))

    def make_mismatch_why(self) -> dict[str, Any] | None:
        """Return the ``why`` of a hit that has no reasons because the side index has it not, or not as it is."""
        if self.failure:
            return {"state": "unavailable", **self.failure}
        if self.attached is None:
            return {"state": "not-indexed", "detail": NOT_INDEXED_DETAIL}
        return None if self.is_as_attached else {"state": "changed", "detail": CHANGED_DETAIL}

    def analyse_current(self, get_analyzer: Callable[[], Analyzer]) -> AnalysedDocument | None:
        """Return the document as it is in the source now; None if that is not known or it could not be attached."""
        if self.is_as_attached:
            return self.attached
        return None if self.current is None else get_analyzer().analyse(self.current)


def search_source(planner: SourcePlanner, body: object, parameters: Mapping[str, str], wait: float) -> dict[str, Any]:
    """Search the source of an index; return the response.

    Raise BadParameter or Forbidden for what the body may not contain, or TooLarge.
    """
    caller, context = planner.caller, planner.context
    planned = planner.plan(body, parameters)
    response = planned.send()
    hits = find_page_hits(planned, response, caller, context)
    return build_source_response(planned, response, hits, explain_source_hits(planned, hits, caller, context, wait))


@dataclass(frozen=True)
class SourcePlanner:
    """Plans the searches of one request in the source of an index."""

    index: str
    source: AttachedSource
    caller: Caller
    context: WebContext

    def plan(self, body: object, parameters: Mapping[str, str]) -> PlannedSourceSearch:
        """Check a search body and the parameters of its URL; raise BadParameter, BadSide, Forbidden or TooLarge."""
        parts = dict(require_object(body, "the body"))
        why = parse_why(parts.pop("why", True))
        plan = self._plan_passthrough if self.caller.groups is None else self._plan_limited
        planned = plan(parts, parameters, why)
        if why.is_wanted:
            require_scope(self.caller, "compare")
            check_page_size(_read_size(planned.body, planned.parameters), self.context.settings)
            return replace(planned, vector=self._choose_vector(parts, why))
        return planned

    def _choose_vector(self, body: Mapping[str, Any], why: WhyOptions) -> bytes | None:
        """Return the vector to explain by; raise BadSide if that of ``why`` does not fit the index."""
        is_given = why.vector is not None
        vector = why.vector if is_given else read_query_vector(body, self.source.vector_field)
        return keep_fitting_vector(self.context.catalog, self.index, vector, is_given=is_given)

    def _plan_passthrough(
        self, body: Mapping[str, Any], parameters: Mapping[str, str], why: WhyOptions
    ) -> PlannedSourceSearch:
        """Plan the search of a caller who may read everything."""
        check_parameters(parameters, PASSTHROUGH_PARAMETERS)
        allow_scripts = self.context.settings.allow_source_scripts
        check_passthrough_body(body, self.source.list_index_names, allow_scripts=allow_scripts)
        if "pit" in body:
            _check_point_in_time(self.source, body["pit"])
        sent_parameters = {name: value for name, value in parameters.items() if name != "pretty"}
        text = why.choose_text(" ".join(read_query_texts(body, why.fields, parameters)))
        return PlannedSourceSearch(self.index, self.source, body, sent_parameters, why, text)

    def _plan_limited(
        self, body: Mapping[str, Any], parameters: Mapping[str, str], why: WhyOptions
    ) -> PlannedSourceSearch:
        """Plan the search of a caller with limited groups."""
        check_parameters(parameters, NO_EFFECT_PARAMETERS | LIMITED_PARAMETERS)
        source, access = self.source, self._access
        restricted = restrict_body(body, source.get_fields(), access, source.build_access_filter(access))
        sent_parameters = {name: value for name, value in parameters.items() if name in LIMITED_PARAMETERS}
        text = why.choose_text(" ".join(read_query_texts(body, why.fields)))
        return PlannedSourceSearch(self.index, source, restricted, sent_parameters, why, text, access=access)

    @cached_property
    def _access(self) -> SourceAccess:
        """What a caller with limited groups may read, looked up once for all searches of the request.

        Raise Forbidden if that cannot be checked, or TooLarge.
        """
        index, context = self.index, self.context
        groups, guard = self.caller.groups, self.source.fetch_guard()
        assert groups is not None
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


def _check_point_in_time(source: AttachedSource, pit: object) -> None:
    """Raise Forbidden for a point in time that has documents of another index than the source."""
    id = pit.get("id") if isinstance(pit, Mapping) else None
    if not isinstance(id, str):
        raise BadParameter("pit needs an id", fix="open one with POST /INDEX/_pit of Elasticsearch")
    if not source.covers_point_in_time(id):
        raise Forbidden("pit covers another index than the source of this one", fix="open one for the source alone")


def _read_size(body: Mapping[str, Any], parameters: Mapping[str, str]) -> int:
    """Return the number of hits that a search asks for; the URL has precedence."""
    try:
        return int(parameters.get("size", body.get("size", _DEFAULT_SIZE)))
    except (TypeError, ValueError, OverflowError):
        return 0  # Elasticsearch refuses it


def find_page_hits(
    planned: PlannedSourceSearch, response: Mapping[str, Any], caller: Caller, context: WebContext
) -> list[SourceHit]:
    """Return the hits of a response that the caller may read, each with the document of the side index."""
    (hits,) = find_hits_of_pages([(planned, response)], caller, context)
    if isinstance(hits, PhraseComError):
        raise hits
    return hits


def find_hits_of_pages(
    pages: Sequence[tuple[PlannedSourceSearch, Mapping[str, Any]]], caller: Caller, context: WebContext
) -> list[list[SourceHit] | PhraseComError]:
    """Return the hits of several responses, as ``find_page_hits`` does, or the error that it raises.

    The documents of an index are read once for all its searches.
    """
    searches: dict[str, PlannedSourceSearch] = {}
    keys: dict[str, dict[HitKey, None]] = {}
    for planned, response in pages:
        if planned.access is not None or planned.why.is_wanted:
            hits = [SourceHit(hit, None) for hit in _list_hits(response)]
            keys.setdefault(planned.index, {}).update(dict.fromkeys(hit.key for hit in hits if hit.has_key))
            searches[planned.index] = planned
    states = {index: _find_hit_states(one, list(keys[index]), caller, context) for index, one in searches.items()}
    pages_hits: list[list[SourceHit] | PhraseComError] = []
    for planned, response in pages:
        needs_states = planned.access is not None or planned.why.is_wanted
        found = states.get(planned.index, _NO_STATES) if needs_states else _NO_STATES
        if isinstance(found, PhraseComError):
            pages_hits.append(found)
        else:
            hits = [found.make_hit(raw) for raw in _list_hits(response)]
            pages_hits.append([hit for hit in hits if hit.is_readable(caller)])
    return pages_hits


@dataclass(frozen=True, slots=True)
class _HitStates:
    """What is known of the documents behind hits."""

    attached: Mapping[str, AnalysedDocument] = field(default_factory=dict)
    """As they were attached, by id."""
    changed: Mapping[HitKey, Document | None] = field(default_factory=dict)
    """Those that are not as they were attached, as attaching them now would make them."""
    failure: Mapping[str, str] = field(default_factory=dict)
    """``code`` and ``detail`` of the reason why it is not known which have changed."""

    def make_hit(self, raw: Mapping[str, Any]) -> SourceHit:
        hit = SourceHit(raw, None)
        if not hit.has_key:
            return hit
        attached, is_changed = self.attached.get(hit.key.id), hit.key in self.changed
        return SourceHit(raw, attached, not is_changed, self.changed.get(hit.key), self.failure)


_NO_STATES = _HitStates()


def _find_hit_states(
    planned: PlannedSourceSearch, keys: Sequence[HitKey], caller: Caller, context: WebContext
) -> _HitStates | PhraseComError:
    """Read the documents behind hits of an index; return an error if no hit may be shown."""
    if not keys:
        return _NO_STATES
    try:
        ids = list(dict.fromkeys(key.id for key in keys))
        attached = context.catalog.fetch_documents(planned.index, ids, caller.groups)
    except PhraseComError as error:
        return error
    versions = {id: AttachedVersion(one.version, one.document.revision) for id, one in attached.items()}
    try:
        return _HitStates(attached, planned.source.find_changed_hits(keys, versions, planned.access))
    except PhraseComError as error:
        if planned.access is not None:
            return error  # without the check no hit may be shown
        log.warning("search response without reasons: %s: %s", error.code, error)
        failure = {"code": error.code, "detail": public_message(error)}
        return _HitStates(attached, dict.fromkeys(keys), failure)


def _list_hits(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = response.get("hits", {}).get("hits", [])
    return hits


def explain_source_hits(
    planned: PlannedSourceSearch, hits: Sequence[SourceHit], caller: Caller, context: WebContext, wait: float
) -> list[dict[str, Any] | None]:
    """Return for each hit its reasons, or why it has none; None if they are not wanted or it has no id."""
    explained = list_explained_hits(planned, hits)
    reasons: Sequence[dict[str, Any]] = ()
    if explained:
        page = HitPage(planned.index, planned.text, explained, planned.vector)
        reasons = explain_hits(context.gateway, page, caller, wait)
    return merge_reasons(planned, hits, reasons, caller, context)


def list_explained_hits(planned: PlannedSourceSearch, hits: Sequence[SourceHit]) -> list[Hit]:
    """Return the hits that reasons can be computed for: those that are as they were attached."""
    if not planned.why.is_wanted:
        return []
    attached = [hit.attached for hit in hits if hit.has_key and hit.make_mismatch_why() is None]
    return [Hit(document.document.id, 0.0, document) for document in attached if document is not None]


def merge_reasons(
    planned: PlannedSourceSearch,
    hits: Sequence[SourceHit],
    reasons: Sequence[dict[str, Any]],
    caller: Caller,
    context: WebContext,
) -> list[dict[str, Any] | None]:
    """Return the ``why`` of each hit, None if it has none; ``reasons``: those of ``list_explained_hits``, in order."""
    if not planned.why.is_wanted:
        return [None] * len(hits)
    catalog, remaining = context.catalog, iter(reasons)
    known = [hit for hit in hits if hit.has_key]
    whys = [next(remaining) if (mismatch := hit.make_mismatch_why()) is None else mismatch for hit in known]
    documents = [hit.analyse_current(lambda: catalog.get_analyzer(planned.index)) for hit in known]
    complete = iter(
        add_missing_matches(whys, documents, lambda: catalog.make_query_matcher(planned.index, planned.text), caller)
    )
    return [next(complete) if hit.has_key else None for hit in hits]


def build_source_response(
    planned: PlannedSourceSearch,
    response: dict[str, Any],
    hits: Sequence[SourceHit],
    whys: Sequence[Mapping[str, Any] | None],
) -> dict[str, Any]:
    """Return the response to a search, with ``why`` added to each hit that has one."""
    if not _list_hits(response):
        return response
    explained = [hit.hit if why is None else {**hit.hit, "why": why} for hit, why in zip(hits, whys, strict=True)]
    found = response["hits"] | {"hits": explained}
    if len(hits) < len(_list_hits(response)):
        found |= _count_without(found, len(_list_hits(response)) - len(hits))
    return response | {"hits": found}


def _count_without(found: Mapping[str, Any], left_out: int) -> dict[str, Any]:
    """Return the total and the largest score of hits of which some were left out: their rights have just changed."""
    scores = [hit["_score"] for hit in found["hits"] if hit.get("_score") is not None]
    counts: dict[str, Any] = {"max_score": max(scores, default=None)}
    total = found.get("total")
    if isinstance(total, Mapping):
        counts["total"] = {**total, "value": total["value"] - left_out}
    elif total is not None:  # a number, if the caller asks for it
        counts["total"] = total - left_out
    return counts
