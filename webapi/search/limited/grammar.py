"""Building blocks of the grammar of searches that a caller with limited groups may send to an attached source.

A *part* is a function that checks one value of a search body and returns what is sent instead. ``query_clauses``,
``aggregation_kinds`` and ``restricted_body`` are tables from the names of Elasticsearch's language to parts; a name
that is in no table is refused. Values that cannot change which documents are found, counted or shown, such as a boost
or an operator, are only checked to be plain: whether they fit is for Elasticsearch to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.engines.attached_source import SourceFields
from indexer.engines.field_guard import FieldGuard, is_within
from indexer.errors import BadParameter, Forbidden
from webapi.search.body import (
    MAX_INTEGER,
    require_integer,
    require_object,
    require_single_entry,
    require_text,
    wrap_in_list,
)

_MAX_DEPTH = 30
"""Elasticsearch's own limit of queries inside queries."""
_MAX_LIMITED_SEARCHES = 10
"""Parts of a body that find documents on their own: each is sent with all ids that the caller may read."""
_MAX_PATTERNS = 1000
"""Patterns of fields in a body: each is compared with all fields."""
_MAX_FIELDS_LISTED = 12
_SEARCHED_TYPES = frozenset(
    "text match_only_text annotated_text search_as_you_type keyword constant_keyword wildcard boolean ip version "
    "byte short integer long unsigned_long half_float float double scaled_float date date_nanos".split()
)
"""Types of the fields in which Elasticsearch looks for words if a pattern names the fields."""
HIGHLIGHTED_TYPES = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type", "keyword"})
"""Types of the fields that Elasticsearch highlights if a pattern names the fields."""


@dataclass(slots=True)
class RewriteContext:
    """What one search body may name, and what it has used up so far."""

    fields: SourceFields
    """Those that the caller may name."""
    guard: FieldGuard
    access_filter: Mapping[str, Any]
    """The query that matches the documents that the caller may read."""
    _objects: frozenset[str] = field(init=False)
    """Objects around the fields."""
    _depth: int = 0
    limited_count: int = 0
    """Searches inside the body that have the filter."""
    _pattern_count: int = 0

    def __post_init__(self) -> None:
        self._objects = frozenset(outer for name in self.fields.types for outer in _list_outer_names(name))

    def enter(self, part: Part, value: object, path: str) -> Any:
        """Apply a part one level deeper; raise BadParameter if that is too deep."""
        if self._depth >= _MAX_DEPTH:
            raise BadParameter("the body is nested too deeply", fix=f"use at most {_MAX_DEPTH} levels")
        self._depth += 1
        try:
            return part(self, value, path)
        finally:
            self._depth -= 1

    def limit_query(self, query: object) -> dict[str, Any]:
        """Return a query that finds only documents that the caller may read."""
        self._count_limited_search()
        return {"bool": {"must": [query], "filter": [self.access_filter]}}

    def limit_filters(self, filters: Collection[object]) -> list[object]:
        """Return the filters of a vector search that finds only documents that the caller may read.

        The filter stands for itself: Elasticsearch would apply a ``bool`` that also names a nested field to nested
        documents, which have no groups.
        """
        self._count_limited_search()
        return [*filters, self.access_filter]

    def check_field(self, name: object, path: str) -> str:
        """Return the name of a field or object.

        Raise BadParameter if there is none that the caller may name, and Forbidden for metadata (``_seq_no``).
        """
        if isinstance(name, str) and name.startswith("_"):
            raise make_refusal(f"{path}: {name[:80]}")
        if not isinstance(name, str) or not self._has_field(name) or self.guard.hides(name):
            names = sorted(self.fields.types)
            more = ", ..." if len(names) > _MAX_FIELDS_LISTED else ""
            raise BadParameter(
                f"{path[:200]}: the source has no field {str(name)[:80]!r}",
                fix=f"use one of {', '.join(names[:_MAX_FIELDS_LISTED])}{more}",
            )
        if is_within(name, self.guard.semantic_text_fields):
            raise make_refusal(f"{path} ({name[:80]} is searched by meaning)")
        return name

    def expand_field(self, name: object, path: str, types: Collection[str] = ()) -> list[str]:
        """Return the fields that a name or a pattern with ``*`` means; of a pattern, those of the given types.

        Elasticsearch would expand a pattern to hidden fields as well. Raises BadParameter if there is no such field.
        """
        if not isinstance(name, str) or "*" not in name:
            return [self.check_field(name, path)]
        self._pattern_count += 1
        if self._pattern_count > _MAX_PATTERNS:
            raise BadParameter("the body has too many patterns of fields", fix=f"use at most {_MAX_PATTERNS}")
        found = [
            one
            for one, kinds in sorted(self.fields.types.items())
            if _matches_pattern(one, name)
            and (not types or kinds & set(types))
            and not is_within(one, self.guard.semantic_text_fields)
        ]
        return found or [self.check_field(name, path)]

    def _has_field(self, name: str) -> bool:
        if name in self.fields.types or name in self._objects:
            return True
        outer = _list_outer_names(name) if "*" not in name else []
        return any("flattened" in self.fields.types.get(one, ()) for one in outer)

    def _count_limited_search(self) -> None:
        self.limited_count += 1
        if self.limited_count > _MAX_LIMITED_SEARCHES:
            raise BadParameter("the body has too many searches in one", fix=f"use at most {_MAX_LIMITED_SEARCHES}")


def _list_outer_names(name: str) -> list[str]:
    """Return the names of the objects around a field."""
    return [name[:end] for end, letter in enumerate(name) if letter == "."]


