"""Several searches of attached indexes in one request: one request to Elasticsearch, one job, answers as of _search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.indexing.build import build_index
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.attached_articles import Articles, attach_articles
from tests.support.corpora.web_papers import make_web_papers
from tests.support.multi_searches import search_together
from tests.support.search_bodies import SEARCH_BODIES
from webapi.context import EXTENSION
from worker.jobs.job import NewJob

MATCH = {"query": {"match": {"text": "solar power"}}, "size": 3}
RUNNABLE = [one for one in SEARCH_BODIES if not one.needs]


@pytest.fixture(scope="module")
def engine(articles: Articles) -> Iterator[Engine]:
    """The engine with the attached index ``articles``, and ``papers``, which is attached to nothing."""
    with articles.open_engine() as engine:
        build_index(make_web_papers(), engine, "papers", processes=1)
        yield engine


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> IssuedKeys:
    keys = IssuedKeys(tmp_path_factory.mktemp("keys") / "keys.json")
    keys.issue("root", groups=("*",))
    keys.issue("guest", groups=("guests",))
    keys.issue("staff", groups=("staff",))
    keys.issue("papers", groups=("*",), indexes=("papers",))
    return keys


@pytest.fixture(scope="module")
def apps(engine: Engine, keys: IssuedKeys) -> Iterator[AppClient]:
    app = make_app_client(engine, keys, limited_rate_per_minute=0)
    yield app
    app.close()


@pytest.fixture(scope="module")
def app(apps: AppClient, keys: IssuedKeys) -> AppClient:
    """An app for a caller who may read everything."""
    return apps.with_key(keys.secrets["root"])


@pytest.fixture
def sent(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the searches as such that reach Elasticsearch during the test."""
    assert isinstance(engine, ElasticsearchEngine)
    client = engine.connection.client
    perform_request, paths = client.perform_request, []

    def record_path(method: str, path: str, **more: Any) -> Any:
        if path.endswith("search") and "Accept" in more.get("headers", {}):
            paths.append(path)
        return perform_request(method, path, **more)

    monkeypatch.setattr(client, "perform_request", record_path)
    return paths


