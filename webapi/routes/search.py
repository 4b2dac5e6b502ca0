"""/v1/{index}/_search: the Elasticsearch response, with ``why`` on each hit.

An index that was attached is searched in its source (``source_search``), any other here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from flask import Blueprint, Response, request

from indexer import date_ranges
from indexer.documents import AnalysedDocument
from indexer.engines.base import Hit, SearchResult, Selection
from indexer.engines.date_histogram import iso
from indexer.errors import BadParameter, TooLarge
from webapi.context import caller, context, json_body, preferred_wait, require
from webapi.http.job_responses import JSON
from webapi.http.problems import Invalid
from webapi.search.body import Terms
from webapi.search.highlight import highlights
from webapi.search.hit_reasons import check_page, explain_page
from webapi.search.plan import Histogram, SearchPlan, read_body
from webapi.search.source_search import search_source
from worker.json_bytes import dumps, loads

blueprint = Blueprint("search", __name__)
VENDOR = "application/vnd.elasticsearch+json"
_HARMLESS = frozenset({"allow_no_indices", "expand_wildcards", "human", "ignore_unavailable", "preference", "pretty"})
"""Parameters of the address that change nothing in the answer."""
_MOST_FILLED = 10_000
"""Buckets of a date histogram, empty ones included."""


@blueprint.post("/v1/<index>/_search")
def search(index: str) -> Response:
    began = time.perf_counter()
    unknown = sorted(set(request.args) - _HARMLESS)
    if unknown:
        raise BadParameter(f"the parameter {unknown[0][:80]!r} is not allowed", fix="put it in the body")
    who, library = caller(), context().service.library
    source = library.source(index)
    if source is not None:
        wait = preferred_wait(context().settings)
        return _timed(search_source(index, source, _body(), who, context(), wait), began)
    plan = read_body(_body(), lambda words: library.spelled(index, words))
    if plan.why:
        require(who, "compare")
        check_page(plan.size, context().settings)
    facets = sorted({one.field for one in plan.aggregations.values() if isinstance(one, Terms)})
    intervals = list({one.interval: None for one in plan.aggregations.values() if isinstance(one, Histogram)})
    found = library.read(
        index,
        lambda reader: reader.search(
            Selection(query=plan.query),
            size=plan.size,
            offset=plan.offset,
            facets=facets,
            groups=who.groups,
            sort=plan.sort,
            histograms=intervals,
        ),
    )
    whys: Sequence[Mapping[str, Any]] = ()
    if plan.why and found.hits:
        whys = explain_page(context().desk, index, plan.words, found.hits, who, preferred_wait(context().settings))
    return _timed(_response(index, plan, found, whys), began)


def _timed(body: dict[str, Any], began: float) -> Response:
    body["took"] = int(1000 * (time.perf_counter() - began))
    return Response(dumps(body), mimetype=JSON)


def _body() -> object:
    try:
        return loads(json_body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise Invalid([{"at": "", "detail": f"the body is not JSON: {error}"}]) from None


def _response(index: str, plan: SearchPlan, found: SearchResult, whys: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    hits = []
    for hit, why in zip_longest(found.hits, whys):
        matched = [(clause.name, how) for clause in plan.clauses if (how := clause.matched(hit.document)) is not None]
        shown = _hit(index, plan, hit)
        if named := [name for name, _ in matched if name]:
            shown["matched_queries"] = named
        if why is not None:
            shown["why"] = {**why, "matched": [how for _, how in matched]}
        hits.append(shown)
    body: dict[str, Any] = {
        "took": 0,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": found.total, "relation": "eq"},
            "max_score": max((hit.score for hit in found.hits), default=None) if plan.scored else None,
            "hits": hits,
        },
    }
    if plan.aggregations:
        body["aggregations"] = {name: _aggregation(one, found) for name, one in plan.aggregations.items()}
    return body


def _hit(index: str, plan: SearchPlan, hit: Hit) -> dict[str, Any]:
    out: dict[str, Any] = {"_index": index, "_id": hit.id, "_score": hit.score if plan.scored else None}
    if plan.source is not False:
        out["_source"] = _source(hit.document, plan.source)
    if plan.sort:
        values = {"score": hit.score, "date": date_ranges.instant(hit.document.document.date), "id": hit.id}
        out["sort"] = [values[key.key] for key in plan.sort]
    if plan.highlight and (shown := highlights(hit.document, plan.words.lemmas, plan.highlight)):
        out["highlight"] = shown
    return out


def _source(analysed: AnalysedDocument, wanted: frozenset[str] | bool) -> dict[str, Any]:
    document = analysed.document
    whole: dict[str, Any] = {
        **document.extra,
        **{name: list(values) for name, values in document.facets.items()},
        "title": document.title,
        "text": document.text,
        "date": document.date,
        "url": document.url,
    }
    return whole if isinstance(wanted, bool) else {name: whole[name] for name in whole if name in wanted}


def _aggregation(asked: Terms | Histogram, found: SearchResult) -> dict[str, Any]:
    if isinstance(asked, Terms):
        return _terms(found.facets.get(asked.field, {}), asked.size)
    return {"buckets": _dated(found.histograms.get(asked.interval, {}), asked)}


def _terms(counts: Mapping[str, int], size: int) -> dict[str, Any]:
    shown = list(counts.items())[:size]
    rest = sum(counts.values()) - sum(count for _, count in shown)
    return {
        "doc_count_error_upper_bound": 0,
        "sum_other_doc_count": rest,
        "buckets": [{"key": key, "doc_count": count} for key, count in shown],
    }


def _dated(counts: Mapping[int, int], asked: Histogram) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for at, count in asked.interval.filled(counts) if asked.least == 0 else counts.items():
        if count >= asked.least:
            out.append({"key_as_string": iso(at), "key": at, "doc_count": count})
        if len(out) > _MOST_FILLED:
            raise TooLarge("the date histogram has too many buckets", fix="use a longer interval, or min_doc_count 1")
    return out


@blueprint.after_request
def _elastic(response: Response) -> Response:
    """With the headers the official client checks, and in the media type it asks for: it reads no other."""
    asked = request.headers.get("Accept", "").partition(",")[0].strip()
    if asked.startswith(VENDOR):
        response.headers["Content-Type"] = asked
    response.headers["X-Elastic-Product"] = "Elasticsearch"
    return response
