"""/v1/_msearch and /v1/{index}/_msearch: several searches in one request, as in Elasticsearch, each with ``why``."""

from __future__ import annotations

import time

from flask import Blueprint, Response, request

from indexer.errors import BadParameter
from webapi.context import get_caller, get_context, read_ndjson_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE
from webapi.routes.search import add_elasticsearch_headers
from webapi.search.multi_search import HEADER_PARAMETERS, run_searches, split_search_lines
from worker.json_bytes import dumps

blueprint = Blueprint("msearch", __name__)
blueprint.after_request(add_elasticsearch_headers)
_PARAMETERS = HEADER_PARAMETERS | {
    "human",
    "max_concurrent_searches",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
    "pretty",
}
"""Query parameters that change nothing in the response."""


@blueprint.post("/v1/_msearch", endpoint="search")
@blueprint.post("/v1/<index>/_msearch", endpoint="search_index")
def run_multi_search(index: str | None = None) -> Response:
    """Run several searches and add the reasons of each hit."""
    started = time.perf_counter()
    unknown = sorted(set(request.args) - _PARAMETERS)
    if unknown:
        raise BadParameter(f"the parameter {unknown[0][:80]!r} is not allowed", fix="put it in each body")
    context, caller = get_context(), get_caller()
    wait = read_preferred_wait_seconds(context.settings)
    searches = split_search_lines(read_ndjson_body(), context.settings.max_searches)
    responses = run_searches(searches, index, caller, context, wait, lambda: context.gate.count_search(caller))
    body = {"took": int(1000 * (time.perf_counter() - started)), "responses": responses}
    return Response(dumps(body), mimetype=JSON_TYPE)
