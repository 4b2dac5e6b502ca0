"""A build that other processes join: its documents and values are theirs too, until it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexer.engines.base import Engine
from indexer.engines.elasticsearch import shared_build
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.joined_build import JoinedBuild
from indexer.errors import BadSetting, Expired
from tests.support.corpora.engine_corpus import AnalysedCorpus, write_index
from tests.support.engines import reopen_engine
from tests.support.index_processes import make_added_document

USES: dict[str, Callable[[JoinedBuild, AnalysedCorpus], object]] = {
    "write": lambda joined, corpus: joined.write(corpus.documents[:1]),
    "put": lambda joined, corpus: joined.put_value("late", b"value"),
    "get": lambda joined, corpus: joined.get_value("known"),
    "delete": lambda joined, corpus: joined.delete_value("known"),
}


def list_index_names(engine: Engine) -> set[str]:
    assert isinstance(engine, ElasticsearchEngine)
    return set(engine.connection.client.indices.get(index=f"{engine.prefix}*").body)


def test_documents_that_others_write_are_those_of_the_build(
    elasticsearch_engine: Engine, corpus: AnalysedCorpus
) -> None:
    with reopen_engine(elasticsearch_engine) as other, elasticsearch_engine.start_build("papers") as build:
        mine = build.share()
        joined = other.join_build("papers", mine.version)
        assert joined.write(corpus.documents) == []
        assert joined.write(corpus.documents[:20]) == []  # a second time
        assert other.list_indexes() == []
        build.commit(corpus.model, corpus.make_info("papers"))
    reader = elasticsearch_engine.open_reader("papers")
    tokens = {each.document.id: each.tokens for each in corpus.documents}
    assert {each.document.id: each.tokens for each in reader.scan()} == tokens
    assert reader.info.documents == len(corpus.documents)


def test_a_recent_write_keeps_its_number_whoever_writes_the_document(
    elasticsearch_engine: Engine, corpus: AnalysedCorpus
) -> None:
    write_index(elasticsearch_engine, corpus)
    before = elasticsearch_engine.add_documents("papers", [make_added_document("doc-0001"), make_added_document("new")])
    with reopen_engine(elasticsearch_engine) as other, elasticsearch_engine.start_build("papers") as build:
        marked = other.join_build("papers", build.share().version).write(corpus.documents)
        assert marked == ["doc-0001"]
        build.note_marked(marked)
        build.commit(corpus.model, corpus.make_info("papers", "epoch-2"))
    reader = elasticsearch_engine.open_reader("papers")
    assert sorted(each.document.id for each in reader.scan()) == [each.document.id for each in corpus.documents]
    late = elasticsearch_engine.add_documents(
        "papers", [make_added_document("doc-0001"), make_added_document("new")], sequence=before.sequence - 1
    )
    assert late.superseded == {"doc-0001", "new"}


def test_values_of_any_size_are_kept_and_removed(elasticsearch_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_build, "VALUE_CHUNK_BYTES", 10)
    values = {"empty": b"", "one": b"0123456789", "several": bytes(range(35))}
    with reopen_engine(elasticsearch_engine) as other, elasticsearch_engine.start_build("papers") as build:
        mine = build.share()
        joined = other.join_build("papers", mine.version)
        for name, value in values.items():
            joined.put_value(name, value)
            joined.put_value(name, value)
        assert {name: mine.get_value(name) for name in values} == values
        mine.delete_value("several")
        with pytest.raises(Expired):
            joined.get_value("several")
        assert joined.get_value("one") == values["one"]


@pytest.mark.parametrize("end", ["commit", "abort", "takeover"])
def test_a_build_that_has_ended_takes_nothing_more(
    elasticsearch_engine: Engine, corpus: AnalysedCorpus, end: str
) -> None:
    write_index(elasticsearch_engine, corpus)
    with reopen_engine(elasticsearch_engine) as other, elasticsearch_engine.start_build("papers") as build:
        joined = other.join_build("papers", build.share().version)
        joined.put_value("known", b"value")
        joined.write(corpus.documents[:3])
        if end == "commit":
            build.commit(corpus.model, corpus.make_info("papers", "epoch-2"))
        elif end == "abort":
            build.abort()
        else:
            other.start_build("papers").abort()
        names = list_index_names(elasticsearch_engine)
        for use in USES.values():
            with pytest.raises(Expired, match="has ended"):
                use(joined, corpus)
        assert list_index_names(elasticsearch_engine) == names, "no index was created again"


def test_builds_of_the_embedded_engine_are_not_shared(tantivy_engine: Engine) -> None:
    with tantivy_engine.start_build("papers") as build, pytest.raises(BadSetting, match="folder of one machine"):
        build.share()
    with pytest.raises(BadSetting, match="folder of one machine"):
        tantivy_engine.join_build("papers", "version")
