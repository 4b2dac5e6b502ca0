"""Limits: each is a setting and has its own error, and no work is started beyond it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.search_types import Selection
from indexer.errors import RateLimited, TooSlow
from indexer.settings import load_settings
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client, read_problem
from tests.support.fake_comparer import count_computations, tag_query
from tests.support.polling import wait_until
from tests.support.web_servers import StartServer
from tests.support.workers import StartWorker
from webapi.auth.rate_limit import MemoryCounter, RateLimit, RedisCounter, RequestCounter
from webapi.http.security_headers import SECURITY_HEADERS
from worker.jobs.config import WorkConfig, load_work_config
from worker.redis_connection import connect

LIMITS = {"max_body_bytes": 4096, "max_text_bytes": 1024, "max_set": 3, "max_hits": 2, "max_document_bytes": 2048}


@pytest.fixture(scope="module")
def limited(engine_folder: Path) -> Iterator[AppClient]:
    app = make_app_client(engine_folder, **LIMITS)
    yield app
    app.close()


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/v1/comparisons", {"index": "papers", "a": {"id": "d1"}, "b": {"text": "x" * 5000}}, "body"),
        ("/v1/papers/_search", {"query": {"match": {"text": "x" * 5000}}}, "body"),
        ("/v1/comparisons", {"index": "papers", "a": {"id": "d1"}, "b": {"text": "x" * 1025}}, "1024 bytes"),
        ("/v1/comparisons", {"index": "papers", "a": {"id": "d1"}, "b": {"query": "x" * 1025}}, "1024 bytes"),
        (
            "/v1/comparisons",
            {"index": "papers", "a": {"ids": ["d1", "d2", "d3", "d4"]}, "b": {"id": "d5"}},
            "limit of 3",
        ),
        ("/v1/explanations", {"index": "papers", "query": "web", "hits": ["d1", "d2", "d3"]}, "limit of 2"),
        ("/v1/papers/_search", {"query": {"match_all": {}}, "size": 3}, "limit of 2"),
        *(
            (
                "/v1/indexes/papers/documents",
                {"documents": [{"id": "d0"}, {"id": "d1"} | large]},
                "/documents/1: it has",
            )
            for large in (
                {"text": "x" * 2049},
                {"title": "x" * 2049},
                {"title": "x" * 1000, "text": "x" * 1049},
                {"extra": {"note": "x" * 2049}},
                {"facets": {"source": ["x" * 2049]}},
            )
        ),
        ("/v1/indexes/papers/documents", {"documents": [{"id": "d1", "text": "x" * 9000}]}, "body"),
    ],
)
def test_what_is_too_large_is_refused(limited: AppClient, path: str, body: object, message: str) -> None:
    refused = limited.post(path, body)
    problem = read_problem(refused.json)
    assert (refused.status_code, problem["code"]) == (413, "too-large")
    assert message in problem["detail"]


def test_a_page_without_reasons_may_be_longer(limited: AppClient) -> None:
    found = limited.post("/v1/papers/_search", {"query": {"match_all": {}}, "size": 3, "why": False})
    assert (found.status_code, len(found.json["hits"]["hits"])) == (200, 3)


def test_a_side_that_selects_too_many_documents_is_refused(engine_folder: Path) -> None:
    app = make_app_client(engine_folder, config=WorkConfig(engine=str(engine_folder), max_set=3))
    refused = app.compare("d1", {"search": "web"})
    assert (refused.status_code, refused.json["code"]) == (413, "too-large")
    app.close()


@pytest.mark.parametrize("name", ["..", "%2e%2e", "Papers", "a" * 101, "_x", "papers*", "papers,news", "p%00", "é"])
def test_malformed_index_names_are_refused(limited: AppClient, name: str) -> None:
    body = {"query": {"match_all": {}}}
    for refused in (
        limited.get(f"/v1/indexes/{name}"),
        limited.get(f"/v1/indexes/{name}/suggest?q=web"),
        limited.post(f"/v1/{name}/_search", body),
        limited.post("/v1/comparisons", {"index": name, "a": {"id": "d1"}, "b": {"id": "d2"}}),
    ):
        assert refused.status_code in (400, 404), refused.text
        assert read_problem(refused.json)["status"] == refused.status_code


@pytest.mark.parametrize("kind", ["memory", "valkey"])
def test_a_callers_rate_is_limited_and_recovers(kind: str, valkey_url: str, work_config: WorkConfig) -> None:
    counter: RequestCounter = MemoryCounter()
    if kind == "valkey":
        client = connect(valkey_url)
        counter = RedisCounter(client, work_config.key_prefix)
    limit = RateLimit(600, counter)
    for _ in range(600):
        limit.check("anna")
    with pytest.raises(RateLimited) as message:
        for _ in range(600):  # one comes back every tenth of a second
            limit.check("anna")
    assert 0 < message.value.retry_after_seconds <= 0.1
    limit.check("bert")
    wait_until(lambda: is_allowed(limit, "anna"))
    if kind == "valkey":
        client.close()


def is_allowed(limit: RateLimit, caller: str) -> bool:
    try:
        limit.check(caller)
    except RateLimited:
        return False
    return True


def test_without_the_store_each_process_counts_for_itself() -> None:
    client = connect("redis://127.0.0.1:1/0", timeout=0.2)
    limit = RateLimit(3, RedisCounter(client, "x"))
    for _ in range(3):
        limit.check("anna")
    wait_until(lambda: not is_allowed(limit, "anna"))
    client.close()


def test_the_rate_limit_is_shared_by_processes_and_separate_for_each_key(
    start_server: StartServer, tmp_path: Path
) -> None:
    keys = IssuedKeys(tmp_path / "keys.toml")
    anna, bert = keys.issue("anna"), keys.issue("bert")
    servers = [
        start_server(keys_file=str(keys.path), rate_per_minute=6, processes=2),
        start_server(keys_file=str(keys.path), rate_per_minute=6),
    ]
    statuses: list[int] = []
    began = time.monotonic()
    while 429 not in statuses:
        with servers[len(statuses) % 2].make_client() as client:
            client.key = anna
            reply = client.request("GET", "/v1/indexes/papers")
            statuses.append(reply.status)
            assert len(statuses) <= 7 + (time.monotonic() - began) / 10, "one comes back every ten seconds"
    assert set(statuses) == {200, 429} and len(statuses) > 6
    assert reply.json()["code"] == "rate-limited" and 1 <= int(reply.headers["retry-after"]) <= 10
    with servers[0].make_client() as client:
        client.key = bert
        assert client.request("GET", "/v1/indexes/papers").status == 200
        client.key = "pc_nobody_x"
        assert client.request("GET", "/v1/indexes/papers").status == 401
        wait_until(lambda: client.request("GET", "/v1/indexes/papers").status == 429)
        assert client.request("GET", "/healthz").status == 200


@pytest.mark.slow
def test_keys_with_limited_groups_have_a_rate_by_default(engine_folder: Path, tmp_path: Path) -> None:
    keys = IssuedKeys(tmp_path / "keys.toml")
    limited, unlimited = keys.issue("anna", groups=("staff",)), keys.issue("bert", groups=("*",))
    another = keys.issue("carl", groups=("staff",))
    app = make_app_client(engine_folder, keys)
    rate = load_settings().limited_rate_per_minute
    statuses = [app.with_key(limited).get("/v1/indexes/none").status_code for _ in range(2 * rate)]
    assert statuses[:rate] == [404] * rate and 429 in statuses
    assert {app.with_key(unlimited).get("/v1/indexes/none").status_code for _ in range(rate + 1)} == {404}
    assert {app.with_key(limited).get("/v1/jobs/none").status_code for _ in range(rate + 1)} == {404}, "not slowed"
    waiting = app.with_key(another)
    assert {waiting.get("/v1/comparisons/none").status_code for _ in range(rate + 1)} == {404}, "only waits"
    assert 429 in {waiting.get("/v1/comparisons/none.0").status_code for _ in range(2 * rate)}, "may compute"
    app.close()


@pytest.mark.parametrize(
    ("rate", "limited_rate", "allowed", "limited_allowed"), [(5, 3, 5, 3), (3, 5, 3, 3), (0, 3, 9, 3), (3, 0, 3, 3)]
)
def test_the_lower_rate_counts_for_limited_groups(
    rate: int, limited_rate: int, allowed: int, limited_allowed: int
) -> None:
    limit = RateLimit(rate, MemoryCounter(), limited_rate)
    for has_limited_groups, count in ((False, allowed), (True, limited_allowed)):
        for _ in range(count):
            limit.check(str(has_limited_groups), has_limited_groups=has_limited_groups)
        if count < 9:
            with pytest.raises(RateLimited):
                limit.check(str(has_limited_groups), has_limited_groups=has_limited_groups)


def test_cached_answers_count_towards_the_rate(engine_folder: Path) -> None:
    app = make_app_client(engine_folder, rate_per_minute=5)
    assert [app.compare("d1", "d2").status_code for _ in range(5)] == [200] * 5
    wait_until(lambda: app.compare("d1", "d2").status_code == 429)
    app.close()


@pytest.mark.parametrize("inline", [True, False])
def test_open_jobs_of_a_caller_are_limited(
    engine_folder: Path, work_config: WorkConfig, tmp_path: Path, inline: bool
) -> None:
    """The jobs never end: inline there is one thread with a job that waits, otherwise there is no worker."""
    limits = replace(work_config.limits, max_jobs_per_caller=3, resend_seconds=300.0, lease_seconds=300.0)
    work_config = replace(
        work_config, limits=limits, inline_threads=1, redis_url="" if inline else work_config.redis_url
    )
    keys = IssuedKeys(tmp_path / "keys.toml")
    anna, bert = keys.issue("anna"), keys.issue("bert")
    app = make_app_client(engine_folder, keys, work_config)

    def submit(key: str, words: str) -> int:
        question = {"index": "papers", "a": {"id": "d1"}, "b": {"query": tag_query(f"hold=1 {words}")}}
        return app.with_key(key).post("/v1/comparisons", question, {"Prefer": "respond-async"}).status_code

    assert [submit(anna, words) for words in ("one", "two", "three")] == [202, 202, 202]
    assert submit(anna, "four") == 429
    assert submit(anna, "one") == 202, "a job that is there already is no new one"
    assert submit(bert, "five") == 202
    if not inline:
        store = app.flask_app.extensions["phrasecom"].gateway.container.store
        store.client.hset(f"{work_config.key_prefix}job:{_find_any_job(store, work_config)}", "state", "cancelled")
        assert submit(anna, "four") == 202, "one is over, so there is room"
    app.close()


def _find_any_job(store: object, config: WorkConfig) -> str:
    from worker.jobs.redis_store import RedisJobStore

    assert isinstance(store, RedisJobStore)
    jobs = store.client.smembers(f"{config.key_prefix}mine:key:anna")
    return min(name.decode() for name in jobs)  # type: ignore[union-attr]


def test_a_job_that_needs_too_much_memory_fails_alone(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    small_config = replace(work_config, memory_bytes=2**29, comparer="tests.support.memory_hog:MemoryHogComparer")
    start_worker(changed=small_config)
    with start_server(small_config).make_client() as client:
        body = {"index": "papers", "a": {"id": "d1"}, "b": {"query": "greedy"}}
        wait_until(lambda: client.request("POST", "/v1/comparisons", body, {"Prefer": "wait=5"}).status != 202)
        reply = client.request("POST", "/v1/comparisons", body)
        assert (reply.status, reply.json()["code"]) == (413, "too-large")
        assert "worker_memory_bytes" in reply.json()["detail"]
        modest = {"index": "papers", "a": {"id": "d1"}, "b": {"query": "modest"}}
        wait_until(lambda: client.request("POST", "/v1/comparisons", modest, {"Prefer": "wait=5"}).status == 200)
        assert count_computations("modest") == 1


def test_settings_reach_the_workers() -> None:
    """Each has a value that is not its default, so that one that is not passed on shows."""
    values = {
        "answer_ttl_seconds": 11.0,
        "answers_bytes": 12_000,
        "max_queue": 13,
        "max_jobs_per_caller": 14,
        "job_soft_seconds": 15.0,
        "job_hard_seconds": 16.0,
        "concurrency": 17,
        "max_set": 18,
        "max_text_bytes": 19_000,
        "worker_memory_bytes": 2**30,
        "query_seconds": 3.0,
        "engine_timeout_seconds": 4.0,
    }
    config = load_work_config(load_settings(engine="http://x:9200", **values))
    limits, engine = config.limits, config.engine_options
    assert [limits.answer_ttl, limits.max_answer_bytes, limits.max_open_jobs, limits.max_jobs_per_caller] == [
        11,
        12_000,
        13,
        14,
    ]
    assert (config.soft_limit_seconds, config.hard_limit_seconds, config.inline_threads) == (15, 16, 17)
    assert (config.max_set, config.max_text_bytes, config.memory_bytes) == (18, 19_000, 2**30)
    assert (engine["query_seconds"], engine["timeout"]) == (3, 4)


def test_a_search_of_elasticsearch_ends_in_time(elasticsearch_engine: Engine) -> None:
    from indexer.indexing.build import build_index
    from tests.support.corpora.web_papers import make_web_papers

    assert isinstance(elasticsearch_engine, ElasticsearchEngine)
    build_index(make_web_papers(), elasticsearch_engine, "papers", processes=1)
    reader = elasticsearch_engine.open_reader("papers")
    sent: list[object] = []
    client = elasticsearch_engine.connection.client
    search = client.search
    client.search = lambda **given: sent.append(given["body"]) or search(**given)  # type: ignore[method-assign,func-returns-value]
    elasticsearch_engine.query_seconds = 150.5
    assert reader.search(Selection(words=("web",))).total
    assert [body["timeout"] for body in sent] == ["150500ms"]  # type: ignore[index]
    with pytest.raises(TooSlow):
        elasticsearch_engine.connection.require_complete({"timed_out": True})


PATHS = (
    "/",
    "/compare",
    "/docs",
    "/healthz",
    "/metrics",
    "/v1/indexes",
    "/v1/indexes/nope",
    "/nowhere",
    "/v1/openapi.json",
)


def test_every_response_has_safe_headers(limited: AppClient) -> None:
    first = limited.compare("d1", "d2")
    cached = limited.compare("d1", "d2")
    assert cached.headers["X-Cache"] == "local"
    replies = [first, cached, limited.get(f"/v1/comparisons/{first.json['id']}"), *map(limited.get, PATHS)]
    replies.append(limited.send("DELETE", "/v1/indexes"))
    for reply in replies:
        for name, value in SECURITY_HEADERS:
            assert name in reply.headers, (reply.request.path, name)
            if name in ("X-Content-Type-Options", "X-Frame-Options"):
                assert reply.headers.getlist(name) == [value]
        policy = reply.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "Access-Control-Allow-Origin" not in reply.headers


def test_cors_allows_only_named_origins(engine_folder: Path) -> None:
    origin = {"Origin": "https://why.example", "Access-Control-Request-Method": "POST"}
    app = make_app_client(engine_folder)
    assert not [
        name for name, _ in app.send("OPTIONS", "/v1/comparisons", None, origin).headers if "Access-Control" in name
    ]
    app.close()
    app = make_app_client(engine_folder, cors_origins="https://why.example")
    allowed = app.send("OPTIONS", "/v1/comparisons", None, origin).headers
    assert allowed["Access-Control-Allow-Origin"] == "https://why.example"
    assert "X-API-Key" in allowed["Access-Control-Allow-Headers"]
    other = app.get("/v1/indexes", {"Origin": "https://evil.example"}).headers
    assert "Access-Control-Allow-Origin" not in other
    app.close()