@pytest.fixture
def submitted(app: AppClient, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the jobs that are entered during the test."""
    store = app.flask_app.extensions[EXTENSION].gateway.container.store
    submit, kinds = store.submit, []

    def record_kind(new: NewJob) -> bool:
        is_entered: bool = submit(new)
        if is_entered:
            kinds.append(new.kind)
        return is_entered

    monkeypatch.setattr(store, "submit", record_kind)
    return kinds


def without_times(response: dict[str, Any]) -> dict[str, Any]:
    """Return a response without what differs from one time to the next."""
    return {name: value for name, value in response.items() if name not in ("took", "pit_id", "status")}


def test_any_body_has_the_response_of_a_single_search(articles: Articles, app: AppClient, sent: list[str]) -> None:
    bodies = [articles.make_sent_body(one) for one in RUNNABLE]
    responses = search_together(app, *(line for body in bodies for line in ({"index": "articles"}, body)))
    points_in_time = sum(one.with_pit for one in RUNNABLE)
    assert sent == [*["/_search"] * points_in_time, "/_msearch"], "what a point in time covers is checked before"
    for one, body, response in zip(RUNNABLE, bodies, responses, strict=True):
        assert response["status"] == 200, one.name
        assert without_times(response) == without_times(app.post("/v1/articles/_search", body).json), one.name


def test_one_job_explains_the_hits_of_several_indexes(app: AppClient, sent: list[str], submitted: list[str]) -> None:
    lines = [
        *({"index": "articles"}, MATCH),
        *({"index": "papers"}, {"query": {"match": {"text": "web graph"}}, "size": 3}),
        *({"index": "articles"}, {"query": {"match_all": {}}, "size": 0}),
        *({"index": "articles"}, {"query": {"match": {"title": "mountain"}}, "size": 3}),
    ]
    responses = search_together(app, *lines)
    assert (sent, submitted) == (["/_msearch"], ["page-batch"])
    assert [len(one["hits"]["hits"]) for one in responses] == [3, 3, 0, 3]
    for words, response in (("solar power", responses[0]), ("web graph", responses[1]), ("mountain", responses[3])):
        for hit in response["hits"]["hits"]:
            assert hit["why"]["state"] == "done"
            told = {*(word["word"] for word in hit["why"]["matched"]), *hit["why"]["lacks"]}
            assert told == set(words.split())
    assert search_together(app, *lines) and submitted == ["page-batch"]


def test_more_searches_of_known_hits_cost_no_more_requests(app: AppClient, engine: Engine) -> None:
    bodies = [{"query": {"match": {"text": word}}} for word in ("solar", "web", "mountain", "energy", "links")]
    counts = []
    for n in (5, 5, 2):
        before = engine.request_count
        search_together(app, *(line for body in bodies[:n] for line in ({"index": "articles"}, body)))
        counts.append(engine.request_count - before)
    assert counts[1] == counts[2] < counts[0]


def test_a_search_that_fails_has_its_own_error(app: AppClient, sent: list[str]) -> None:
    lines = [
        *(MATCH, {"query": {"match": {"text": {"query": "x", "script": {"source": "1"}}}}}),
        *(MATCH, {"query": {"terms": {"tags": {"index": "other", "id": "1", "path": "x"}}}}),
        *(MATCH, {"size": 1000}),
        *(MATCH, {"sort": ["nowhere"]}),
        *(MATCH, "[]"),
        *(MATCH, '{"size": 1, "size": 2}'),
    ]
    responses = search_together(app, *(line for body in lines for line in ({}, body)), path="/v1/articles/_msearch")
    assert [one["status"] for one in responses] == [200, 403, 200, 403, 200, 413, 200, 400, 200, 400, 200, 400]
    assert sent == ["/_msearch"], "Elasticsearch can read all that reach it"
    assert "No mapping found for [nowhere]" in responses[7]["error"]["reason"]


def test_a_body_that_elasticsearch_cannot_read_does_not_cost_the_others(app: AppClient, sent: list[str]) -> None:
    lines = ({}, MATCH, {}, {"query": {"no_such_query": {}}}, {}, MATCH)
    first, wrong, last = search_together(app, *lines, path="/v1/articles/_msearch")
    assert len(sent) == 4 and sent[0] == "/_msearch", "it refuses all of them at first"
    assert without_times(first) == without_times(last) and first["hits"]["hits"][0]["why"]
    assert wrong["status"] == 400 and "no_such_query" in wrong["error"]["reason"]


def test_parameters_reach_elasticsearch(app: AppClient, sent: list[str]) -> None:
    body = {"size": 0, "aggs": {"tags": {"terms": {"field": "tags"}}}}
    path = "/v1/articles/_msearch?typed_keys=true&rest_total_hits_as_int=true&max_concurrent_searches=2"
    header = {"search_type": "dfs_query_then_fetch", "routing": ["a", "b"], "request_cache": True, "preference": "me"}
    first, second = search_together(app, header, body, {}, body, path=path)
    assert sent == ["/_msearch"] and first["status"] == second["status"] == 200
    assert "sterms#tags" in first["aggregations"] and isinstance(first["hits"]["total"], int)
    (wrong,) = search_together(app, {"search_type": "no_such_type"}, body, path=path)
    assert wrong["status"] == 400


def test_an_index_that_the_key_may_not_use_is_not_searched(apps: AppClient, keys: IssuedKeys, sent: list[str]) -> None:
    app = apps.with_key(keys.secrets["papers"])
    lines = ({"index": "articles"}, MATCH, {"index": "papers"}, {"size": 0}, {"index": "nowhere"}, MATCH)
    hidden, found, missing = search_together(app, *lines)
    assert (hidden["status"], found["status"], missing["status"]) == (404, 200, 404)
    assert str(hidden).replace("articles", "nowhere") == str(missing)
    assert sent == []
    (source,) = search_together(apps.with_key(keys.secrets["root"]), {"index": "source-*"}, MATCH)
    assert source["status"] in (400, 404), "a header names indexes of ours, not those of the cluster"


@pytest.mark.parametrize("name", ["guest", "staff"])
def test_a_limited_caller_gets_the_responses_of_single_searches(
    articles: Articles, apps: AppClient, keys: IssuedKeys, name: str, sent: list[str]
) -> None:
    app = apps.with_key(keys.secrets[name])
    bodies = [articles.make_sent_body(one) for one in SEARCH_BODIES]
    responses = search_together(app, *(line for body in bodies for line in ({"index": "articles"}, body)))
    assert sent[0] == "/_msearch"
    statuses = set()
    for one, body, response in zip(SEARCH_BODIES, bodies, responses, strict=True):
        alone = app.post("/v1/articles/_search", body)
        statuses.add(alone.status_code)
        assert response["status"] == alone.status_code, one.name
        if alone.status_code == 200:
            assert without_times(response) == without_times(alone.json), one.name
    assert 200 in statuses and len(statuses) > 1


def test_a_source_that_is_gone_is_unavailable_for_its_searches_only(elasticsearch_url: str, tmp_path: Path) -> None:
    with attach_articles(elasticsearch_url) as articles, articles.open_engine() as engine:
        build_index(make_web_papers(), engine, "papers", processes=1)
        app = make_app_client(engine)
        articles.client.indices.delete(index=articles.index)
        lines = [{"index": "articles"}, MATCH, {"index": "papers"}, {"size": 1}, {"index": "articles"}, MATCH]
        gone, found, also_gone = search_together(app, *lines)
        app.close()
    assert (gone["status"], found["status"], also_gone["status"]) == (503, 200, 503)
