"""An allow-listed subset of the Elasticsearch search body as a plan for an index of ours: no scripts, and nothing is
silently ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from indexer.engines.date_histogram import Interval
from indexer.engines.query_tree import Bool, MatchAll, Query, SortKey
from indexer.engines.search_types import TextQuery, VectorQuery
from indexer.errors import BadParameter
from indexer.model.query_words import QueryWord
from webapi.search.body import (
    DateHistogramAggregation,
    Highlight,
    TermsAggregation,
    parse_facet_field,
    parse_search_body,
    require_object,
)
from webapi.search.query_parser import QueryClause, QueryParser
from webapi.search.query_texts import read_query_texts
from webapi.search.query_vectors import read_query_vector
from webapi.search.vector_clause import VECTOR_FIELD, VectorClause, parse_vector_clause
from webapi.search.why_options import WhyOptions, parse_why

_SORT_FIELDS = {"_score": "score", "date": "date", "id": "id", "_id": "id"}


@dataclass(frozen=True, slots=True)
class PlannedHistogram:
    """A date histogram of the documents' date."""

    interval: Interval
    min_doc_count: int
    """Buckets with fewer documents are left out; 0 fills the gaps."""


class QueryWords(NamedTuple):
    """All words that are searched for."""

    text: str
    """As written."""
    lemmas: Sequence[str]


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """A search of an index of ours, ready to run."""

    query: Query | None
    """None for a search by a vector alone."""
    vector: VectorQuery | TextQuery | None
    words: QueryWords
    explained_text: str
    """The words to explain hits by, as written."""
    named_clauses: tuple[QueryClause, ...]
    offset: int
    size: int
    sort: tuple[SortKey, ...]
    highlight: Highlight | None
    aggregations: Mapping[str, TermsAggregation | PlannedHistogram]
    """By name; the field of a terms aggregation is the facet."""
    source_filter: frozenset[str] | bool
    """Fields to return, or whether to return any."""
    with_why: bool
    """Whether hits carry their reasons."""
    explained_vector: bytes | None = field(default=None, repr=False)
    """The vector to explain hits by: that of ``why``, or that of the search."""
    is_vector_given: bool = False
    """Whether it is that of ``why``."""

    @property
    def has_scores(self) -> bool:
        """Whether hits are sorted by their score, and so have one."""
        return not self.sort or any(key.field == "score" for key in self.sort)


def build_search_plan(body: object, split_query: Callable[[str], Sequence[QueryWord]]) -> SearchPlan:
    """Build the plan of a search body; raise BadParameter that names what is not allowed and where.

    ``split_query`` returns the words of a text that are searched for.
    """
    parts = dict(require_object(body, "the body"))
    why = parse_why(parts.pop("why", True))
    parsed = parse_search_body(parts)
    parser = QueryParser(split_query)
    query = None if parsed.query is None else parser.parse(parsed.query, "query")
    vector = None
    if parsed.vector_clause is not None:
        vector = _plan_vector(parse_vector_clause(parsed.vector_clause, parsed.size), parser)
    for name in parsed.highlight.fields if parsed.highlight else ():
        if name not in ("title", "text"):
            raise BadParameter(f"highlight.fields.{name[:80]} is not allowed", fix="use title or text")
    words = QueryWords(" ".join(parser.words), tuple(parser.lemmas))
    return SearchPlan(
        query=MatchAll() if query is None and vector is None else query,
        vector=vector,
        words=words,
        explained_text=_choose_explained_text(why, _join_texts(words.text, vector), parts),
        named_clauses=tuple(parser.named_clauses),
        offset=parsed.offset,
        size=parsed.size,
        sort=_build_sort_keys(parsed.sort),
        highlight=parsed.highlight,
        aggregations={name: _plan_aggregation(value) for name, value in parsed.aggregations.items()},
        source_filter=parsed.source_filter,
        with_why=why.is_wanted,
        explained_vector=why.vector or read_query_vector(parts, VECTOR_FIELD),
        is_vector_given=why.vector is not None,
    )


def _plan_vector(clause: VectorClause, parser: QueryParser) -> VectorQuery | TextQuery:
    """Return the search by the vector or the text; ``parser``: that of the search, which has parsed its query."""
    words, lemmas = list(parser.words), list(parser.lemmas)
    filters = tuple(parser.parse(query, f"knn.filter[{n}]", depth=1) for n, query in enumerate(clause.filters))
    if words:  # those of a filter are words to explain by only if there are no others
        parser.words, parser.lemmas = words, lemmas
    condition = Bool(filter=filters) if filters else None
    if clause.vector is None:
        return TextQuery(clause.text or "", clause.k, clause.num_candidates, condition)
    return VectorQuery(clause.vector, clause.k, clause.num_candidates, condition)


def _join_texts(words: str, vector: VectorQuery | TextQuery | None) -> str:
    """Return the words that are searched for, and the text that is searched for by meaning unless they are the same."""
    meaning = vector.text if isinstance(vector, TextQuery) else ""
    return " ".join(dict.fromkeys(text for text in (words, meaning) if text))


def _choose_explained_text(why: WhyOptions, searched: str, body: Mapping[str, Any]) -> str:
    if why.query is None and why.fields is None:
        return searched
    return why.choose_text(" ".join(read_query_texts(body, why.fields)))


def _build_sort_keys(sort: tuple[tuple[str, str], ...]) -> tuple[SortKey, ...]:
    keys: list[SortKey] = []
    for name, order in sort:
        if name not in _SORT_FIELDS:
            raise BadParameter(f"sort by {name[:80]!r} is not allowed", fix="sort by _score, date or id")
        field = _SORT_FIELDS[name]
        if any(field == earlier.field for earlier in keys):
            raise BadParameter(f"sort names {name} twice")
        keys.append(SortKey(field, order == "desc"))  # type: ignore[arg-type]
    return tuple(keys)


def _plan_aggregation(
    aggregation: TermsAggregation | DateHistogramAggregation,
) -> TermsAggregation | PlannedHistogram:
    if isinstance(aggregation, TermsAggregation):
        return replace(aggregation, field=parse_facet_field(aggregation.field))
    if aggregation.field != "date":
        raise BadParameter(f"{aggregation.path}.field must be date")
    is_calendar = aggregation.interval_kind == "calendar_interval"
    parse_interval = Interval.from_calendar_unit if is_calendar else Interval.from_fixed_length
    return PlannedHistogram(parse_interval(aggregation.interval), aggregation.min_doc_count)
