"""The guard of the field in an attached source that names the groups of each document, the *acl field*.

It is derived from the mapping of the source. It says which fields would reveal groups, and whether a query can check
access by the field at all: if the source's index does not contain the groups of some document as they were written, a
filter would take that document for a public one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from indexer.engines.mapped_fields import MappedField, MappingBody, iterate_fields
from indexer.errors import Forbidden

_HARMLESS_METADATA = frozenset({"_score", "_doc", "_id"})
_FIX = (
    "use a key for all groups, or map the field as a searchable keyword and attach the index again "
    "(with --map acl= if its documents have no groups)"
)


@dataclass(frozen=True, slots=True)
class FieldGuard:
    """What callers with limited groups may neither name nor see of a source.

    Whoever lets such a caller search the source

    * passes every name or pattern of a field, wherever it is in the request, to ``hides`` and refuses it if it is
      hidden, with the error for a field that does not exist;
    * searches in none of ``semantic_text_fields``;
    * sends an explicit list of fields where Elasticsearch would take all of them by default;
    * returns no record that did not pass ``strip_record``;
    * calls ``require_checkable``, and adds filters for ``index``, ``list_acl_names_in_ignored`` and, if
      ``is_filterable``, for ``acl_path`` to the query itself, so that counts and aggregations respect them.
    """

    index: str = ""
    """The only concrete index that was examined: a search must not reach another."""
    acl_path: str = ""
    """Path of the acl field in a record; empty if documents of the source have no groups."""
    hidden: frozenset[str] = frozenset()
    """Paths that are hidden with everything below them."""
    semantic_text_fields: frozenset[str] = frozenset()
    """Fields in which a query finds the nearest of all documents, before any filter of ours applies."""
    is_filterable: bool = False
    """Whether the acl field is in the mapping and a query can filter by it."""
    obstacle: str = ""
    """Why access cannot be checked inside a query; empty if it can."""
    fix: str = _FIX

    def require_checkable(self) -> None:
        """Raise Forbidden if access cannot be checked inside a query."""
        if self.obstacle:
            raise Forbidden(
                f"access rights cannot be checked in the source of this index: {self.obstacle}", fix=self.fix
            )

    def hides(self, name: str) -> bool:
        """Return whether naming a field could reveal groups.

        That is so for the acl field and its subfields; for the objects around it; for its aliases; for fields that it
        is copied to; for fields computed by scripts, which can read it; for metadata such as ``_ignored``; and for
        every pattern with ``*`` that covers one of these.
        """
        if name.startswith("_"):
            return name not in _HARMLESS_METADATA
        if "*" in name:
            return any(_may_cover(name, path) for path in self.hidden)
        return is_within(name, self.hidden) or any(path.startswith(f"{name}.") for path in self.hidden)

    def strip_record(self, record: Any, prefix: str = "") -> Any:
        """Return a record, or the part of one under ``prefix``, without the hidden paths."""
        if isinstance(record, list):
            return [self.strip_record(item, prefix) for item in record]
        if not isinstance(record, Mapping):
            return record
        stripped = {
            name: self.strip_record(value, f"{prefix}{name}.")
            for name, value in record.items()
            if not is_within(prefix + name, self.hidden)
        }
        # an object that had nothing else would tell that the document has groups
        return {name: value for name, value in stripped.items() if value != {} or not self.hides(prefix + name)}

    def list_acl_names_in_ignored(self) -> list[str]:
        """Return the names under which ``_ignored`` reports that the groups of a document were not indexed."""
        parts = self.acl_path.split(".") if self.acl_path else []
        return [".".join(parts[: end + 1]) for end in range(len(parts))]


def make_field_guard(mappings: Mapping[str, MappingBody], acl_path: str, is_mapped: bool) -> FieldGuard:
    """Return the guard of a source.

    Parameters
    ----------
    mappings
        Concrete index -> its mapping, of all indices that the name of the source covers.
    acl_path
        Path in a record that groups are read from; empty if they are not read from the source.
    is_mapped
        Whether the user named that path, so that documents are expected to have it.
    """
    hidden = frozenset().union(*(_find_hidden(mapping, acl_path) for mapping in mappings.values()))
    if len(mappings) != 1:
        return FieldGuard(
            acl_path=acl_path,
            hidden=hidden,
            obstacle="it covers several indices, which may share ids",
            fix="use a key for all groups, or attach each index separately",
        )
    ((index, mapping),) = mappings.items()
    fields = {field.path: field for field in iterate_fields(mapping.get("properties", {}))}
    obstacle = _find_obstacle(mapping, fields, acl_path, is_mapped) if acl_path else ""
    return FieldGuard(
        index,
        acl_path,
        hidden,
        semantic_text_fields=_find_searched_by_meaning(fields.values()),
        is_filterable=bool(acl_path) and acl_path in fields,
        obstacle=obstacle,
    )


def make_guard_without_mapping(acl_path: str) -> FieldGuard:
    """Return the guard of a source whose mapping cannot be read: nothing can be checked."""
    return FieldGuard(
        acl_path=acl_path,
        hidden=frozenset({acl_path} if acl_path else ()),
        obstacle="its mapping cannot be read",
        fix="use a key for all groups, or give the engine's credentials the privilege view_index_metadata on it",
    )


def find_unknown_paths(mappings: Mapping[str, MappingBody], paths: Collection[str]) -> list[str]:
    """Return the paths under which no record of a source can have a value, by the mappings of its indices."""

    def is_known(mapping: MappingBody, path: str) -> bool:
        is_mapped = any(field.path == path for field in iterate_fields(mapping.get("properties", {})))
        return is_mapped or _may_be_unmapped(mapping, path)

    return [path for path in paths if not any(is_known(mapping, path) for mapping in mappings.values())]


def is_within(path: str, outer_paths: Collection[str]) -> bool:
    """Return whether a path is one of the others or below one of them."""
    return any(path == outer or path.startswith(f"{outer}.") for outer in outer_paths)


def _may_cover(pattern: str, path: str) -> bool:
    """Return whether a pattern with ``*`` matches the path, an object around it, or any name below it."""
    below = f"{path}."
    outer = [path[:end] for end in range(1, len(path)) if path[end] == "."]
    beginnings = (pattern[:end] for end in range(len(pattern) + 1))
    return any(_matches(pattern, name) for name in (path, *outer)) or any(_matches(one, below) for one in beginnings)


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _find_hidden(mapping: MappingBody, acl_path: str) -> frozenset[str]:
    """Return the acl field, all fields that may have its values, and fields that show parts of other documents."""
    runtime = mapping.get("runtime", {})
    lookups = {name for name, options in runtime.items() if options.get("type") == "lookup"}
    if not acl_path:
        return frozenset(lookups)
    fields = list(iterate_fields(mapping.get("properties", {})))
    hidden = {acl_path} | lookups | {name for name, options in runtime.items() if "script" in options}
    hidden |= {field.path for field in fields if "script" in field.options}
    size = 0
    while len(hidden) > size:
        size = len(hidden)
        for field in fields:
            if is_within(field.path, hidden):
                hidden.update(field.list_copies())
            if field.type == "alias" and is_within(str(field.options.get("path")), hidden):
                hidden.add(field.path)
        hidden |= _find_short_names(fields, hidden)
    return frozenset(hidden)


def _find_searched_by_meaning(fields: Collection[MappedField]) -> frozenset[str]:
    """Return the fields of type ``semantic_text``, and their aliases."""
    found = {field.path for field in fields if field.type == "semantic_text"}
    return frozenset(found | {one.path for one in fields if one.type == "alias" and one.options.get("path") in found})


def _find_short_names(fields: list[MappedField], hidden: Collection[str]) -> set[str]:
    """Return the other name of each hidden field in a passthrough object, whose fields also have names without it."""
    names: set[str] = set()
    for outer in fields:
        if outer.type == "passthrough":
            for field in fields:
                if field.path.startswith(f"{outer.path}."):
                    pair = {field.path, field.path.removeprefix(f"{outer.path}.")}
                    names |= pair if any(is_within(name, hidden) for name in pair) else set()
    return names


def _find_obstacle(mapping: MappingBody, fields: Mapping[str, MappedField], acl_path: str, is_mapped: bool) -> str:
    """Return why a filter by the acl field would not see the groups as the records have them; empty if it would."""
    field = fields.get(acl_path)
    if acl_path in mapping.get("runtime", {}):
        return "the field with the groups is a runtime field"
    if field is None:
        is_missing = is_mapped or _may_be_unmapped(mapping, acl_path)
        return "the field with the groups is not mapped" if is_missing else ""
    if field.is_nested:
        return "the field with the groups is inside a nested object"
    if field.type != "keyword":
        return "the field with the groups is not of type keyword"
    if field.options.get("index") is False and field.options.get("doc_values") is False:
        return "the field with the groups cannot be searched"
    if "normalizer" in field.options or "script" in field.options:
        return "the field with the groups does not contain them as they were written"
    if any(acl_path in other.list_copies() for other in fields.values()):
        return "the field with the groups also contains copies of other fields"
    return ""


def _may_be_unmapped(mapping: MappingBody, path: str) -> bool:
    """Return whether records may have a value under a path that is not in the mapping.

    With ``dynamic`` on, Elasticsearch would have added it; with ``strict``, rejected the record.
    """
    part, rest, dynamic = mapping, path, mapping.get("dynamic", True)
    while part.get("enabled") is not False:
        dynamic = part.get("dynamic", dynamic)
        properties = part.get("properties", {})
        name = next((name for name in properties if rest.startswith(f"{name}.")), None)
        if name is None:
            return str(dynamic).lower() == "false"
        part, rest = properties[name], rest.removeprefix(f"{name}.")
        if part.get("type", "object") not in ("object", "nested", "passthrough"):
            return True  # a field of a type that accepts objects
    return True
