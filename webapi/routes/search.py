"""The routes in the form of Elasticsearch: searching, counting and getting documents, and the server's version.

An attached index is searched in its source (``source_search``), any other in the engine (``index_search``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from indexer.engines.factory import is_server_url
from indexer.errors import EngineUnavailable
from webapi.context import get_caller, get_context, read_json_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE
from webapi.http.problems import InvalidRequest
from webapi.search.body import reject_unknown_names, require_object
from webapi.search.index_search import search_index
from webapi.search.mget import build_found_documents, build_own_documents, parse_mget_ids
from webapi.search.passthrough_body import parse_source_body
from webapi.search.source_search import SourcePlanner, search_source
from webapi.search.url_parameters import COUNT_PARAMETERS, MGET_PARAMETERS, NO_EFFECT_PARAMETERS, check_parameters
from worker.json_bytes import dumps

blueprint = Blueprint("search", __name__)
ELASTICSEARCH_TYPE = "application/vnd.elasticsearch+json"
_OWN_VERSION = "9.0.0"
"""The version of Elasticsearch in whose form an embedded engine answers."""


@blueprint.route("/v1/<index>/_search", methods=["GET", "POST"], endpoint="search")
def answer_search(index: str) -> Response:
    """Search an index and add the reasons of each hit."""
    return _make_response(_search(index, _read_body(), request.args))


@blueprint.route("/v1/<index>/_count", methods=["GET", "POST"], endpoint="count")
def answer_count(index: str) -> Response:
    """Count the documents that match a query."""
    body = require_object(_read_body(), "the body")
    reject_unknown_names(body, frozenset({"query"}), "the body")
    check_parameters(request.args, COUNT_PARAMETERS)
    found = _search(index, {**body, "size": 0, "track_total_hits": True, "why": False}, request.args)
    return _make_response({"count": found["hits"]["total"]["value"], "_shards": found["_shards"]})


@blueprint.post("/v1/<index>/_mget", endpoint="mget")
def answer_mget(index: str) -> Response:
    """Return documents by id, in the order of the request, without reasons."""
    ids = parse_mget_ids(_read_body(), index)
    if get_context().catalog.find_attached_source(index) is None:
        check_parameters(request.args, NO_EFFECT_PARAMETERS)
        documents = get_context().catalog.fetch_documents(index, list(dict.fromkeys(ids)), get_caller().groups)
        return _make_response(build_own_documents(index, ids, documents))
    check_parameters(request.args, MGET_PARAMETERS)
    body = {"query": {"ids": {"values": ids}}, "size": len(ids), "why": False}
    found = _search(index, body, request.args)
    if found["hits"]["total"]["value"] > len(ids):  # a name may cover several indices that share ids
        found = _search(index, body | {"size": found["hits"]["total"]["value"]}, request.args)
    if found["timed_out"] or found["_shards"]["failed"]:
        raise EngineUnavailable("a part of the source did not answer in time")
    return _make_response(build_found_documents(index, ids, found))


@blueprint.get("/v1/", endpoint="info")
def answer_info() -> Response:
    """Say which version of Elasticsearch answers: that of the engine, if it is one."""
    engine = get_context().catalog.engine
    number = engine.get_version() if is_server_url(engine.address) else _OWN_VERSION
    version = {"number": number, "build_flavor": "default", "minimum_wire_compatibility_version": number}
    names = {"name": "phrasecom", "cluster_name": "phrasecom", "cluster_uuid": "_na_"}
    return _make_response({**names, "version": version, "tagline": "You Know, for Search"})


def _search(index: str, body: object, parameters: Mapping[str, str]) -> dict[str, Any]:
    context, caller = get_context(), get_caller()
    wait = read_preferred_wait_seconds(context.settings)
    source = context.catalog.find_attached_source(index)
    if source is not None:
        return search_source(SourcePlanner(index, source, caller, context), body, parameters, wait)
    return search_index(index, body, parameters, caller, context, wait)


def _make_response(body: Mapping[str, Any]) -> Response:
    return Response(dumps(body), mimetype=JSON_TYPE)


def _read_body() -> object:
    """Return the body; an empty object if there is none, as clients send none for a search of everything."""
    try:
        return parse_source_body(read_json_body() if request.get_data() else b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest([{"at": "", "detail": f"the body is not JSON: {error}"}]) from None


@blueprint.after_request
def add_elasticsearch_headers(response: Response) -> Response:
    """Add the headers that the official client checks, and the media type it asks for: it reads no other."""
    media_type = request.headers.get("Accept", "").partition(",")[0].strip()
    if media_type.startswith(ELASTICSEARCH_TYPE):
        response.headers["Content-Type"] = media_type
    response.headers["X-Elastic-Product"] = "Elasticsearch"
    return response
