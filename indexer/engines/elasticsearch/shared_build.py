"""A build of an Elasticsearch index that several processes write.

Documents go through the build alias, values through an alias of the model's index: both exist only while the build is
open, so a process that was left behind can neither write to an index that is in use nor create one again.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from elasticsearch import NotFoundError

from indexer.documents import AnalysedDocument
from indexer.engines.elasticsearch.bulk_writer import send_bulk_actions
from indexer.engines.elasticsearch.mappings import build_write_action, encode_source
from indexer.engines.joined_build import JoinedBuild
from indexer.engines.write_order import WriteMark
from indexer.errors import IndexBusy
from indexer.lazy_sequences import LazySequence

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

VALUE_CHUNK_BYTES = 8_000_000
"""Bytes of a value per document, before base64; the phrase model is stored so too."""
_MARKS = "marks"
"""Name of the value with the marks of recent writes."""


def encode_chunks(data: bytes) -> LazySequence:
    """Return some bytes, one chunk at least, as the texts of documents; each is encoded when it is read."""
    starts = range(0, max(1, len(data)), VALUE_CHUNK_BYTES)

    def encode_chunk(number: int) -> str:
        start = starts[number]
        return base64.b64encode(data[start : start + VALUE_CHUNK_BYTES]).decode("ascii")

    return LazySequence(len(starts), encode_chunk)


class BuildNames(NamedTuple):
    """Names of the indexes and aliases of a build."""

    documents_index: str
    model_index: str
    build_alias: str
    """Of the documents, while the build is open."""
    values_alias: str
    """Of the model's index, while the build is open."""

    @classmethod
    def make(cls, engine: ElasticsearchEngine, index: str, version: str) -> BuildNames:
        documents_index = f"{engine.documents_alias(index)}.{version}"
        model_index = f"{engine.model_alias(index)}.{version}"
        return cls(documents_index, model_index, f"{documents_index}.building", f"{model_index}.building")


class ElasticsearchJoinedBuild(JoinedBuild):
    """A build whose documents and values are reached through its two aliases."""

    def __init__(self, engine: ElasticsearchEngine, index: str, version: str) -> None:
        super().__init__(index, version)
        self._connection = engine.connection
        self._names = BuildNames.make(engine, index, version)

    def put_marks(self, marks: Mapping[str, WriteMark]) -> None:
        """Store the marks of recent writes, by id, that documents written to the build take over."""
        self.put_value(_MARKS, orjson.dumps({id: list(mark) for id, mark in marks.items()}))

    @cached_property
    def _marks(self) -> Mapping[str, WriteMark]:
        return {id: WriteMark(*mark) for id, mark in orjson.loads(self.get_value(_MARKS)).items()}

    def write(self, documents: Iterable[AnalysedDocument]) -> list[str]:
        marked: list[str] = []

        def make_actions() -> Iterable[dict[str, Any]]:
            for analysed in documents:
                id, source, mark = analysed.document.id, encode_source(analysed), self._marks.get(analysed.document.id)
                if mark is None:
                    yield {"_index": self._names.build_alias, "_id": id, "_source": source}
                else:
                    marked.append(id)
                    yield build_write_action(self._names.build_alias, id, source, mark)

        try:
            for _ in send_bulk_actions(self._connection, make_actions()):
                pass
        except (IndexBusy, NotFoundError):
            raise self.make_ended_error() from None
        return marked

    def put_value(self, name: str, data: bytes) -> None:
        chunks = encode_chunks(data)
        for number, chunk in enumerate(chunks):
            body = {"data": chunk, "chunks": len(chunks)}
            try:
                with self._connection.translate_errors():
                    self._connection.client.index(
                        index=self._names.values_alias, id=f"{name}.{number}", document=body, require_alias=True
                    )
            except NotFoundError:
                raise self.make_ended_error() from None

    def get_value(self, name: str) -> bytes:
        first = self._get_chunk(name, 0)
        others = [self._get_chunk(name, number) for number in range(1, first["chunks"])]
        return b"".join(base64.b64decode(chunk["data"]) for chunk in (first, *others))

    def _get_chunk(self, name: str, number: int) -> dict[str, Any]:
        try:
            with self._connection.translate_errors():
                found = self._connection.client.get(index=self._names.values_alias, id=f"{name}.{number}")
        except NotFoundError:
            raise self.make_ended_error() from None
        return dict(found.body["_source"])

    def delete_value(self, name: str) -> None:
        try:
            for number in range(self._get_chunk(name, 0)["chunks"]):
                with self._connection.translate_errors():
                    self._connection.client.delete(index=self._names.values_alias, id=f"{name}.{number}")
        except NotFoundError:
            raise self.make_ended_error() from None
