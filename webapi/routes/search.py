"""The routes in the form of Elasticsearch: searching, counting and getting documents, and the server's version.

An attached index is searched in its source (``source_search``), any other in the engine (``index_search``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from webapi.context import get_caller, get_context, read_json_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE
from webapi.http.problems import InvalidRequest
from webapi.search.index_search import search_index
from webapi.search.passed_body import parse_source_body
from webapi.search.source_search import search_source
from worker.json_bytes import dumps

blueprint = Blueprint("search", __name__)
ELASTICSEARCH_TYPE = "application/vnd.elasticsearch+json"


@blueprint.route("/v1/<index>/_search", methods=["GET", "POST"], endpoint="search")
def answer_search(index: str) -> Response:
    """Search an index and add the reasons of each hit."""
    return _make_response(_search(index, _read_body(), request.args))


def _search(index: str, body: object, parameters: Mapping[str, str]) -> dict[str, Any]:
    context, caller = get_context(), get_caller()
    wait = read_preferred_wait_seconds(context.settings)
    source = context.catalog.find_attached_source(index)
    if source is not None:
        return search_source(index, source, body, parameters, caller, context, wait)
    return search_index(index, body, parameters, caller, context, wait)


def _make_response(body: Mapping[str, Any]) -> Response:
    return Response(dumps(body), mimetype=JSON_TYPE)


def _read_body() -> object:
    """Return the body; an empty object if there is none, as clients send none for a search of everything."""
    try:
        return parse_source_body(read_json_body() if request.content_length else b"{}")
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
