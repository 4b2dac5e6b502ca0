"""The query part of a search body as a query tree: an allow-list, with no scripts and nothing silently ignored.

``match`` and ``multi_match`` search titles and texts together, whichever field they name. ``term`` and
``terms`` choose facet values, ``range`` limits the date, ``bool`` combines any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.dates import range_query_to_millis
from indexer.engines.query_tree import Bool, DateRange, FacetTerms, Match, MatchAll, Query
from indexer.errors import BadParameter
from indexer.model.query_words import QueryWord, list_lemmas
from webapi.search.body import (
    parse_facet_field,
    reject_unknown_names,
    require_integer,
    require_object,
    require_single_entry,
    wrap_in_list,
)

TEXT_FIELDS = frozenset({"title", "text", "_all", "*"})
NON_FACET_FIELDS = TEXT_FIELDS | {"date", "id", "_id", "url"}
CLAUSE_KINDS = ("match", "multi_match", "match_all", "term", "terms", "range", "bool")
MAX_DEPTH = 8
MAX_CLAUSES = 100
MAX_VALUES = 1000
"""Words and facet values in one query."""


@dataclass(frozen=True, slots=True)
class QueryClause:
    """A part of the query."""

    query: Query
    name: str | None = None
    """The caller's ``_name``; a hit lists the names of the clauses that match it."""
    lemmas: tuple[str, ...] = ()
    """The lemmas of its words."""
    text: str = ""
    """Its words as written."""


@dataclass(slots=True)
class QueryBudget:
    """Counts the clauses and values of one query and refuses too many."""

    _clause_count: int = 0
    _value_count: int = 0

    def open_clause(self, query: object, path: str, depth: int) -> tuple[str, Any, str]:
        """Count a clause; return its kind, its content and its path."""
        kind, content = require_single_entry(query, path)
        path = f"{path}.{kind}"
        if kind not in CLAUSE_KINDS:
            raise BadParameter(f"{path[:200]} is not allowed", fix=f"use {', '.join(CLAUSE_KINDS)}")
        self._clause_count += 1
        if self._clause_count > MAX_CLAUSES or depth > MAX_DEPTH:
            raise BadParameter("the query is too complex", fix=f"use {MAX_CLAUSES} clauses, {MAX_DEPTH} deep, at most")
        return kind, content, path

    def count_values(self, count: int) -> None:
        """Count words or values."""
        self._value_count += count
        if self._value_count > MAX_VALUES:
            raise BadParameter("the query is too long", fix=f"use at most {MAX_VALUES} words and values")


