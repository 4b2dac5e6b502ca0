"""A query as a tree, the same for every engine: what it selects, and how it scores.

``Match`` scores BM25 of its words that occur; ``Facet``, ``Dates`` and ``Everything`` score 1. A ``Bool`` adds
up its ``must`` and its matching ``should``; ``filter`` and ``must_not`` choose without scoring.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from indexer import date_ranges
from indexer.documents import AnalysedDocument
from indexer.identifiers import clean


@dataclass(frozen=True, slots=True)
class Match:
    """Documents with any of the words (``every``: with all of them); none without words."""

    words: tuple[str, ...]
    """Lemmas."""
    every: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """Documents with one of the values in the facet."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dates:
    """Documents dated from ``start`` to just before ``end``, milliseconds since 1970 UTC; both None: any date."""

    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Everything:
    pass


@dataclass(frozen=True, slots=True)
class Bool:
    must: tuple[Query, ...] = ()
    should: tuple[Query, ...] = ()
    filter: tuple[Query, ...] = ()
    must_not: tuple[Query, ...] = ()
    least: int | None = None
    """How many of ``should`` must match; None: one where nothing else is required, otherwise none."""

    @property
    def least_should(self) -> int:
        if self.least is not None:
            return self.least
        return 1 if self.should and not (self.must or self.filter) else 0

    @property
    def open(self) -> bool:
        """Whether nothing is required, so that it starts from all documents."""
        return not self.must and not self.filter and self.least_should == 0


Query = Match | Facet | Dates | Everything | Bool


@dataclass(frozen=True, slots=True)
class Sort:
    """One key of an order; documents without a date come last either way."""

    key: Literal["score", "date", "id"]
    descending: bool = False


BY_SCORE = (Sort("score", descending=True), Sort("id"))
BY_ID = (Sort("id"),)


def whole_order(sort: tuple[Sort, ...]) -> tuple[Sort, ...]:
    """The order with ties by id; what follows an id has no say."""
    for position, key in enumerate(sort):
        if key.key == "id":
            return sort[: position + 1]
    return (*sort, Sort("id"))


def flat_score(query: Query) -> float | None:
    """The score that every matching document has; None when they differ."""
    if isinstance(query, Match):
        return None
    if not isinstance(query, Bool):
        return 1.0
    if query.should:
        return None
    scores = [flat_score(part) for part in query.must]
    return None if None in scores else float(sum(score for score in scores if score is not None))


def leaves(query: Query) -> Iterator[Query]:
    """What is asked for, from left to right; not what must not match."""
    if isinstance(query, Bool):
        for part in (*query.must, *query.should, *query.filter):
            yield from leaves(part)
    else:
        yield query


def matches(query: Query, analysed: AnalysedDocument) -> bool:
    """Whether the query selects the document: the engines' rule, for a document at hand."""
    if isinstance(query, Match):
        held = query.every and bool(query.words)
        found = set(analysed.tokens.split())
        return found.issuperset(query.words) if held else not found.isdisjoint(query.words)
    if isinstance(query, Facet):
        held_values = {clean(value) for value in analysed.document.facets.get(query.name, ())}
        return any(clean(value) in held_values for value in query.values)
    if isinstance(query, Dates):
        at = date_ranges.instant(analysed.document.date)
        return at is not None and (query.start is None or at >= query.start) and (query.end is None or at < query.end)
    if isinstance(query, Everything):
        return True
    return (
        all(matches(part, analysed) for part in (*query.must, *query.filter))
        and not any(matches(part, analysed) for part in query.must_not)
        and sum(matches(part, analysed) for part in query.should) >= query.least_should
    )
