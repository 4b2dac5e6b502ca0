"""The query part of a search body, read into a tree. An allow-list: nothing scripted, nothing ignored.

``match`` and ``multi_match`` search titles and texts together, whichever field they name. ``term`` and
``terms`` choose facet values, ``range`` limits the date, ``bool`` joins any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer import date_ranges
from indexer.documents import AnalysedDocument
from indexer.engines.query_tree import Bool, Dates, Everything, Facet, Match, Query, matches
from indexer.errors import BadParameter
from webapi.search.search_parts import facet_name, listed, object_of, only, single, whole_number

Spelled = Sequence[tuple[str, str]]
"""Each word of a query: its lemma, and as it is written."""

TEXT_FIELDS = frozenset({"title", "text", "_all", "*"})
NO_FACETS = TEXT_FIELDS | {"date", "id", "_id", "url"}
KINDS = ("match", "multi_match", "match_all", "term", "terms", "range", "bool")
MOST_DEEP = 8
MOST_CLAUSES = 100
MOST_VALUES = 1000
"""Words and facet values in one query."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of the query that can be said to have matched a hit."""

    label: str
    query: Query
    name: str | None = None
    spelled: Spelled = ()
    text: str = ""
    """The words as they came."""

    def matched(self, analysed: AnalysedDocument) -> str | None:
        """How it matched the document, a ``match`` with the words of it that did; None if it did not."""
        if not matches(self.query, analysed):
            return None
        if self.name is not None or not self.spelled:
            return self.name or self.label
        held = set(analysed.tokens.split())
        return f"{self.label}: {' '.join(written for lemma, written in self.spelled if lemma in held)}"


@dataclass(slots=True)
class Allowance:
    """What one query may still be made of."""

    _parts: int = 0
    _values: int = 0

    def part(self, query: object, at: str, depth: int) -> tuple[str, Any, str]:
        """The kind of one part of the query, what it holds, and where it stands."""
        kind, content = single(query, at)
        at = f"{at}.{kind}"
        if kind not in KINDS:
            raise BadParameter(f"{at[:200]} is not allowed", fix=f"use {', '.join(KINDS)}")
        self._parts += 1
        if self._parts > MOST_CLAUSES or depth > MOST_DEEP:
            raise BadParameter("the query is too complex", fix=f"use {MOST_CLAUSES} clauses, {MOST_DEEP} deep, at most")
        return kind, content, at

    def count(self, more: int) -> None:
        """So many more words or values."""
        self._values += more
        if self._values > MOST_VALUES:
            raise BadParameter("the query is too long", fix=f"use at most {MOST_VALUES} words and values")


@dataclass(slots=True)
class QueryReader:
    """Reads one query; what it is made of is there afterwards."""

    spell: Callable[[str], Spelled]
    clauses: list[Clause] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """As written, of every match that is asked for."""
    lemmas: list[str] = field(default_factory=list)
    _allowed: Allowance = field(default_factory=Allowance)

    def read(self, query: object, at: str, *, wanted: bool = True, depth: int = 0) -> Query:
        """The tree; ``wanted`` is false for what must not match."""
        kind, content, at = self._allowed.part(query, at, depth)
        if kind == "bool":
            return self._bool(content, at, wanted, depth)
        if kind == "match_all":
            only(object_of(content, at), frozenset(), at)
            return Everything()
        leaf = {"match": self._match, "multi_match": self._match, "range": self._range}.get(kind, self._terms)
        clause = leaf(kind, content, at)
        if wanted:
            self.clauses.append(clause)
            if clause.spelled:
                self.lemmas += [lemma for lemma, _ in clause.spelled]
                self.words.append(clause.text)
        return clause.query

    def _match(self, kind: str, content: object, at: str) -> Clause:
        if kind == "match":
            name, value = single(content, at)
            options = {"query": value} if isinstance(value, str) else dict(object_of(value, f"{at}.{name}"))
            fields: Any = [name]
        else:
            options = dict(object_of(content, at))
            fields = options.pop("fields", ["*"])
        only(options, frozenset({"query", "operator", "_name"}), at)
        operator = options.get("operator", "or")
        if operator not in ("or", "and", "OR", "AND"):
            raise BadParameter(f"{at}.operator must be or, or and")
        for one in listed(fields):
            if not isinstance(one, str) or one.partition("^")[0] not in TEXT_FIELDS:
                raise BadParameter(f"{at}: no text field {str(one)[:80]!r}", fix="use title or text")
        text = options.get("query")
        if not isinstance(text, str) or not text.strip():
            raise BadParameter(f"{at} needs words to search for")
        spelled = self.spell(text)
        self._allowed.count(len(spelled))
        query = Match(tuple(lemma for lemma, _ in spelled), every=operator.lower() == "and")
        return Clause(kind, query, _name(options, at), spelled, text)

    def _terms(self, kind: str, content: object, at: str) -> Clause:
        options = dict(object_of(content, at))
        name = _name(options, at)
        options.pop("_name", None)
        written, value = single(options, at)
        if kind == "term" and isinstance(value, Mapping):
            only(value, frozenset({"value", "_name"}), at)
            name, value = _name(value, at) or name, value.get("value")
        values = value if kind == "terms" and isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str) for one in values) or (kind == "terms" and values is not value):
            raise BadParameter(f"{at}.{written[:80]} must be text", fix='write {"term": {"source": "BBC"}}')
        facet = facet_name(written)
        if facet in NO_FACETS:
            raise BadParameter(f"{at}.{facet} is no facet", fix="use match for title and text, range for date")
        self._allowed.count(len(values))
        return Clause(f"{kind}: {facet}", Facet(facet, tuple(values)), name)

    def _range(self, kind: str, content: object, at: str) -> Clause:
        written, limits = single(content, at)
        if written != "date":
            raise BadParameter(f"{at}.{written[:80]} is not allowed", fix="only date has ranges")
        limits = object_of(limits, f"{at}.date")
        only(limits, frozenset({"gte", "gt", "lte", "lt", "_name"}), f"{at}.date")
        bounds = {name: value for name, value in limits.items() if name != "_name"}
        for name, value in bounds.items():
            if not isinstance(value, str):
                raise BadParameter(f"{at}.date.{name} must be a day such as 2011-03-11")
        return Clause("range: date", Dates(*date_ranges.limits(**bounds)), _name(limits, at))

    def _bool(self, content: object, at: str, wanted: bool, depth: int) -> Query:
        parts = object_of(content, at)
        names = ("must", "should", "filter", "must_not")
        only(parts, frozenset({*names, "minimum_should_match", "_name"}), at)
        read = {name: self._part(parts.get(name, []), f"{at}.{name}", wanted, name, depth) for name in names}
        least = None
        if "minimum_should_match" in parts:
            least = whole_number(parts["minimum_should_match"], f"{at}.minimum_should_match", 0, MOST_CLAUSES)
        if not any(read.values()):
            return Everything()
        query = Bool(**read, least=least)
        name = _name(parts, at)
        if name is not None and wanted:
            self.clauses.append(Clause("bool", query, name))
        return query

    def _part(self, written: object, at: str, wanted: bool, name: str, depth: int) -> tuple[Query, ...]:
        wanted = wanted and name != "must_not"
        queries = enumerate(listed(written))
        return tuple(self.read(one, f"{at}[{number}]", wanted=wanted, depth=depth + 1) for number, one in queries)


def _name(options: Mapping[str, Any], at: str) -> str | None:
    name = options.get("_name")
    if name is not None and not isinstance(name, str):
        raise BadParameter(f"{at}._name must be text")
    return name
