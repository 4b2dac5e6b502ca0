"""Query trees with the same matches and scores on every engine.

``Match`` scores the BM25 of its words that occur; ``FacetTerms``, ``DateRange`` and ``MatchAll`` score 1. ``Bool`` adds
up the scores of ``must`` and of matching ``should`` clauses; ``filter`` and ``must_not`` select without scoring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexer.dates import date_to_millis
from indexer.documents import AnalysedDocument
from indexer.identifiers import replace_surrogates


@dataclass(frozen=True, slots=True)
class Match:
    """Documents that contain any of the words, or all with ``require_all``; none without words."""

    words: tuple[str, ...]
    """Lemmas."""
    require_all: bool = False


@dataclass(frozen=True, slots=True)
class FacetTerms:
    """Documents that have one of the values in a facet."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DateRange:
    """Documents dated from ``start`` (inclusive) to ``end`` (exclusive), milliseconds since 1970 UTC.

    None leaves a bound open; without bounds every document that has a date matches.
    """

    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class MatchAll:
    """All documents."""


@dataclass(frozen=True, slots=True)
class Bool:
    """Combination of clauses with the semantics of Elasticsearch's bool query."""

    must: tuple[Query, ...] = ()
    should: tuple[Query, ...] = ()
    filter: tuple[Query, ...] = ()
    must_not: tuple[Query, ...] = ()
    minimum_should_match: int | None = None
    """Number of ``should`` clauses that must match; None: 1 if nothing else is required, otherwise 0."""

    @property
    def required_should_count(self) -> int:
        """Number of ``should`` clauses that must match, the default resolved."""
        if self.minimum_should_match is not None:
            return self.minimum_should_match
        return 1 if self.should and not (self.must or self.filter) else 0

    @property
    def requires_nothing(self) -> bool:
        """True if no clause has to match, so that all documents do unless ``must_not`` excludes them."""
        return not self.must and not self.filter and self.required_should_count == 0


Query = Match | FacetTerms | DateRange | MatchAll | Bool


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of a sort order; documents without a date come last in both directions."""

    field: Literal["score", "date", "id"]
    descending: bool = False


BY_SCORE = (SortKey("score", descending=True), SortKey("id"))
BY_ID = (SortKey("id"),)


def add_id_tiebreak(sort: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
    """Return the order completed by the id as the last key; keys after an id are dropped."""
    for position, key in enumerate(sort):
        if key.field == "id":
            return sort[: position + 1]
    return (*sort, SortKey("id"))


def find_constant_score(query: Query) -> float | None:
    """Return the score that all matching documents share, or None if scores may differ."""
    if isinstance(query, Match):
        return None
    if not isinstance(query, Bool):
        return 1.0
    if query.should:
        return None
    scores = [find_constant_score(part) for part in query.must]
    return None if None in scores else float(sum(score for score in scores if score is not None))


def matches_document(query: Query, analysed: AnalysedDocument) -> bool:
    """Return whether the query matches a document in memory, by the same rule as the engines."""
    if isinstance(query, Match):
        tokens = set(analysed.tokens.split())
        if query.require_all and query.words:
            return tokens.issuperset(query.words)
        return not tokens.isdisjoint(query.words)
    if isinstance(query, FacetTerms):
        document_values = {replace_surrogates(value) for value in analysed.document.facets.get(query.name, ())}
        return any(replace_surrogates(value) in document_values for value in query.values)
    if isinstance(query, DateRange):
        date = date_to_millis(analysed.document.date)
        if date is None:
            return False
        return (query.start is None or date >= query.start) and (query.end is None or date < query.end)
    if isinstance(query, MatchAll):
        return True
    return (
        all(matches_document(part, analysed) for part in (*query.must, *query.filter))
        and not any(matches_document(part, analysed) for part in query.must_not)
        and sum(matches_document(part, analysed) for part in query.should) >= query.required_should_count
    )