@dataclass(slots=True)
class QueryParser:
    """Parses one query and collects its named clauses and its words."""

    split_query: Callable[[str], Sequence[QueryWord]]
    named_clauses: list[QueryClause] = field(default_factory=list)
    """Those that may match, in the order of the query."""
    words: list[str] = field(default_factory=list)
    """Texts of the positive matches, as written."""
    lemmas: list[str] = field(default_factory=list)
    """Lemmas of the positive matches."""
    _budget: QueryBudget = field(default_factory=QueryBudget)

    def parse(self, query: object, path: str, *, is_positive: bool = True, depth: int = 0) -> Query:
        """Return the tree of a query; ``is_positive`` is false inside ``must_not``."""
        kind, content, path = self._budget.open_clause(query, path, depth)
        if kind == "bool":
            return self._parse_bool(content, path, is_positive, depth)
        if kind == "match_all":
            reject_unknown_names(require_object(content, path), frozenset(), path)
            return MatchAll()
        leaf_parsers = {"match": self._parse_match, "multi_match": self._parse_match, "range": self._parse_range}
        clause = leaf_parsers.get(kind, self._parse_terms)(kind, content, path)
        if is_positive:
            self._collect_name(clause)
            if clause.lemmas:
                self.lemmas += clause.lemmas
                self.words.append(clause.text)
        return clause.query

    def _collect_name(self, clause: QueryClause) -> None:
        if clause.name is not None:
            self.named_clauses.append(clause)

    def _parse_match(self, kind: str, content: object, path: str) -> QueryClause:
        if kind == "match":
            name, value = require_single_entry(content, path)
            options = {"query": value} if isinstance(value, str) else dict(require_object(value, f"{path}.{name}"))
            fields: Any = [name]
        else:
            options = dict(require_object(content, path))
            fields = options.pop("fields", ["*"])
        reject_unknown_names(options, frozenset({"query", "operator", "_name"}), path)
        operator = options.get("operator", "or")
        if operator not in ("or", "and", "OR", "AND"):
            raise BadParameter(f'{path}.operator must be "or" or "and"')
        for text_field in wrap_in_list(fields):
            if not isinstance(text_field, str) or text_field.partition("^")[0] not in TEXT_FIELDS:
                raise BadParameter(f"{path}: no text field {str(text_field)[:80]!r}", fix="use title or text")
        text = options.get("query")
        if not isinstance(text, str) or not text.strip():
            raise BadParameter(f"{path} needs words to search for")
        lemmas = list_lemmas(self.split_query(text))
        self._budget.count_values(len(lemmas))
        query = Match(lemmas, require_all=operator.lower() == "and")
        return QueryClause(query, _read_name(options, path), lemmas, text)

    def _parse_terms(self, kind: str, content: object, path: str) -> QueryClause:
        options = dict(require_object(content, path))
        name = _read_name(options, path)
        options.pop("_name", None)
        field_name, value = require_single_entry(options, path)
        if kind == "term" and isinstance(value, Mapping):
            reject_unknown_names(value, frozenset({"value", "_name"}), path)
            name, value = _read_name(value, path) or name, value.get("value")
        values = value if kind == "terms" and isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str) for one in values) or (kind == "terms" and values is not value):
            raise BadParameter(f"{path}.{field_name[:80]} must be text", fix='write {"term": {"source": "BBC"}}')
        facet = parse_facet_field(field_name)
        if facet in NON_FACET_FIELDS:
            raise BadParameter(f"{path}.{facet} is not a facet", fix="use match for title and text, range for date")
        self._budget.count_values(len(values))
        return QueryClause(FacetTerms(facet, tuple(values)), name)

    def _parse_range(self, kind: str, content: object, path: str) -> QueryClause:
        field_name, limits = require_single_entry(content, path)
        if field_name != "date":
            raise BadParameter(f"{path}.{field_name[:80]} is not allowed", fix="use a range only on date")
        limits = require_object(limits, f"{path}.date")
        reject_unknown_names(limits, frozenset({"gte", "gt", "lte", "lt", "_name"}), f"{path}.date")
        bounds = {name: value for name, value in limits.items() if name != "_name"}
        for name, value in bounds.items():
            if not isinstance(value, str):
                raise BadParameter(f"{path}.date.{name} must be a day such as 2011-03-11")
        return QueryClause(DateRange(*range_query_to_millis(**bounds)), _read_name(limits, path))

    def _parse_bool(self, content: object, path: str, is_positive: bool, depth: int) -> Query:
        parts = require_object(content, path)
        names = ("must", "should", "filter", "must_not")
        reject_unknown_names(parts, frozenset({*names, "minimum_should_match", "_name"}), path)
        queries = {
            name: self._parse_occurrence(parts.get(name, []), f"{path}.{name}", is_positive, name, depth)
            for name in names
        }
        minimum = None
        if "minimum_should_match" in parts:
            minimum = require_integer(parts["minimum_should_match"], f"{path}.minimum_should_match", 0, MAX_CLAUSES)
        if not any(queries.values()):
            return MatchAll()
        query = Bool(**queries, minimum_should_match=minimum)
        if is_positive:
            self._collect_name(QueryClause(query, _read_name(parts, path)))
        return query

    def _parse_occurrence(
        self, value: object, path: str, is_positive: bool, name: str, depth: int
    ) -> tuple[Query, ...]:
        """Parse the queries of ``must``, ``should``, ``filter`` or ``must_not``."""
        is_positive = is_positive and name != "must_not"
        return tuple(
            self.parse(query, f"{path}[{number}]", is_positive=is_positive, depth=depth + 1)
            for number, query in enumerate(wrap_in_list(value))
        )


def _read_name(options: Mapping[str, Any], path: str) -> str | None:
    name = options.get("_name")
    if name is not None and not isinstance(name, str):
        raise BadParameter(f"{path}._name must be text")
    return name
