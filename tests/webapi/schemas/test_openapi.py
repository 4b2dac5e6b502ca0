"""The OpenAPI description is the one served, is up to date, and matches the replies."""

from __future__ import annotations

import json
import re

import pytest
from pydantic import BaseModel

from indexer.identifiers import INDEX_NAME_PATTERN, MAX_ID_BYTES
from indexer.settings import load_settings
from webapi.app import create_app
from webapi.client import Client
from webapi.http.problems import InvalidRequest
from webapi.schemas import openapi, requests, responses
from worker.answer.comparison import Stats
from worker.explain.spec import INTEGER_OPTIONS, OPTION_RANGES, OPTIONS
from worker.jobs.config import WorkConfig
from worker.methods.registry import METHODS
from worker.solver.parameters import PRESETS
from worker.solver.ranking_weights import ODDS_OPTIONS

UNDESCRIBED = {"/metrics", "/docs", "/v1/openapi.json"}


def test_the_committed_description_is_up_to_date() -> None:
    hint = "run: python -m webapi.schemas.openapi"
    assert openapi.FILE.read_text(encoding="utf-8") == openapi.format_openapi_json(), hint


def test_every_route_is_described_and_every_description_is_a_route() -> None:
    app = create_app(load_settings(), config=WorkConfig())
    routes = set()
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        if path in UNDESCRIBED or rule.endpoint.startswith("pages."):
            continue
        routes |= {(method.lower(), path) for method in rule.methods or () if method not in ("HEAD", "OPTIONS")}
    described = {(method, path) for path, one in openapi.build_openapi_description()["paths"].items() for method in one}
    assert described == routes


def test_every_reference_leads_somewhere() -> None:
    whole = openapi.build_openapi_description()
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(whole)))
    assert named <= set(whole["components"]["schemas"])
    ids = [one["operationId"] for path in whole["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_methods_presets_and_ranges_are_those_of_the_worker() -> None:
    schemas = openapi.build_openapi_description()["components"]["schemas"]
    comparison, options = (schemas[name]["properties"] for name in ("ComparisonBody", "Options"))
    assert comparison["method"]["enum"] == list(METHODS)
    assert comparison["preset"]["enum"] == list(PRESETS)
    ranges = {name: (one["minimum"], one["maximum"]) for name, one in options.items() if "minimum" in one}
    assert ranges == OPTION_RANGES
    assert {name for name, one in options.items() if one["type"] == "integer"} == set(INTEGER_OPTIONS)
    assert set(options) == set(OPTIONS) - set(ODDS_OPTIONS)
    assert all("exclusiveMinimum" not in one for one in options.values())


def test_index_names_and_ids_are_those_of_the_indexer() -> None:
    schemas = openapi.build_openapi_description()["components"]["schemas"]
    id = schemas["DocumentBody"]["properties"]["id"]
    assert (id["minLength"], id["maxLength"]) == (1, MAX_ID_BYTES)
    assert schemas["ComparisonBody"]["properties"]["index"]["pattern"] == f"^{INDEX_NAME_PATTERN}$"


@pytest.mark.parametrize("name", OPTION_RANGES)
def test_a_value_is_taken_up_to_the_ends_of_its_range(name: str) -> None:
    minimum, maximum = OPTION_RANGES[name]
    below, above = (-1, maximum + 1) if name in INTEGER_OPTIONS else (minimum - 1e-4, maximum * 1.001)
    for value in (minimum, maximum):
        assert parse_options({name: value}) == {name: value}
    for value in (below, above):
        with pytest.raises(InvalidRequest):
            parse_options({name: value})


def parse_options(options: dict[str, float]) -> dict[str, object]:
    return requests.parse_body(requests.Options, json.dumps(options).encode()).to_json()


def test_ids_are_limited_in_bytes_wherever_a_request_names_one(real: Client) -> None:
    longest, longer = "ü" * (MAX_ID_BYTES // 2), "ü" * (MAX_ID_BYTES // 2 + 1)
    add = "/v1/indexes/papers/documents"
    for id, statuses in ((longest, {202, 404}), (longer, {400})):
        posts = [
            (add, {"documents": [{"id": id, "text": "The web graph."}]}),
            ("/v1/comparisons", {"index": "papers", "a": {"id": id}, "b": {"id": "d1"}}),
            ("/v1/comparisons", {"index": "papers", "a": {"ids": ["d1", id]}, "b": {"id": "d1"}}),
            ("/v1/explanations", {"index": "papers", "hits": [id], "against": "page"}),
            ("/v1/explanations", {"index": "papers", "hits": ["d1"], "document": id}),
        ]
        for path, body in posts:
            reply = real.request("POST", path, body, {"Prefer": "respond-async"})
            assert reply.status in statuses, (path, body)
            if reply.status == 400:
                assert reply.json()["code"] == InvalidRequest.code and "512 bytes" in reply.json()["detail"]


def test_the_served_description_is_the_committed_one(real: Client) -> None:
    assert real.call("GET", "/v1/openapi.json") == json.loads(openapi.FILE.read_text(encoding="utf-8"))


def test_the_page_runs_nothing_and_fetches_nothing_from_elsewhere(real: Client) -> None:
    page = real.request("GET", "/docs")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    assert b"/v1/comparisons" in page.body
    assert not re.search(rb"https?://|<script|@import|src=.(?!/static/)", page.body)


def check_reply(model: type[BaseModel], value: object) -> None:
    """Raise if a field is missing or unknown."""
    model.model_validate(value)


def test_answers_are_as_described(real: Client) -> None:
    check_reply(responses.ComparisonReply, real.compare("papers", "d1", "d2"))
    whole = real.compare("papers", "d1", {"ids": ["d2", "d3"]}, options={"candidates": True, "graph": True, "cap": 0})
    check_reply(responses.ComparisonReply, whole)
    check_reply(responses.ComparisonReply, real.compare("papers", "d1", {"text": "Nothing known."}, preset="paper"))
    check_reply(responses.ExplanationReply, real.explain("papers", ["d1", "d2"], query="web graph"))
    check_reply(responses.SearchReply, real.search("papers", {"query": {"match": {"text": "web"}}}))
    check_reply(responses.IndexesReply, real.call("GET", "/v1/indexes"))
    check_reply(responses.DocumentReply, real.get_document("papers", "d1"))
    check_reply(responses.SuggestionsReply, real.call("GET", "/v1/indexes/papers/suggest?q=web"))
    check_reply(responses.IngestReply, real.add_documents("papers", [{"id": "described", "text": "The web graph."}]))
    pending = real.request("POST", "/v1/indexes/papers/documents", {"documents": [{"id": "described"}]})
    check_reply(responses.JobReply, pending.json())
    check_reply(responses.HealthReply, real.call("GET", "/readyz"))


def test_every_field_of_the_statistics_is_described() -> None:
    described = openapi.build_openapi_description()["components"]["schemas"]["StatsReply"]
    assert set(described["properties"]) == set(Stats().to_dict()) == set(described["required"])
    assert all("description" in field for field in described["properties"].values())
    assert described["additionalProperties"] is False


@pytest.mark.parametrize("body", [b"{", b'{"index": "nope", "a": {"id": "d1"}, "b": {"id": "d2"}}'])
def test_problems_are_as_described(real: Client, body: bytes) -> None:
    check_reply(responses.ProblemReply, real.request("POST", "/v1/comparisons", body).json())
