"""Interface of an attached source: a foreign index that one of ours was attached to; it is searched, never written.

Only Elasticsearch has sources. Our own index decides which documents a caller with limited groups may read; if the
source has a field with groups itself, both must allow it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple

from indexer.documents import Document
from indexer.engines.attachment import Attachment
from indexer.engines.field_guard import FieldGuard
from indexer.errors import PhraseComError
from indexer.records import BadRecord, FieldMap, make_document
from indexer.text.tokenizer import Span

WordPlaces = Mapping[str, Span | None]
"""Word -> its first place in a document, None where it is not known; words that the document lacks are left out."""
MSEARCH_HEADER_PARAMETERS = frozenset(
    "allow_no_indices allow_partial_search_results ccs_minimize_roundtrips expand_wildcards ignore_throttled "
    "ignore_unavailable preference request_cache routing search_type".split()
)
"""Parameters that each search of a multi-search has in its header."""
MSEARCH_URL_PARAMETERS = frozenset({"human", "rest_total_hits_as_int", "typed_keys"})
"""Parameters that a multi-search has in its URL, for all searches."""
_ANY_SIZE = 2**31
_LAG_BATCH = 1000
"""Documents whose states are asked for at once when all of them are counted."""
_FACET_TYPES = frozenset({"keyword", "constant_keyword", "boolean"})
"""Types of the fields that can serve as facets."""
SourceState = Literal["changed", "deleted", "not-indexed"]
"""How a document of the source differs from the attached one: its content, its absence, or the lack of an attached
one."""


class AttachedVersion(NamedTuple):
    """A document as it was attached."""

    version: str
    """``Document.compute_version``."""
    revision: str | None
    """None if it was not read from the source, or the revision is not known."""


class HitKey(NamedTuple):
    """A hit of a source: a name that covers several indices may have several documents of one id."""

    index_name: str
    id: str


class SourceSearch(NamedTuple):
    """A search of a source, with the arguments of ``AttachedSource.send_search``."""

    source: AttachedSource
    body: Mapping[str, Any]
    parameters: Mapping[str, str]
    with_server_reason: bool = True

    def send(self) -> dict[str, Any]:
        """Return the response to this search alone; raises like ``AttachedSource.send_search``."""
        return self.source.send_search(self.body, self.parameters, with_server_reason=self.with_server_reason)


class SourceLag(NamedTuple):
    """Number of documents that differ between a source and the index attached to it."""

    missing: int
    """Documents of the source that are not in the index, those rejected when it was attached included."""
    changed: int
    deleted: int
    """Documents of the index that are no longer in the source."""


def make_revision(index_uuid: str | None, hit: Mapping[str, Any]) -> str | None:
    """Return the text that identifies one write of a document: equal texts mean equal content.

    A sequence number counts the writes of a shard, so it starts again in an index that is deleted and created anew:
    without the UUID of the index (None: it may not be read) there is no revision. ``hit`` has ``_seq_no`` and
    ``_primary_term``.
    """
    return None if index_uuid is None else f"{index_uuid}:{hit['_primary_term']}:{hit['_seq_no']}"


@dataclass(frozen=True, slots=True)
class SourceFields:
    """Fields of a source that can be queried."""

    types: Mapping[str, frozenset[str]]
    """Field -> its types; several if the name covers indices with different mappings."""
    aggregatable: frozenset[str] = frozenset()
    """Fields that can be aggregated and sorted by."""
    document_fields: Mapping[str, str] = field(default_factory=dict)
    """title, text, date, url, acl, vector -> field of the source, for those it has."""

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
        # former versions read no vectors; a field of that name must not change the versions of their documents
        self.field_map = FieldMap({"vector": "", **attachment.fields})
        self.vector_field = attachment.vector_field
        """The field of the source that the vectors of the documents come from, None without vectors."""
        self.has_revisions = attachment.has_revisions

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
    def send_search(
        self, body: Mapping[str, Any], parameters: Mapping[str, str], *, with_server_reason: bool = True
    ) -> dict[str, Any]:
        """Send a search body as it is and return Elasticsearch's response as it is, also one that lacks some shard.

        It restricts nothing: the body must be one that the caller may run. ``parameters``: of the URL.
        ``with_server_reason``: whether the error of a refused body has Elasticsearch's own words; they may name fields.
        Raises BadParameter if Elasticsearch refuses the body, Unavailable if the source no longer exists.
        """

    @abstractmethod
    def send_searches(self, searches: Sequence[SourceSearch]) -> list[dict[str, Any] | PhraseComError]:
        """Send several searches of sources on one cluster, as one request if Elasticsearch can read all of them.

        Returns for each what ``send_search`` returns, or the error that it raises.
        """

    @abstractmethod
    def build_access_filter(self, access: SourceAccess) -> dict[str, Any]:
        """Return the query that matches the documents that a caller with limited groups may read.

        Raise Forbidden if access cannot be checked inside a query.
        """

    @abstractmethod
    def list_index_names(self) -> frozenset[str]:
        """Return the name of the source, if it is the name of an index now: then a search may refer to its documents.

        Empty for an alias: whoever reads a document by its id reads past the filter of the alias.
        """

    @abstractmethod
    def covers_point_in_time(self, id: str) -> bool:
        """Return whether a point in time has documents of the source only; raises like ``send_search``."""

    @abstractmethod
    def find_changed_hits(
        self, keys: Collection[HitKey], attached: Mapping[str, AttachedVersion], access: SourceAccess | None
    ) -> dict[HitKey, Document | None]:
        """Return the hits that are not as they were attached, each as attaching it now would make it.

        ``attached``: by id; hits that are not in it were not attached. None for a hit that would be rejected, that is
        gone, or that ``access`` does not cover. Sends one request for all, and a second one for those that were
        written since. Raises like ``search``.
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

    @abstractmethod
    def fetch_revisions(
        self, ids: Collection[str], access: SourceAccess | None
    ) -> Mapping[str, Collection[str | None]]:
        """Return the revisions of the documents that the source has now, by id; raises like ``search``.

        A name that covers several indices may have several documents of one id.
        """

    @abstractmethod
    def fetch_versions(
        self, revisions_by_id: Mapping[str, Collection[str | None]], access: SourceAccess | None
    ) -> Mapping[str, Collection[str]]:
        """Return the content versions of these revisions, by id, as attaching them now would make them; raises like
        ``search``."""

    @abstractmethod
    def count_documents(self) -> int:
        """Return the number of documents in the source."""

    @abstractmethod
    def count_writes(self) -> int | None:
        """Return how many times a document was added, changed or deleted in the source since it was attached.

        None if this is not known. Writes that no search could see yet when it was attached are not counted.
        """

    def find_states(
        self, attached: Mapping[str, AttachedVersion | None], access: SourceAccess | None
    ) -> dict[str, SourceState]:
        """Return the states of the documents that the source has not, or not as they were attached.

        ``attached``: by id; None for a document that was not attached. ``access``: what a caller with limited groups
        may read; a document that the source hides from them is ``deleted``, so that they learn nothing else of it.
        Sends one request for all, and a second one for those that were written since: writing the same content
        again, or a field that is not attached, is no change. Raises like ``search``.
        """
        found = self.fetch_revisions(attached, access)
        states: dict[str, SourceState] = {}
        written: dict[str, AttachedVersion] = {}
        for id, document in attached.items():
            if document is None:
                states |= {id: "not-indexed"} if id in found else {}
            elif id not in found:
                states[id] = "deleted"
            elif document.revision is None or document.revision not in found[id]:
                written[id] = document
        versions = self.fetch_versions({id: found[id] for id in written}, access) if written else {}
        return states | {id: "changed" for id, old in written.items() if old.version not in versions.get(id, ())}

    def measure_lag(self, attached: Iterable[tuple[str, AttachedVersion]]) -> SourceLag:
        """Compare all attached documents (``Reader.scan_versions``) with the source, a request for every thousand.

        Exact unless documents are written meanwhile. Raises like ``search``.
        """
        remaining, total = iter(attached), 0
        counts = {"changed": 0, "deleted": 0, "not-indexed": 0}
        while batch := dict(islice(remaining, _LAG_BATCH)):
            total += len(batch)
            for state in self.find_states(batch, None).values():
                counts[state] += 1
        missing = self.count_documents() - (total - counts["deleted"])
        return SourceLag(max(0, missing), counts["changed"], counts["deleted"])

    def parse_hit(self, hit: Mapping[str, Any]) -> Document | None:
        """Return a hit as the document that attaching it now would make; None if it would be rejected."""
        record = dict(hit.get("_source") or {})
        record["id"] = hit["_id"]
        try:
            return make_document(record, self.field_map, hit["_id"], _ANY_SIZE)
        except BadRecord:
            return None
