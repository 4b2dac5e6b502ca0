"""What can go wrong with a server, told in one line each."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.search_types import Selection
from indexer.errors import BadSetting, CorruptIndex, EngineUnavailable, IndexBusy, TooLarge, TooSlow, UnsupportedVersion
from indexer.net import find_free_port
from tests.support.corpora.engine_corpus import Corpus, build, make_corpus


@pytest.fixture
def server(elasticsearch_engine: Engine) -> ElasticsearchEngine:
    assert isinstance(elasticsearch_engine, ElasticsearchEngine)
    return elasticsearch_engine


def test_a_server_that_is_not_there_is_named_with_its_fix(corpus: Corpus) -> None:
    url = f"http://127.0.0.1:{find_free_port()}"
    with open_engine(url) as engine:
        for call in (
            engine.get_version,
            engine.list_indexes,
            lambda: engine.open_reader("papers"),
            lambda: engine.start_build("papers"),
            lambda: engine.add_documents("papers", corpus.documents),
            lambda: engine.delete_documents("papers", ["a"]),
            lambda: engine.delete_index("papers"),
        ):
            with pytest.raises(EngineUnavailable, match=url) as told:
                call()
            assert "start it" in str(told.value) and "\n" not in str(told.value)


def test_a_reader_whose_server_went_away_says_so(server: ElasticsearchEngine, corpus: Corpus) -> None:
    reader = build(server, corpus)
    with open_engine(f"http://127.0.0.1:{find_free_port()}") as gone:
        assert isinstance(gone, ElasticsearchEngine)
        here, server.connection = server.connection, gone.connection
        try:
            with pytest.raises(EngineUnavailable):
                reader.fetch(["doc-0001"])
            with pytest.raises(EngineUnavailable):
                reader.search(Selection())
        finally:
            server.connection = here


class OldServer(BaseHTTPRequestHandler):
    """Stands for servers that cannot be had here: it says what they say of themselves."""

    headers_sent: tuple[tuple[str, str], ...] = (("X-Elastic-Product", "Elasticsearch"),)
    number = "7.17.0"

    def do_GET(self) -> None:
        body = b'{"version": {"number": "%s"}}' % self.number.encode()
        self.send_response(200)
        for name, value in (
            *self.headers_sent,
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class OtherProduct(OldServer):
    headers_sent = ()


@pytest.fixture(params=[OldServer, OtherProduct])
def unsuitable(request: pytest.FixtureRequest) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), request.param) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def test_a_server_of_another_version_or_product_is_refused(unsuitable: str) -> None:
    with open_engine(unsuitable) as engine, pytest.raises(UnsupportedVersion, match=unsuitable):
        engine.open_reader("papers")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(BadSetting, match="9200"):
        open_engine("http://")


def test_a_partial_answer_counts_as_no_answer(server: ElasticsearchEngine) -> None:
    whole = {"_shards": {"failed": 0}, "timed_out": False}
    assert server.connection.require_complete(whole) is whole
    with pytest.raises(EngineUnavailable):
        server.connection.require_complete({"_shards": {"failed": 1}})
    with pytest.raises(TooSlow, match="query_seconds"):
        server.connection.require_complete({"_shards": {"failed": 0}, "timed_out": True})


def test_a_later_build_takes_over_and_the_earlier_one_is_told(server: ElasticsearchEngine, corpus: Corpus) -> None:
    with server.start_build("papers") as earlier:
        earlier.write(corpus.documents[:5])
        build(server, make_corpus(10), epoch="later")
        with pytest.raises(IndexBusy):
            earlier.write(corpus.documents)
            earlier.commit(corpus.model, corpus.info("papers"))
    assert server.open_reader("papers").info.epoch == "later"
    assert server.list_concrete_indexes("papers", in_use=False) == []


def test_a_damaged_model_is_told_with_the_command_that_mends_it(server: ElasticsearchEngine, corpus: Corpus) -> None:
    build(server, corpus)
    client = server.connection.client
    client.index(index=server.model_alias("papers"), id="0", document={"data": "AAAA"}, refresh=True)
    fix = "phrasecom index PATH --index papers"
    with open_engine(server.address, prefix=server.prefix) as other, pytest.raises(CorruptIndex, match=fix):
        other.open_reader("papers")


def test_an_index_of_another_make_is_refused(server: ElasticsearchEngine) -> None:
    server.connection.client.indices.create(
        index=f"{server.documents_alias('papers')}.other", aliases={server.documents_alias("papers"): {}}
    )
    with pytest.raises(UnsupportedVersion, match="papers"):
        server.open_reader("papers")


def test_indexes_of_others_are_left_alone(server: ElasticsearchEngine, corpus: Corpus) -> None:
    build(server, corpus)
    with open_engine(server.address, prefix=f"{server.prefix}x-") as neighbour:
        assert neighbour.list_indexes() == []
        build(neighbour, make_corpus(2))
        assert neighbour.list_indexes() == ["papers"]
        neighbour.delete_index("papers")
    assert server.list_indexes() == ["papers"]


def test_a_page_too_far_down_is_refused(server: ElasticsearchEngine, corpus: Corpus) -> None:
    with pytest.raises(TooLarge, match="100000"):
        build(server, corpus).search(Selection(), offset=100_000)


def test_opening_again_costs_one_request(server: ElasticsearchEngine, corpus: Corpus) -> None:
    build(server, corpus)
    calls: list[str] = []
    transport = server.connection.client.transport
    perform = transport.perform_request

    def counting(method: str, target: str, **rest: object) -> object:
        calls.append(target)
        return perform(method, target, **rest)  # type: ignore[arg-type]

    transport.perform_request = counting  # type: ignore[method-assign, assignment]
    server.open_reader("papers")
    assert len(calls) == 1
