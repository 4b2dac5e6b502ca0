"""The query of a search in an attached source: checked against an allow-list and passed on in the source's own fields.

The kinds of clauses are those of ``query_parser``, but here Elasticsearch decides what matches.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.errors import BadParameter
from webapi.search.body import (
    reject_unknown_names,
    require_integer,
    require_object,
    require_single_entry,
    wrap_in_list,
)
from webapi.search.query_parser import MAX_CLAUSES, QueryBudget

SourceBody = dict[str, Any]
_MAX_FIELDS_LISTED = 12
_MAX_BOOST = 1000.0
_MAX_VALUE_CHARS = 1000


@dataclass(slots=True)
class SourceQueryParser:
    """Parses one query and collects its words."""

    fields: Collection[str]
    """Fields that a query may name."""
    default_fields: Sequence[str]
    """Fields that a ``multi_match`` without fields searches."""
    counted_fields: Collection[str] = ()
    """Fields that can be sorted and aggregated by."""
    words: list[str] = field(default_factory=list)
    """Texts of the positive matches, as written."""
    _budget: QueryBudget = field(default_factory=QueryBudget)

    def parse(self, query: object, path: str, *, is_positive: bool = True, depth: int = 0) -> SourceBody:
        """Return the query to send; ``is_positive`` is false inside ``must_not``."""
        kind, content, path = self._budget.open_clause(query, path, depth)
        if kind == "bool":
            return self._parse_bool(content, path, is_positive, depth)
        if kind == "match_all":
            reject_unknown_names(require_object(content, path), frozenset(), path)
            return {"match_all": {}}
        text_parsers = {
            "match": self._parse_match,
            "multi_match": self._parse_multi_match,
        }
        if kind in text_parsers:
            return {kind: text_parsers[kind](content, path, is_positive)}
        filter_parsers = {"term": self._parse_term, "terms": self._parse_terms, "range": self._parse_range}
        return {kind: filter_parsers[kind](content, path)}

    def check_field(self, name: object, path: str) -> str:
        """Return the name if the source has such a field; raise BadParameter that lists some otherwise."""
        if isinstance(name, str) and name in self.fields:
            return name
        names = sorted(self.fields)
        more = ", ..." if len(names) > _MAX_FIELDS_LISTED else ""
        raise BadParameter(
            f"{path[:200]}: the source has no field {str(name)[:80]!r}",
            fix=f"use one of {', '.join(names[:_MAX_FIELDS_LISTED])}{more}",
        )

    def check_counted_field(self, name: object, path: str) -> str:
        """Return the name of a field that can be sorted and aggregated by; raise BadParameter otherwise."""
        field_name = self.check_field(name, path)
        if field_name not in self.counted_fields:
            raise BadParameter(
                f"{path[:200]}: hits cannot be sorted or counted by {field_name[:80]!r}",
                fix="use a keyword, number or date field",
            )
        return field_name

    def _parse_match(self, content: object, path: str, is_positive: bool) -> SourceBody:
        name, value = require_single_entry(content, path)
        options = {"query": value} if isinstance(value, str) else dict(require_object(value, f"{path}.{name[:80]}"))
        return {self.check_field(name, path): self._parse_text_options(options, path, is_positive)}

    def _parse_multi_match(self, content: object, path: str, is_positive: bool) -> SourceBody:
        options = dict(require_object(content, path))
        names = wrap_in_list(options.pop("fields", list(self.default_fields)))
        if not names:  # Elasticsearch would search all fields
            raise BadParameter(f"{path} needs fields to search in")
        return self._parse_text_options(options, path, is_positive) | {
            "fields": [self._check_boosted_field(name, path) for name in names]
        }

    def _check_boosted_field(self, value: object, path: str) -> str:
        name, caret, boost = str(value).partition("^")
        self.check_field(name, path)
        if caret:
            try:
                number = float(boost)
            except ValueError:
                number = math.nan
            if not 0 < number <= _MAX_BOOST:
                raise BadParameter(f"{path}.fields: {boost[:20]!r} is not a boost", fix="write title^2")
        return str(value)

    def _parse_text_options(self, options: Mapping[str, Any], path: str, is_positive: bool) -> SourceBody:
        reject_unknown_names(options, frozenset({"query", "operator", "_name"}), path)
        operator = options.get("operator", "or")
        if operator not in ("or", "and", "OR", "AND"):
            raise BadParameter(f'{path}.operator must be "or" or "and"')
        text = options.get("query")
        if not isinstance(text, str) or not text.strip():
            raise BadParameter(f"{path} needs words to search for")
        self._budget.count_values(len(text.split()))
        if is_positive:
            self.words.append(text)
        return {"query": text, "operator": operator} | _read_name(options, path)

    def _parse_term(self, content: object, path: str) -> SourceBody:
        options = dict(require_object(content, path))
        outer = {"_name": options.pop("_name")} if "_name" in options else {}
        field_name, value = require_single_entry(options, path)
        inner = dict(value) if isinstance(value, Mapping) else {"value": value}
        reject_unknown_names(inner, frozenset({"value", "_name"}), path)
        name = self.check_field(field_name, path)
        self._budget.count_values(1)
        term = {"value": _check_value(inner.get("value"), path)}
        return {name: term | _read_name(outer | inner, path)}

    def _parse_terms(self, content: object, path: str) -> SourceBody:
        options = dict(require_object(content, path))
        outer = {"_name": options.pop("_name")} if "_name" in options else {}
        field_name, values = require_single_entry(options, path)
        name = self.check_field(field_name, path)
        if not isinstance(values, list) or not values:
            raise BadParameter(f"{path}.{name} must be a list of values")
        self._budget.count_values(len(values))
        terms = {name: [_check_value(value, path) for value in values]}
        return terms | _read_name(outer, path)

    def _parse_range(self, content: object, path: str) -> SourceBody:
        field_name, limits = require_single_entry(content, path)
        name = self.check_field(field_name, path)
        options = require_object(limits, f"{path}.{name}")
        reject_unknown_names(options, frozenset({"gte", "gt", "lte", "lt", "_name"}), f"{path}.{name}")
        bounds = {bound: _check_value(value, path) for bound, value in options.items() if bound != "_name"}
        return {name: bounds | _read_name(options, path)}

    def _parse_bool(self, content: object, path: str, is_positive: bool, depth: int) -> SourceBody:
        parts = require_object(content, path)
        names = ("must", "should", "filter", "must_not")
        reject_unknown_names(parts, frozenset({*names, "minimum_should_match", "_name"}), path)
        query: SourceBody = {}
        for name in names:
            if name in parts:
                query[name] = [
                    self.parse(
                        part,
                        f"{path}.{name}[{number}]",
                        is_positive=is_positive and name != "must_not",
                        depth=depth + 1,
                    )
                    for number, part in enumerate(wrap_in_list(parts[name]))
                ]
        if "minimum_should_match" in parts:
            minimum = require_integer(parts["minimum_should_match"], f"{path}.minimum_should_match", 0, MAX_CLAUSES)
            query["minimum_should_match"] = minimum
        return {"bool": query | _read_name(parts, path)}


def _read_name(options: Mapping[str, Any], path: str) -> SourceBody:
    """Return the caller's ``_name`` of a clause as it is sent; hits list the names of the clauses that match them."""
    name = options.get("_name")
    if name is not None and not isinstance(name, str):
        raise BadParameter(f"{path}._name must be text")
    return {} if name is None else {"_name": name}


def _check_value(value: object, path: str) -> str | int | float | bool:
    if isinstance(value, str) and len(value) <= _MAX_VALUE_CHARS:
        return value
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise BadParameter(f"{path[:200]} needs a text of at most {_MAX_VALUE_CHARS} characters, a number or a boolean")
