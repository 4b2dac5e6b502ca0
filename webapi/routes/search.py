"""/v1/{index}/_search: the Elasticsearch response, with ``why`` on each hit.

An attached index is searched in its source (``search.source_search``), any other in the engine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from indexer.engines.search_types import Selection
from indexer.errors import BadParameter
from webapi.auth.gate import require_scope
from webapi.context import get_caller, get_context, read_json_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE
from webapi.http.problems import InvalidRequest
from webapi.search.body import TermsAggregation
from webapi.search.hit_reasons import add_missing_matches, check_page_size, explain_hits
from webapi.search.plan import PlannedHistogram, build_search_plan
from webapi.search.response import build_search_response
from webapi.search.source_search import search_source
from worker.json_bytes import dumps, loads

blueprint = Blueprint("search", __name__)
ELASTICSEARCH_TYPE = "application/vnd.elasticsearch+json"
_IGNORED_PARAMETERS = frozenset(
    {"allow_no_indices", "expand_wildcards", "human", "ignore_unavailable", "preference", "pretty"}
)
"""Query parameters that change nothing in the response."""


@blueprint.post("/v1/<index>/_search", endpoint="search")
def search_index(index: str) -> Response:
    """Search an index and add the reasons of each hit."""
    started = time.perf_counter()
    unknown = sorted(set(request.args) - _IGNORED_PARAMETERS)
    if unknown:
        raise BadParameter(f"the parameter {unknown[0][:80]!r} is not allowed", fix="put it in the body")
    context, caller = get_context(), get_caller()
    catalog, wait = context.catalog, read_preferred_wait_seconds(context.settings)
    source = catalog.find_attached_source(index)
    if source is not None:
        return _make_timed_response(search_source(index, source, _read_body(), caller, context, wait), started)
    analyzer = catalog.get_analyzer(index)
    plan = build_search_plan(_read_body(), analyzer.split_query)
    if plan.with_why:
        require_scope(caller, "compare")
        check_page_size(plan.size, context.settings)
    aggregations = plan.aggregations.values()
    facets = sorted({one.field for one in aggregations if isinstance(one, TermsAggregation)})
    intervals = list({one.interval: None for one in aggregations if isinstance(one, PlannedHistogram)})
    result = catalog.run_on_reader(
        index,
        lambda reader: reader.search(
            Selection(query=plan.query),
            size=plan.size,
            offset=plan.offset,
            facets=facets,
            groups=caller.groups,
            sort=plan.sort,
            histograms=intervals,
        ),
    )
    whys: Sequence[Mapping[str, Any]] = ()
    if plan.with_why and result.hits:
        whys = explain_hits(context.gateway, index, plan.words, result.hits, caller, wait)
        documents = [hit.document for hit in result.hits]
        whys = add_missing_matches(whys, documents, lambda: catalog.make_query_matcher(index, plan.words.text), caller)
    response = build_search_response(index, plan, result, whys, analyzer.model.lemmatizer)
    return _make_timed_response(response, started)


def _make_timed_response(body: dict[str, Any], started: float) -> Response:
    body["took"] = int(1000 * (time.perf_counter() - started))
    return Response(dumps(body), mimetype=JSON_TYPE)


def _read_body() -> object:
    try:
        return loads(read_json_body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest([{"at": "", "detail": f"the body is not JSON: {error}"}]) from None


@blueprint.after_request
def _add_elasticsearch_headers(response: Response) -> Response:
    """Add the headers that the official client checks, and the media type it asks for: it reads no other."""
    media_type = request.headers.get("Accept", "").partition(",")[0].strip()
    if media_type.startswith(ELASTICSEARCH_TYPE):
        response.headers["Content-Type"] = media_type
    response.headers["X-Elastic-Product"] = "Elasticsearch"
    return response
