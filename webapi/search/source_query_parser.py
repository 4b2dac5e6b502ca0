"""The query of a search in an attached source: checked against an allow-list, passed on in the source's own fields.

The same kinds as in ``search_query``; here Elasticsearch itself says what matches. Every leaf is given a name, so that
each hit says which of them matched it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.errors import BadParameter
from webapi.search.query_parser import MOST_CLAUSES, Allowance
from webapi.search.search_parts import listed, object_of, only, single, whole_number

Body = dict[str, Any]
_MOST_NAMED = 12
_MOST_BOOST = 1000.0
_LONGEST = 1000
"""Characters of a value."""


@dataclass(frozen=True, slots=True)
class Label:
    """One part of the query that can be said to have matched a hit."""

    said: str
    name: str | None = None
    """As the caller called it."""


@dataclass(slots=True)
class SourceQueryReader:
    """Reads one query; what it is made of is there afterwards."""

    fields: Collection[str]
    """Those that may be named."""
    usual: Sequence[str]
    """Those a ``multi_match`` without fields looks into."""
    labels: list[Label] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """As written, of every match that is asked for."""
    _allowed: Allowance = field(default_factory=Allowance)

    def read(self, query: object, at: str, *, wanted: bool = True, depth: int = 0) -> Body:
        """The same query as it is sent; ``wanted`` is false for what must not match."""
        kind, content, at = self._allowed.part(query, at, depth)
        if kind == "bool":
            return self._bool(content, at, wanted, depth)
        if kind == "match_all":
            only(object_of(content, at), frozenset(), at)
            return {"match_all": {}}
        leaf = {"match": self._match, "multi_match": self._multi_match, "term": self._term, "terms": self._terms}
        return {kind: leaf.get(kind, self._range)(content, at, wanted)}

    def field(self, written: object, at: str) -> str:
        """The name of a field that is there."""
        if isinstance(written, str) and written in self.fields:
            return written
        shown = sorted(self.fields)
        more = ", ..." if len(shown) > _MOST_NAMED else ""
        raise BadParameter(
            f"{at[:200]}: the source has no field {str(written)[:80]!r}",
            fix=f"use one of {', '.join(shown[:_MOST_NAMED])}{more}",
        )

    def _match(self, content: object, at: str, wanted: bool) -> Body:
        name, value = single(content, at)
        options = {"query": value} if isinstance(value, str) else dict(object_of(value, f"{at}.{name[:80]}"))
        return {self.field(name, at): self._text_options(options, "match", at, wanted)}

    def _multi_match(self, content: object, at: str, wanted: bool) -> Body:
        options = dict(object_of(content, at))
        written = listed(options.pop("fields", list(self.usual)))
        return self._text_options(options, "multi_match", at, wanted) | {
            "fields": [self._boosted(one, at) for one in written]
        }

    def _boosted(self, written: object, at: str) -> str:
        name, hat, boost = str(written).partition("^")
        self.field(name, at)
        if hat:
            try:
                number = float(boost)
            except ValueError:
                number = math.nan
            if not 0 < number <= _MOST_BOOST:
                raise BadParameter(f"{at}.fields: {boost[:20]!r} is no boost", fix="write title^2")
        return str(written)

    def _text_options(self, options: Mapping[str, Any], kind: str, at: str, wanted: bool) -> Body:
        only(options, frozenset({"query", "operator", "_name"}), at)
        operator = options.get("operator", "or")
        if operator not in ("or", "and", "OR", "AND"):
            raise BadParameter(f"{at}.operator must be or, or and")
        text = options.get("query")
        if not isinstance(text, str) or not text.strip():
            raise BadParameter(f"{at} needs words to search for")
        self._allowed.count(len(text.split()))
        if wanted:
            self.words.append(text)
        return {"query": text, "operator": operator} | self._named(options, f"{kind}: {text}", at, wanted)

    def _term(self, content: object, at: str, wanted: bool) -> Body:
        options = dict(object_of(content, at))
        outer = {"_name": options.pop("_name")} if "_name" in options else {}
        written, value = single(options, at)
        inner = dict(value) if isinstance(value, Mapping) else {"value": value}
        only(inner, frozenset({"value", "_name"}), at)
        name = self.field(written, at)
        self._allowed.count(1)
        return {
            name: {"value": _value(inner.get("value"), at)} | self._named(outer | inner, f"term: {name}", at, wanted)
        }

    def _terms(self, content: object, at: str, wanted: bool) -> Body:
        options = dict(object_of(content, at))
        outer = {"_name": options.pop("_name")} if "_name" in options else {}
        written, values = single(options, at)
        name = self.field(written, at)
        if not isinstance(values, list) or not values:
            raise BadParameter(f"{at}.{name} must be a list of values")
        self._allowed.count(len(values))
        return {name: [_value(one, at) for one in values]} | self._named(outer, f"terms: {name}", at, wanted)

    def _range(self, content: object, at: str, wanted: bool) -> Body:
        written, limits = single(content, at)
        name = self.field(written, at)
        options = object_of(limits, f"{at}.{name}")
        only(options, frozenset({"gte", "gt", "lte", "lt", "_name"}), f"{at}.{name}")
        bounds = {side: _value(value, at) for side, value in options.items() if side != "_name"}
        return {name: bounds | self._named(options, f"range: {name}", at, wanted)}

    def _bool(self, content: object, at: str, wanted: bool, depth: int) -> Body:
        parts = object_of(content, at)
        names = ("must", "should", "filter", "must_not")
        only(parts, frozenset({*names, "minimum_should_match", "_name"}), at)
        out: Body = {}
        for name in names:
            if name in parts:
                inside = wanted and name != "must_not"
                out[name] = [
                    self.read(one, f"{at}.{name}[{number}]", wanted=inside, depth=depth + 1)
                    for number, one in enumerate(listed(parts[name]))
                ]
        if "minimum_should_match" in parts:
            least = whole_number(parts["minimum_should_match"], f"{at}.minimum_should_match", 0, MOST_CLAUSES)
            out["minimum_should_match"] = least
        return {"bool": out | (self._named(parts, "bool", at, wanted) if "_name" in parts else {})}

    def _named(self, options: Mapping[str, Any], said: str, at: str, wanted: bool) -> Body:
        """A name of our own for a part that may be said to have matched; the caller's is given back in its place."""
        name = options.get("_name")
        if name is not None and not isinstance(name, str):
            raise BadParameter(f"{at}._name must be text")
        if not wanted:
            return {}
        self.labels.append(Label(said, name))
        return {"_name": str(len(self.labels) - 1)}


def _value(value: object, at: str) -> str | int | float | bool:
    if isinstance(value, str) and len(value) <= _LONGEST:
        return value
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise BadParameter(f"{at[:200]} needs a text of at most {_LONGEST} characters, a number or a truth value")
