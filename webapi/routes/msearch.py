"""/v1/_msearch and /v1/{index}/_msearch: several searches in one request, as in Elasticsearch, each with ``why``."""

from __future__ import annotations

import time

from flask import Blueprint, Response, request

from indexer.engines.attached_source import MSEARCH_HEADER_PARAMETERS, MSEARCH_URL_PARAMETERS
from webapi.context import get_caller, get_context, read_ndjson_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE
from webapi.routes.search import add_elasticsearch_headers
from webapi.search.multi_search import MultiSearch, split_search_lines
from webapi.search.url_parameters import check_parameters
from worker.json_bytes import dumps

blueprint = Blueprint("msearch", __name__)
blueprint.after_request(add_elasticsearch_headers)
_IGNORED_PARAMETERS = frozenset(
    {"max_concurrent_searches", "max_concurrent_shard_requests", "pre_filter_shard_size", "pretty"}
)
"""Parameters that change nothing in the response."""


@blueprint.post("/v1/_msearch", endpoint="search")
@blueprint.post("/v1/<index>/_msearch", endpoint="search_index")
def run_multi_search(index: str | None = None) -> Response:
    """Run several searches and add the reasons of each hit."""
    started = time.perf_counter()
    check_parameters(request.args, MSEARCH_HEADER_PARAMETERS | MSEARCH_URL_PARAMETERS | _IGNORED_PARAMETERS)
    context = get_context()
    parameters = {name: value for name, value in request.args.items() if name not in _IGNORED_PARAMETERS}
    search = MultiSearch(index, parameters, get_caller(), context, read_preferred_wait_seconds(context.settings))
    responses = search.run(split_search_lines(read_ndjson_body(), context.settings.max_searches))
    body = {"took": int(1000 * (time.perf_counter() - started)), "responses": responses}
    return Response(dumps(body), mimetype=JSON_TYPE)