def _matches_pattern(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern with ``*``; a regular expression could take ages with many of them."""
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    start, end = len(first), len(name) - len(last)
    for part in middle:
        start = name.find(part, start, end)
        if start < 0:
            return False
        start += len(part)
    return True


Part = Callable[[RewriteContext, object, str], Any]
"""Checks a value at a path of the body and returns what is sent instead."""


def make_refusal(path: str) -> Forbidden:
    """Return the error for a part of a body that is not known to keep to the documents a caller may read."""
    return Forbidden(
        f"{path[:200]} is unknown, or not allowed with a key for some groups because it might tell of documents that "
        "the key may not read",
        fix="leave it out, or search the source yourself and ask POST /v1/explanations for the reasons",
    )


def check_scalar(scope: RewriteContext, value: object, path: str) -> Any:
    """Return a text, a number or a boolean."""
    is_number = math.isfinite(value) if isinstance(value, float) else isinstance(value, int) and abs(value) < 2**63
    if not is_number and not isinstance(value, str):
        raise BadParameter(f"{path[:200]} must be a text, a number of at most 64 bits, or true or false")
    return value


def check_plain(scope: RewriteContext, value: object, path: str) -> Any:
    """Return any JSON value in which no name has a meaning to be checked."""
    if isinstance(value, Mapping):
        return {name: scope.enter(check_plain, one, f"{path}.{name[:80]}") for name, one in value.items()}
    if isinstance(value, list):
        return [scope.enter(check_plain, one, f"{path}[{number}]") for number, one in enumerate(value)]
    return None if value is None else check_scalar(scope, value, path)


def check_flag(scope: RewriteContext, value: object, path: str) -> bool:
    """Return true or false; Elasticsearch also reads texts, which could hide what is chosen."""
    if not isinstance(value, bool):
        raise BadParameter(f"{path[:200]} must be true or false")
    return value


def check_count(scope: RewriteContext, value: object, path: str) -> int:
    """Return a number of documents that a bucket must have: with 0, buckets would show values of all documents."""
    if value == 0:
        raise make_refusal(f"{path} 0")
    return require_integer(value, path, 1, MAX_INTEGER)


def check_field(scope: RewriteContext, value: object, path: str) -> str:
    return scope.check_field(value, path)


def check_searched_fields(scope: RewriteContext, value: object, path: str) -> list[str]:
    """Return the fields to search in, patterns expanded, each with its boost (``title^2``)."""
    names: list[str] = []
    for one in wrap_in_list(value):
        name, caret, boost = require_text(one, path).partition("^")
        names += [one + caret + boost for one in scope.expand_field(name, path, _SEARCHED_TYPES)]
    if not names:  # Elasticsearch would search all fields
        raise BadParameter(f"{path[:200]} needs fields to search in")
    return names


def choose_from(*values: object) -> Part:
    """Make a part that accepts only these values."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        if not any(value is one or (isinstance(one, str) and value == one) for one in values):
            raise make_refusal(f"{path} {str(value).lower() if isinstance(value, bool) else str(value)[:80]}")
        return value

    return check


def list_of(part: Part) -> Part:
    """Make a part for a list of values, or a single one."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        if not isinstance(value, list):
            return [part(scope, value, path)]
        return [part(scope, one, f"{path}[{number}]") for number, one in enumerate(value)]

    return check


def named(part: Part) -> Part:
    """Make a part for an object whose names are the caller's own."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        return {name: part(scope, one, f"{path}.{name[:80]}") for name, one in require_object(value, path).items()}

    return check


def object_of(members: Mapping[str, Part]) -> Part:
    """Make a part for an object with these members, all of them optional."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        return {
            name: get_part(members, name, path)(scope, one, f"{path}.{name[:80]}" if path else name)
            for name, one in require_object(value, path or "the body").items()
        }

    return check


def with_options(part: Part, **options: object) -> Part:
    """Make a part for an object that is sent with these options, whatever it says itself."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        return part(scope, value, path) | options

    return check


def by_field(part: Part, siblings: Mapping[str, Part] | None = None, *, shorthand: str = "") -> Part:
    """Make a part for an object whose only name, apart from those of ``siblings``, is a field.

    ``shorthand``: the member that a plain value in the place of an object means.
    """
    others = siblings or {}

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        entries = require_object(value, path)
        fields = {name: one for name, one in entries.items() if name not in others}
        name, content = require_single_entry(fields, path)
        if shorthand and not isinstance(content, Mapping):
            content = {shorthand: content}
        if name != "_id":
            scope.check_field(name, path)
        return {name: part(scope, content, f"{path}.{name[:80]}")} | {
            other: others[other](scope, one, f"{path}.{other}") for other, one in entries.items() if other in others
        }

    return check


def one_of_kind(table: Mapping[str, Part]) -> Part:
    """Make a part for an object whose only name is one of a table."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        kind, content = require_single_entry(value, path)
        return {kind: scope.enter(get_part(table, kind, path), content, f"{path}.{kind}")}

    return check


def get_part(table: Mapping[str, Part], name: str, path: str) -> Part:
    """Return the part of a name; raise Forbidden if the table has no such name."""
    if name not in table:
        raise make_refusal(f"{path}.{name[:80]}" if path else name)
    return table[name]


def scalars(names: str) -> dict[str, Part]:
    """Return members that are plain values, by their names separated by spaces."""
    return dict.fromkeys(names.split(), check_scalar)


def plains(names: str) -> dict[str, Part]:
    """Return members that are any JSON values, by their names separated by spaces."""
    return dict.fromkeys(names.split(), check_plain)
