"""The key for a source stays where it was given: workers use their own."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, cast

from tests.support.attached_articles import RecordingElasticsearch
from tests.support.http_server import serve_in_thread
from tests.support.shared_builds import SharedBuildSite


class KeyRecorder(RecordingElasticsearch):
    """Passes requests on to Elasticsearch and records the keys that came with them, and from whom."""

    unknown_names: ClassVar[frozenset[str]] = frozenset()
    keys: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        self.keys.add(self.headers.get("Authorization", ""))
        super().do_GET()

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET


def record_keys(site: SharedBuildSite, engine_key: str, source_key: str) -> set[str]:
    """Build with workers in this process; return the keys with which the source was asked."""
    variables = {"target": site.config.engine, "keys": set()}
    recorder = cast("type[KeyRecorder]", type("Recorder", (KeyRecorder,), variables))
    with serve_in_thread(recorder) as address:
        on_same_server = address if engine_key else site.config.engine
        options = {"api_key": engine_key} if engine_key else {}
        config = replace(
            site.config, redis_url="", engine=on_same_server, engine_options=options, source_api_key=source_key
        )
        site.build_shared("keyed", address=f"{address}/{site.name}", config=config, api_key="coordinator", force=True)
    return recorder.keys - {""}  # of requests that prepare the test


def test_a_worker_reads_the_source_with_its_own_key(site: SharedBuildSite) -> None:
    assert record_keys(site, "", "worker") == {"ApiKey coordinator", "ApiKey worker"}


def test_a_source_on_the_server_of_the_engine_is_read_with_the_key_of_the_engine(site: SharedBuildSite) -> None:
    assert record_keys(site, "engine", "") == {"ApiKey coordinator", "ApiKey engine"}


def test_no_key_of_a_source_is_put_into_redis(site: SharedBuildSite) -> None:
    stored: list[str] = []

    def collect(stage: str, done: int, total: int) -> None:
        with site.open_store() as store:
            names = cast("list[bytes]", store.client.keys(f"{store.prefix}job:*"))
            stored.extend(str(store.client.hgetall(name)) for name in names)

    site.build_shared("keyed", progress=collect, api_key="c0ordinat0r-key", force=True)
    assert any(site.name in value for value in stored), "open jobs were seen"
    assert not any("c0ordinat0r-key" in value for value in stored)
