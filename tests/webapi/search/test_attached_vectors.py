"""Attaching an index with its vectors, which Elasticsearch leaves out of documents unless it is asked for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elasticsearch import Elasticsearch

from indexer.cli.main import run
from indexer.documents import Document
from indexer.engines.attached_source import HitKey
from indexer.engines.attachment import Attachment
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.errors import BadSetting
from indexer.indexing.build import build_index
from indexer.indexing.update import refresh_index
from indexer.vectors import decode_vector, encode_mean_vector, encode_vector
from tests.support.attached_articles import RecordingElasticsearch
from tests.support.attached_sources import MAPPINGS, AttachedSource, attach_source, make_stories, serve_callers
from tests.support.http_server import serve_in_thread

VECTOR = {"type": "dense_vector", "dims": 4, "similarity": "cosine"}
CHUNKS = {"type": "nested", "properties": {"text": {"type": "text"}, "vector": VECTOR}}
MakeVector = Callable[[int], Any]


def make_vector(number: int) -> list[float]:
    """Return a vector whose numbers are rounded when Elasticsearch normalises it."""
    return [0.1, 0.2 + number, 0.3, 0.7]


@pytest.fixture
def plain_source(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[AttachedSource]:
    """A source with no vectors yet that nothing is attached to."""
    source = AttachedSource(elasticsearch_url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
    yield source
    source.close()


def add_values(source: AttachedSource, **values: tuple[Mapping[str, Any], MakeVector]) -> None:
    """Add fields to all documents of a source: name -> mapping, and the value by the number of the document."""
    properties = {name: dict(mapping) for name, (mapping, _) in values.items()}
    source.client.indices.put_mapping(index=source.index, properties=properties)
    source.put_documents(
        {
            id: story | {name: make(int(id[1:])) for name, (_, make) in values.items()}
            for id, story in make_stories().items()
        }
    )


def read_attached(source: AttachedSource) -> tuple[Attachment, dict[str, Document]]:
    """Return the attachment and the attached documents."""
    with source.open_engine() as engine:
        reader = engine.open_reader("news")
        attachment = Attachment.from_info(reader.info)
        assert attachment is not None
        return attachment, {one.document.id: one.document for one in reader.scan()}


def find_states(source: AttachedSource) -> dict[str, str]:
    """Return the states of all attached documents, also as the hits of a search get them."""
    with source.open_engine() as engine:
        reader = engine.open_reader("news")
        attached_source, attached = engine.attached_source(reader.info), dict(reader.scan_versions())
        assert attached_source is not None
        states = attached_source.find_states(attached, None)
        changed = attached_source.find_changed_hits([HitKey(source.index, id) for id in attached], attached, None)
        assert {key.id for key in changed} == states.keys()
        return dict(states)


def test_the_only_vectors_are_attached_and_told(
    plain_source: AttachedSource, capsys: pytest.CaptureFixture[str]
) -> None:
    add_values(plain_source, emb=(VECTOR, make_vector))
    attach_source(plain_source)
    assert "vectors: field emb, 4 dimensions; --vectors none leaves them out" in capsys.readouterr().err
    attachment, documents = read_attached(plain_source)
    assert attachment.vector_field == "emb"
    assert len(documents) == 12
    for id, document in documents.items():
        assert document.vector is not None and "emb" not in document.extra
        np.testing.assert_allclose(decode_vector(document.vector), make_vector(int(id[1:])), rtol=1e-6)


def test_only_another_vector_makes_a_document_changed(plain_source: AttachedSource) -> None:
    add_values(plain_source, emb=(VECTOR, make_vector))
    attach_source(plain_source)
    assert find_states(plain_source) == {}
    stories = make_stories()
    plain_source.put_documents(
        {
            "s1": stories["s1"] | {"emb": make_vector(7)},
            "s2": stories["s2"] | {"emb": make_vector(2)},
            "s3": stories["s3"],
            "s4": stories["s4"] | {"emb": make_vector(4), "views": 5},
        }
    )
    assert find_states(plain_source) == {"s1": "changed", "s3": "changed"}
    attach_source(plain_source)
    assert find_states(plain_source) == {}
    assert read_attached(plain_source)[1]["s3"].vector is None


def test_a_refresh_keeps_vectors_and_their_field(plain_source: AttachedSource) -> None:
    add_values(plain_source, emb=(VECTOR, make_vector))
    attach_source(plain_source)
    before = read_attached(plain_source)
    with plain_source.open_engine() as engine:
        refresh_index(engine, "news")
    assert read_attached(plain_source) == before
    assert find_states(plain_source) == {}


def test_a_named_field_is_read_and_other_vectors_are_not(
    plain_source: AttachedSource, capsys: pytest.CaptureFixture[str]
) -> None:
    add_values(plain_source, vector=(VECTOR, make_vector), other=(VECTOR, lambda number: [number, 1, 1, 1]))
    attach_source(plain_source)
    assert "other, 4 dimensions; vector, 4 dimensions" in capsys.readouterr().err
    attachment, documents = read_attached(plain_source)
    assert attachment.vector_field is None
    assert all(one.vector is None and not {"vector", "other"} & one.extra.keys() for one in documents.values())
    for option in (("--vectors", "other"), ("--map", "vector=other"), ("--vectors", "other", "--map", "vector=other")):
        attach_source(plain_source, *option)
        attachment, documents = read_attached(plain_source)
        assert attachment.vector_field == "other" and "vectors:" not in capsys.readouterr().err
        assert all(one.vector and not {"vector", "other"} & one.extra.keys() for one in documents.values())
        assert find_states(plain_source) == {}


@pytest.mark.parametrize("option", [("--vectors", "none"), ("--map", "vector=")])
def test_vectors_can_be_left_out(
    plain_source: AttachedSource, option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    add_values(plain_source, vector=(VECTOR, make_vector))
    attach_source(plain_source, *option)
    assert "vectors:" not in capsys.readouterr().err
    attachment, documents = read_attached(plain_source)
    assert attachment.vector_field is None
    assert all(one.vector is None for one in documents.values())
    plain_source.put_document("s1", make_stories()["s1"] | {"vector": make_vector(9)})
    assert find_states(plain_source) == {}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--vectors", "headline"], "'headline' is of type text, not dense_vector; use --vectors emb or none"),
        (["--map", "vector=nothing"], "no field 'nothing' with vectors; use --vectors emb or none"),
        (["--vectors", "hashes"], "are bits (element_type bit), not numbers; use --vectors emb or none"),
        (["--vectors", "emb", "--map", "vector=other"], "--vectors emb and --map vector=other differ"),
        (["--vectors", "none", "--map", "vector=emb"], "--vectors none and --map vector=emb differ"),
        (["--vectors", ""], "--vectors is empty"),
    ],
)
def test_a_field_without_vectors_is_refused(
    plain_source: AttachedSource, options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bits = {"type": "dense_vector", "element_type": "bit", "dims": 32}
    add_values(plain_source, emb=(VECTOR, make_vector), hashes=(bits, lambda number: [1, 2, 3, number]))
    address = f"{plain_source.url}/{plain_source.index}"
    command = ["attach", address, "--index", "news", "--engine", plain_source.url, "--map", "text=body"]
    assert run([*command, *options]) == 2
    assert reason in capsys.readouterr().err


def test_vectors_of_bytes_are_numbers(plain_source: AttachedSource) -> None:
    add_values(plain_source, emb=(VECTOR | {"element_type": "byte"}, lambda number: [number, -2, 3, 127]))
    attach_source(plain_source)
    assert read_attached(plain_source)[1]["s5"].vector == encode_vector([5, -2, 3, 127])
    assert find_states(plain_source) == {}


def test_the_vectors_of_chunks_are_averaged(plain_source: AttachedSource, capsys: pytest.CaptureFixture[str]) -> None:
    def make_chunks(number: int) -> list[dict[str, Any]]:
        return [{"text": "a part", "vector": [part + 1, number, 0, 2]} for part in range(number % 3)]

    add_values(plain_source, chunks=(CHUNKS, make_chunks))
    attach_source(plain_source)
    assert "vectors: field chunks.vector, 4 dimensions" in capsys.readouterr().err
    attachment, documents = read_attached(plain_source)
    assert attachment.vector_field == "chunks.vector"
    assert documents["s3"].vector is None
    expected = decode_vector(encode_mean_vector([[1, 5, 0, 2], [2, 5, 0, 2]]))
    np.testing.assert_allclose(decode_vector(documents["s5"].vector or b""), expected, rtol=1e-6)
    assert find_states(plain_source) == {}
    chunks = make_chunks(5)
    chunks[1]["vector"] = [9, 9, 9, 9]
    plain_source.put_documents(
        {
            "s5": make_stories()["s5"] | {"chunks": chunks},
            "s8": make_stories()["s8"] | {"chunks": make_chunks(8)},
        }
    )
    assert find_states(plain_source) == {"s5": "changed"}


def test_documents_without_the_field_have_no_vector(plain_source: AttachedSource) -> None:
    add_values(plain_source, emb=(VECTOR, lambda number: make_vector(number) if number > 2 else None))
    plain_source.put_document("late", make_stories()["s1"])
    attach_source(plain_source)
    documents = read_attached(plain_source)[1]
    assert len(documents) == 13
    assert {id for id, one in documents.items() if one.vector is None} == {"s1", "s2", "late"}
    assert find_states(plain_source) == {}


def test_a_key_that_may_not_read_the_mapping_gets_only_vectors_that_are_named(
    plain_source: AttachedSource, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_values(plain_source, emb=(VECTOR, make_vector))
    kind = type(plain_source.client.indices)
    get_mapping = kind.get_mapping

    def get_unless_denied(*arguments: Any, **options: Any) -> Any:
        if options["index"] == plain_source.index:
            raise BadSetting("Elasticsearch denies access (403)")
        return get_mapping(*arguments, **options)

    monkeypatch.setattr(kind, "get_mapping", get_unless_denied)
    attach_source(plain_source)
    assert "vectors: none, as the mapping of the source may not be read; --vectors FIELD" in capsys.readouterr().err
    assert read_attached(plain_source)[0].vector_field is None
    attach_source(plain_source, "--vectors", "emb")
    assert read_attached(plain_source)[1]["s1"].vector
    assert find_states(plain_source) == {}


def test_an_index_attached_by_a_version_without_vectors_is_unchanged(plain_source: AttachedSource) -> None:
    plain_source.client.indices.delete(index=plain_source.index)
    create_index_with_vectors_in_documents(plain_source, "vector")
    attach_source(plain_source, "--vectors", "none")
    attachment, documents = read_attached(plain_source)
    fields = {name: path for name, path in attachment.fields.items() if name != "vector"}
    former = Attachment(attachment.index, attachment.cluster, fields, True, attachment.checkpoints)
    with plain_source.open_engine() as engine:
        build_index(documents.values(), engine, "news", attachment=former)
    plain_source.put_documents({id: story | {"vector": make_vector(1)} for id, story in make_stories().items()})
    assert find_states(plain_source) == {}


def test_the_field_is_told_by_the_service_and_the_doctor(
    plain_source: AttachedSource, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_values(plain_source, emb=(VECTOR, make_vector))
    attach_source(plain_source)
    with serve_callers(plain_source, tmp_path) as who:
        for name in ("root", "staff"):
            assert who(name).get("/v1/indexes/news").json["fields"]["vector"] == "emb"
    capsys.readouterr()
    run(["doctor", "--json", "--engine", plain_source.url])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert "0 changed, 0 deleted; vectors: field emb" in next(
        finding["detail"] for finding in findings if finding["what"] == "source of news"
    )


def create_index_with_vectors_in_documents(source: AttachedSource, field: str) -> None:
    """Create the index of a source as servers before 9.2 do: documents are returned with their vectors."""
    mappings = {"properties": MAPPINGS["properties"] | {field: VECTOR}}
    settings = {"index.mapping.exclude_source_vectors": False}
    source.client.indices.create(index=source.index, mappings=mappings, settings=settings)
    source.put_documents({id: story | {field: make_vector(int(id[1:]))} for id, story in make_stories().items()})


class ServerOf91(RecordingElasticsearch):
    """Elasticsearch 9.5 that calls itself 9.1 and refuses searches with an option that 9.1 does not know."""

    unknown_names = frozenset({"exclude_vectors"})

    def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        if self.recorded:
            status, content = 400, b'{"error": {"type": "parsing_exception", "reason": "unknown"}, "status": 400}'
        elif self.path == "/" and content:
            info = json.loads(content)
            info["version"]["number"] = "9.1.4"
            content = json.dumps(info).encode()
        super()._answer(status, headers, content)


def test_a_server_that_does_not_know_the_option_is_read_without_it(
    plain_source: AttachedSource, elasticsearch_url: str
) -> None:
    plain_source.client.indices.delete(index=plain_source.index)
    create_index_with_vectors_in_documents(plain_source, "emb")
    handler = type("Handler", (ServerOf91,), {"target": elasticsearch_url, "recorded": []})
    with serve_in_thread(handler) as address:
        plain_source.url = address
        attach_source(plain_source)
        assert read_attached(plain_source)[1]["s1"].vector == encode_vector(make_vector(1))
        plain_source.put_documents({"s1": make_stories()["s1"] | {"emb": make_vector(9)}, "s2": make_stories()["s2"]})
        plain_source.put_document("s3", make_stories()["s3"] | {"emb": make_vector(3)})
        assert find_states(plain_source) == {"s1": "changed", "s2": "changed"}
        assert not handler.recorded
        plain_source.url = elasticsearch_url


@pytest.mark.parametrize(
    ("version", "leaves_out"),
    [
        ({"number": "8.19.4"}, False),
        ({"number": "9.1.10"}, False),
        ({"number": "9.2.0-SNAPSHOT"}, True),
        ({"number": "9.10.0"}, True),
        ({"number": "8.11.0", "build_flavor": "serverless"}, True),
    ],
)
def test_servers_that_leave_vectors_out_are_known_by_their_version(
    version: dict[str, str], leaves_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Info:
        body: Mapping[str, Any] = {"version": version}

    monkeypatch.setattr(Elasticsearch, "info", lambda _: Info)
    connection = ElasticsearchConnection("http://127.0.0.1:9", 1)
    assert connection.leaves_vectors_out() is leaves_out
    connection.client.close()
