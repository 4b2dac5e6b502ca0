"""Everything that can go wrong with a server gives an error of one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.errors import (
    BadSetting,
    CorruptIndex,
    EngineUnavailable,
    IndexBusy,
    PhraseComError,
    TooLarge,
    TooSlow,
    UnsupportedVersion,
)
from indexer.net import find_free_port
from tests.support.corpora.engine_corpus import AnalysedCorpus, make_corpus, write_index
from tests.support.http_server import OldElasticsearch, OtherProduct, serve_in_thread


@pytest.fixture
def server(elasticsearch_engine: Engine) -> ElasticsearchEngine:
    assert isinstance(elasticsearch_engine, ElasticsearchEngine)
    return elasticsearch_engine


@pytest.mark.slow
def test_an_unreachable_server_is_reported_with_a_fix(corpus: AnalysedCorpus) -> None:
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
            with pytest.raises(EngineUnavailable, match=url) as caught:
                call()
            assert "start it" in str(caught.value) and "\n" not in str(caught.value)


def test_a_reader_whose_server_went_away_says_so(server: ElasticsearchEngine, corpus: AnalysedCorpus) -> None:
    reader = write_index(server, corpus)
    with open_engine(f"http://127.0.0.1:{find_free_port()}") as unreachable:
        assert isinstance(unreachable, ElasticsearchEngine)
        own_connection, server.connection = server.connection, unreachable.connection
        try:
            with pytest.raises(EngineUnavailable):
                reader.fetch(["doc-0001"])
            with pytest.raises(EngineUnavailable):
                reader.search(Selection())
        finally:
            server.connection = own_connection


@pytest.fixture(params=[OldElasticsearch, OtherProduct])
def unsupported_server(request: pytest.FixtureRequest) -> Iterator[str]:
    with serve_in_thread(request.param) as url:
        yield url


def test_a_server_of_another_version_or_product_is_refused(unsupported_server: str) -> None:
    with open_engine(unsupported_server) as engine, pytest.raises(UnsupportedVersion, match=unsupported_server):
        engine.open_reader("papers")


def test_a_bad_server_address_is_refused() -> None:
    with pytest.raises(BadSetting, match="9200"):
        open_engine("http://")


@pytest.mark.parametrize(
    ("part", "value", "error"),
    [("_shards", {"failed": 1}, EngineUnavailable), ("timed_out", True, TooSlow)],
    ids=["failed shard", "timed out"],
)
def test_no_read_takes_an_incomplete_answer(
    server: ElasticsearchEngine,
    corpus: AnalysedCorpus,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    value: object,
    error: type[PhraseComError],
) -> None:
    """Elasticsearch answers with status 200; the parts that say so must not be filtered out of the response."""
    reader = write_index(server, corpus)
    search = server.connection.client.search
    faults = [0]

    def search_with_fault(**given: Any) -> Any:
        response = search(**given)
        if any(path.startswith(part) for path in given.get("filter_path", part).split(",")):
            response.body[part] = value
            faults[0] += 1
        return response

    monkeypatch.setattr(server.connection.client, "search", search_with_fault)
    monkeypatch.setattr("indexer.engines.elasticsearch.reader.RETRY_WAITS", (None,))
    monkeypatch.setattr("indexer.engines.elasticsearch.engine.RETRY_WAITS", (None,))
    phrase = {corpus.documents[0].phrases[0]: 1.0}
    reads: list[Callable[[], object]] = [
        lambda: reader.search(Selection()),
        lambda: list(reader.scan()),
        lambda: reader.readable_ids(frozenset({"staff"}), 10),
        lambda: reader.facet_names(),
        lambda: reader.find_neighbourhood(NeighbourhoodRequest(phrase, phrase, (), 10)),
        lambda: server.open_reader("papers"),
        lambda: server.get_info("papers"),
    ]
    for number, read in enumerate(reads, 1):
        with pytest.raises(error):
            read()
        assert faults[0] == number


def test_a_later_build_takes_over_and_the_earlier_one_fails(
    server: ElasticsearchEngine, corpus: AnalysedCorpus
) -> None:
    with server.start_build("papers") as earlier:
        earlier.write(corpus.documents[:5])
        write_index(server, make_corpus(10), epoch="later")
        with pytest.raises(IndexBusy):
            earlier.write(corpus.documents)
            earlier.commit(corpus.model, corpus.make_info("papers"))
    assert server.open_reader("papers").info.epoch == "later"
    assert server.list_concrete_indexes("papers", in_use=False) == []


def test_a_damaged_model_is_reported_with_the_command_that_repairs_it(
    server: ElasticsearchEngine, corpus: AnalysedCorpus
) -> None:
    write_index(server, corpus)
    client = server.connection.client
    client.index(index=server.model_alias("papers"), id="0", document={"data": "AAAA"}, refresh=True)
    fix = "phrasecom index PATH --index papers"
    with open_engine(server.address, prefix=server.prefix) as other, pytest.raises(CorruptIndex, match=fix):
        other.open_reader("papers")


def test_an_index_of_another_program_is_refused(server: ElasticsearchEngine) -> None:
    server.connection.client.indices.create(
        index=f"{server.documents_alias('papers')}.other", aliases={server.documents_alias("papers"): {}}
    )
    with pytest.raises(UnsupportedVersion, match="papers"):
        server.open_reader("papers")


def test_indexes_with_another_prefix_are_left_alone(server: ElasticsearchEngine, corpus: AnalysedCorpus) -> None:
    write_index(server, corpus)
    with open_engine(server.address, prefix=f"{server.prefix}x-") as neighbour:
        assert neighbour.list_indexes() == []
        write_index(neighbour, make_corpus(2))
        assert neighbour.list_indexes() == ["papers"]
        neighbour.delete_index("papers")
    assert server.list_indexes() == ["papers"]


def test_a_page_too_far_down_is_refused(server: ElasticsearchEngine, corpus: AnalysedCorpus) -> None:
    with pytest.raises(TooLarge, match="100000"):
        write_index(server, corpus).search(Selection(), offset=100_000)


def test_opening_again_costs_one_request(server: ElasticsearchEngine, corpus: AnalysedCorpus) -> None:
    write_index(server, corpus)
    targets: list[str] = []
    transport = server.connection.client.transport
    perform_request = transport.perform_request

    def record_request(method: str, target: str, **rest: object) -> object:
        targets.append(target)
        return perform_request(method, target, **rest)  # type: ignore[arg-type]

    transport.perform_request = record_request  # type: ignore[method-assign, assignment]
    server.open_reader("papers")
    assert len(targets) == 1
