"""A source that several processes read in slices, each document once, at one point in time.

A slice is a number of documents behind a place in the order of the point in time, so slices have equal sizes, there may
be any number of them, and reading them one after the other is reading the whole source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from elasticsearch import NotFoundError

from indexer.documents import Document
from indexer.engines.elasticsearch.attached_source import fetch_index_uuids
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.factory import strip_credentials
from indexer.errors import BadParameter
from indexer.readers.elasticsearch_index import make_source_row, plan_reading
from indexer.readers.point_in_time import iterate_hits, make_unknown_index_error
from indexer.readers.registry import make_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap

ID_PAGE_SIZE = 10_000
"""Ids fetched with one request."""


class SourceSlice(NamedTuple):
    """Documents that follow one another."""

    after: int | None
    """The place of the document before the first; None for the first of the source."""
    size: int
    """Number of documents."""


class SourcePlace(NamedTuple):
    """A document without its content."""

    id: str
    """As Elasticsearch has it; a ``Document`` has it without blanks around it."""
    place: int
    """In the order of the point in time, ascending."""


def require_own_ids(fields: FieldMap) -> None:
    """Raise BadParameter if documents get other ids than they have in the source."""
    if "id" in fields.sources:
        raise BadParameter(
            "documents that take their ids from a field cannot be shared out: two may have the same",
            fix="leave out --map id, or --shared",
        )


@dataclass(frozen=True)
class SharedSource:
    """What a process must know to read slices; JSON values, none of them secret."""

    address: str
    """URL of the server, without credentials."""
    index: str
    pit: str
    uuids: Mapping[str, str]
    """Of the indices behind the name."""
    fields: Mapping[str, str]
    """Field of a document -> field of the source."""
    source_filter: Mapping[str, Any] | bool
    page_size: int
    max_document_bytes: int

    @classmethod
    def open(
        cls, connection: ElasticsearchConnection, index: str, pit: str, fields: FieldMap, max_document_bytes: int
    ) -> Self:
        """Plan the reading by the mapping as it is now; raises like ``elasticsearch_index.plan_reading``."""
        require_own_ids(fields)
        plan = plan_reading(connection, index, fields)
        try:
            uuids = fetch_index_uuids(connection, index)
        except NotFoundError:
            raise make_unknown_index_error(connection, index) from None
        address = strip_credentials(connection.url)
        fields_read = dict(plan.fields.sources)
        return cls(address, index, pit, uuids, fields_read, plan.source_filter, plan.page_size, max_document_bytes)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def list_places(self, connection: ElasticsearchConnection) -> Iterator[SourcePlace]:
        """Yield all documents in their order, valid ones or not."""
        for hit in iterate_hits(connection, self.pit, False, ID_PAGE_SIZE):
            yield SourcePlace(hit["_id"], hit["sort"][0])

    def read_slice(
        self, connection: ElasticsearchConnection, part: SourceSlice, rejects: Rejects
    ) -> Iterator[Document]:
        """Yield the documents of a slice; those that are not valid go to ``rejects``."""
        hits = iterate_hits(connection, self.pit, self.source_filter, self.page_size, after=part.after, count=part.size)
        return self._make_documents(hits, rejects)

    def read_documents(self, connection: ElasticsearchConnection, ids: Sequence[str]) -> list[Document]:
        """Return the documents with these ids, up to ``page_size``, in their order; those not valid are left out."""
        query = {"ids": {"values": list(ids)}}
        hits = iterate_hits(connection, self.pit, self.source_filter, self.page_size, query=query)
        found = {document.id: document for document in self._make_documents(hits, Rejects())}
        return [found[id] for id in map(str.strip, ids) if id in found]

    def _make_documents(self, hits: Iterator[Mapping[str, Any]], rejects: Rejects) -> Iterator[Document]:
        fields = FieldMap(dict(self.fields))
        rows = (make_source_row(hit, self.index, self.uuids, fields) for hit in hits)
        return make_documents(rows, rejects, fields, self.max_document_bytes)
