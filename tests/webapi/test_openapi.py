"""The description is what is served, what is committed, and what the answers look like."""

from __future__ import annotations

import json
import re

import pytest
from pydantic import BaseModel

from indexer.settings import load_settings
from webapi.app import create_app
from webapi.client import Client
from webapi.schemas import openapi, responses
from worker.jobs.config import WorkConfig

UNDESCRIBED = {"/metrics", "/docs", "/v1/openapi.json"}


def test_the_committed_description_is_up_to_date() -> None:
    said = "run: python -m webapi.schemas.openapi"
    assert openapi.FILE.read_text(encoding="utf-8") == openapi.written(), said


def test_every_route_is_described_and_every_description_is_a_route() -> None:
    app = create_app(load_settings(), config=WorkConfig())
    routes = set()
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        if path in UNDESCRIBED or rule.endpoint.startswith("pages."):
            continue
        routes |= {(method.lower(), path) for method in rule.methods or () if method not in ("HEAD", "OPTIONS")}
    described = {(method, path) for path, one in openapi.description()["paths"].items() for method in one}
    assert described == routes


def test_every_reference_leads_somewhere() -> None:
    whole = openapi.description()
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(whole)))
    assert named <= set(whole["components"]["schemas"])
    ids = [one["operationId"] for path in whole["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_the_served_description_is_the_committed_one(real: Client) -> None:
    assert real.call("GET", "/v1/openapi.json") == json.loads(openapi.FILE.read_text(encoding="utf-8"))


def test_the_page_runs_nothing_and_fetches_nothing_from_elsewhere(real: Client) -> None:
    page = real.request("GET", "/docs")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    assert b"/v1/comparisons" in page.body
    assert not re.search(rb"https?://|<script|@import|src=.(?!/static/)", page.body)


def check(model: type[BaseModel], value: object) -> None:
    """Nothing missing, nothing unknown."""
    model.model_validate(value)


def test_answers_are_as_described(real: Client) -> None:
    check(responses.ComparisonReply, real.compare("papers", "d1", "d2"))
    whole = real.compare("papers", "d1", {"ids": ["d2", "d3"]}, options={"candidates": True, "graph": True, "cap": 0})
    check(responses.ComparisonReply, whole)
    check(responses.ComparisonReply, real.compare("papers", "d1", {"text": "Nothing known."}, preset="paper"))
    check(responses.ExplanationReply, real.explain("papers", ["d1", "d2"], query="web graph"))
    check(responses.SearchReply, real.search("papers", {"query": {"match": {"text": "web"}}}))
    check(responses.IndexesReply, real.call("GET", "/v1/indexes"))
    check(responses.DocumentReply, real.document("papers", "d1"))
    check(responses.SuggestionsReply, real.call("GET", "/v1/indexes/papers/suggest?q=web"))
    check(responses.IngestReply, real.add("papers", [{"id": "described", "text": "The web graph."}]))
    pending = real.request("POST", "/v1/indexes/papers/documents", {"documents": [{"id": "described"}]})
    check(responses.JobReply, pending.json())
    check(responses.HealthReply, real.call("GET", "/readyz"))


@pytest.mark.parametrize("body", [b"{", b'{"index": "nope", "a": {"id": "d1"}, "b": {"id": "d2"}}'])
def test_problems_are_as_described(real: Client, body: bytes) -> None:
    check(responses.ProblemReply, real.request("POST", "/v1/comparisons", body).json())
