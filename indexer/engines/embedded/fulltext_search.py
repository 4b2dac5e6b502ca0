"""Pages of hits in any order, and counts over all that match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tantivy import DocAddress, Order, Query, Searcher

from indexer.engines.base import FACET_VALUES, Hit, SearchRequest
from indexer.engines.date_histogram import Interval
from indexer.engines.embedded.fulltext_index import stored
from indexer.engines.query_tree import BY_ID, BY_SCORE, Sort
from indexer.errors import TooLarge
from indexer.identifiers import facet_of, facet_prefix

Place = tuple[int, int]
"""Segment and number in it."""


def page(searcher: Searcher, query: Query, request: SearchRequest) -> tuple[int, list[Hit]]:
    """How many match, and the hits of the page."""
    offset, size = request.offset, request.size
    if request.order == BY_SCORE:
        return _by_score(searcher, query, offset, size)
    if request.order == BY_ID:
        return _by_id(searcher, query, offset, size, request.flat or 0.0)
    return _by_columns(searcher, query, offset, size, request.order)


def _by_score(searcher: Searcher, query: Query, offset: int, size: int) -> tuple[int, list[Hit]]:
    """Best first, equal scores by id: as many hits are looked at as it takes to see every tie of the page."""
    end, looked_at = offset + size, offset + size + 16
    while True:
        found = searcher.search(query, looked_at)
        hits = found.hits
        if len(hits) < looked_at or hits[-1][0] < hits[max(end - 1, 0)][0]:
            break
        looked_at *= 4
    page: list[Hit] = []
    first = 0
    while first < min(end, len(hits)):
        last = next((i for i in range(first, len(hits)) if hits[i][0] != hits[first][0]), len(hits))
        if last > offset:
            tied = [_hit(searcher, score, address) for score, address in hits[first:last]]
            tied.sort(key=lambda hit: hit.id)
            page += tied[max(offset - first, 0) : end - first]
        first = last
    return _count(found), page


def _by_id(searcher: Searcher, query: Query, offset: int, size: int, flat: float) -> tuple[int, list[Hit]]:
    found = searcher.search(query, max(size, 1), offset=offset, order_by_field="id", order=Order.Asc)
    return _count(found), [_hit(searcher, flat, address) for _, address in found.hits[:size]]


def _by_columns(
    searcher: Searcher, query: Query, offset: int, size: int, order: Sequence[Sort]
) -> tuple[int, list[Hit]]:
    """Any other order: a column of each key over all that match, sorted here; only the page is read."""
    columns = {key.key: _column(searcher, query, key.key) for key in order}
    scores = columns.get("score", {})
    addresses = next(iter(columns.values()))
    places = list(addresses)
    for key in reversed(order):  # sorting is stable: the last key first
        places.sort(key=_rank(columns[key.key], key))
    chosen = places[offset : offset + size]
    hits = [_hit(searcher, float(scores[place][0]) if scores else 0.0, addresses[place][1]) for place in chosen]
    return len(places), hits


def _column(searcher: Searcher, query: Query, key: str) -> dict[Place, tuple[Any, DocAddress]]:
    """Value and address of every document that matches."""
    most = max(searcher.num_docs, 1)
    if key == "score":
        hits = searcher.search(query, most, count=False).hits
    else:
        hits = searcher.search(query, most, count=False, order_by_field=key, order=Order.Asc).hits
    return {(address.segment_ord, address.doc): (value, address) for value, address in hits}


def _rank(column: dict[Place, tuple[Any, DocAddress]], key: Sort) -> Callable[[Place], tuple[bool, object]]:
    """What to sort by; what has no value comes last."""
    values = sorted({value for value, _ in column.values() if value is not None}, reverse=key.descending)
    ranks = {value: rank for rank, value in enumerate(values)}
    last = len(ranks)

    def rank(place: Place) -> tuple[bool, object]:
        value = column[place][0]
        return value is None, last if value is None else ranks[value]

    return rank


def count_facet(searcher: Searcher, query: Query, name: str) -> dict[str, int]:
    prefix = facet_prefix(name)
    counted = searcher.terms_with_prefix("facets", prefix, query)
    counted.sort(key=lambda pair: (-pair[1], pair[0]))
    return {key[len(prefix) :]: count for key, count in counted[:FACET_VALUES]}


def facet_names(searcher: Searcher, query: Query) -> list[str]:
    """By their most frequent value, those with the most documents first."""
    counted = searcher.terms_with_prefix("facets", "", query)
    counted.sort(key=lambda pair: (-pair[1], pair[0]))
    return list(dict.fromkeys(facet_of(key) for key, _ in counted[:FACET_VALUES]))


def first_ids(searcher: Searcher, query: Query, most: int) -> list[str]:
    found = searcher.search(query, max(most, 1), count=False, order_by_field="id", order=Order.Asc)
    return [str(id) for id, _ in found.hits[:most]]


def count_dates(searcher: Searcher, query: Query, interval: Interval) -> dict[int, int]:
    asked = {"dates": {"histogram": {"field": "date", "interval": float(interval.grain), "min_doc_count": 1}}}
    try:
        buckets = searcher.aggregate(query, asked)["dates"]["buckets"]
    except ValueError:
        raise TooLarge("the date histogram has too many buckets", fix="use a longer interval") from None
    return interval.fold({int(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets})


def _hit(searcher: Searcher, score: float, address: DocAddress) -> Hit:
    analysed = stored(searcher, address)
    return Hit(analysed.document.id, score, analysed)


def _count(found: object) -> int:
    return int(getattr(found, "count", 0) or 0)  # missing from the library's own types
