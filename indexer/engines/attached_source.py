"""Interface of an attached source: a foreign index that one of ours was attached to; it is searched, never written.

Only Elasticsearch has sources. Our own index decides which documents a caller with limited groups may read; if the
source has a field with groups itself, both must allow it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.documents import Document
from indexer.engines.attachment import Attachment
from indexer.engines.field_guard import FieldGuard
from indexer.records import BadRecord, FieldMap, make_document
from indexer.text.tokenizer import Span

WordPlaces = Mapping[str, Span | None]
"""Word -> its first place in a document, None where it is not known; words that the document lacks are left out."""
_ANY_SIZE = 2**31
_FACET_TYPES = frozenset({"keyword", "constant_keyword", "boolean"})
"""Types of the fields that can serve as facets."""


@dataclass(frozen=True, slots=True)
class SourceFields:
    """Fields of a source that can be queried."""

    types: Mapping[str, frozenset[str]]
    """Field -> its types; several if the name covers indices with different mappings."""
    aggregatable: frozenset[str] = frozenset()
    """Fields that can be aggregated and sorted by."""
    document_fields: Mapping[str, str] = field(default_factory=dict)
    """title, text, date, url, acl -> field of the source, for those it has."""

    def list_fields_with_facet(self, field_by_facet: Mapping[str, str]) -> list[tuple[str, str | None]]:
        """Return (field, facet) pairs of the facets that can be counted in the source.

        ``field_by_facet`` maps each attached facet to its field. If it is empty, every keyword field that is not one of
        ``document_fields`` is returned, with None as its facet.
        """
        if field_by_facet:
            pairs = [(name, facet) for facet, field in field_by_facet.items() for name in (field, f"{field}.keyword")]
            return [(name, facet) for name, facet in pairs if name in self.aggregatable]
        subfields = tuple(f"{name}." for name in self.document_fields.values())
        return [
            (name, None)
            for name in sorted(self.aggregatable)
            if self.types[name] <= _FACET_TYPES
            and name not in self.document_fields.values()
            and not name.startswith(subfields)
        ]

    def without_hidden(self, guard: FieldGuard) -> SourceFields:
        """Return the fields that callers with limited groups may name."""
        types = {name: kinds for name, kinds in self.types.items() if not guard.hides(name)}
        document_fields = {role: name for role, name in self.document_fields.items() if name in types}
        return SourceFields(types, self.aggregatable & types.keys(), document_fields)


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """What a caller with limited groups may read of a source."""

    groups: frozenset[str]
    readable_ids: Sequence[str]
    """Ids that our own index lets these groups read."""
    guard: FieldGuard


class AttachedSource(ABC):
    """The attached index, searched with its own analyzers and mappings."""

    def __init__(self, attachment: Attachment) -> None:
        self.name = attachment.index
        self.field_map = FieldMap(attachment.fields)

    @abstractmethod
    def get_fields(self) -> SourceFields:
        """Return the fields of the source; raise Unavailable if it no longer exists."""

    @abstractmethod
    def fetch_guard(self) -> FieldGuard:
        """Return the guard of the groups for the mapping as it is now; raise Unavailable if the source is gone.

        It is not cached: a mapping that changes may open what was closed.
        """

    @abstractmethod
    def search(self, body: Mapping[str, Any], access: SourceAccess | None) -> Mapping[str, Any]:
        """Run a search body on the documents a caller may read and return Elasticsearch's response.

        ``access``: None for a caller who may read everything. Raises Forbidden if access cannot be checked inside a
        search, BadParameter if Elasticsearch refuses the body, Unavailable if the source no longer exists.
        """

    @abstractmethod
    def find_words(
        self, words: Sequence[str], documents: Sequence[Document], access: SourceAccess | None
    ) -> Mapping[str, WordPlaces]:
        """Return where documents contain words as the source's analyzers see it, by id, in one request.

        The first place counts, title before text. Documents are left out that the source has with another title or
        text, that ``access`` does not cover, or that have text where the source cannot be searched. Raises like
        ``search``.
        """

    def parse_hit(self, hit: Mapping[str, Any]) -> Document | None:
        """Return a hit as the document that attaching it now would make; None if it would be rejected."""
        record = dict(hit.get("_source") or {})
        record["id"] = hit["_id"]
        try:
            return make_document(record, self.field_map, hit["_id"], _ANY_SIZE)
        except BadRecord:
            return None
