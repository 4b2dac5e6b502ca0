"""A source: an index of somebody else that one of ours was attached to, searched where it lies, never written.

Only Elasticsearch has sources. What a caller with limited groups may read of one is said by our own index, document by
document; where the source has a field of groups itself, both must allow it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.documents import Document
from indexer.engines.attachment import Attached
from indexer.engines.base import Groups
from indexer.records import BadRecord, FieldMap, make_document

_ANY_SIZE = 2**31
_WORDS = frozenset({"keyword", "constant_keyword", "boolean"})
"""Types whose values make a facet."""


@dataclass(frozen=True, slots=True)
class SourceFields:
    """What can be asked of a source."""

    types: Mapping[str, frozenset[str]]
    """Field -> its types, more than one where several indices stand behind one name."""
    counted: frozenset[str] = frozenset()
    """Fields whose values can be counted and sorted by."""
    indices: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """title, text, date, url, acl -> the field it comes from, where there is one."""

    def facets(self, attached: Mapping[str, str]) -> list[tuple[str, str | None]]:
        """(field, facet) of the facets that were attached from a field that can be counted; where none were attached,
        every field of words but the named ones, which is no facet of ours."""
        if attached:
            both = [(name, facet) for facet, one in attached.items() for name in (one, f"{one}.keyword")]
            return [(name, facet) for name, facet in both if name in self.counted]
        taken = tuple(f"{name}." for name in self.names.values())
        return [
            (name, None)
            for name in sorted(self.counted)
            if self.types[name] <= _WORDS and name not in self.names.values() and not name.startswith(taken)
        ]

    def without(self, name: str | None) -> SourceFields:
        """The same for those to whom one field is not shown."""
        if name is None:
            return self
        hidden = {one for one in self.types if one == name or one.startswith(f"{name}.")}
        types = {one: kinds for one, kinds in self.types.items() if one not in hidden}
        names = {what: one for what, one in self.names.items() if one not in hidden}
        return SourceFields(types, self.counted - hidden, self.indices, names)


class Source(ABC):
    def __init__(self, attached: Attached) -> None:
        self.name = attached.index
        self.map = FieldMap(attached.fields)

    @abstractmethod
    def fields(self) -> SourceFields: ...

    @abstractmethod
    def search(self, body: Mapping[str, Any], readable: Sequence[str] | None, groups: Groups) -> Mapping[str, Any]:
        """Elasticsearch's answer to a search body, of what may be read only.

        ``readable``: the ids these groups may read by our rights; None for all. Raises Forbidden for groups whose
        rights cannot be told inside a search.
        """

    def document(self, hit: Mapping[str, Any]) -> Document | None:
        """A hit as it would be attached now; None if it could not be."""
        record = dict(hit.get("_source") or {})
        record["id"] = hit["_id"]
        try:
            return make_document(record, self.map, hit["_id"], _ANY_SIZE)
        except BadRecord:
            return None
