"""Every request body and index definition sent to Elasticsearch is built here."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer import date_ranges
from indexer.documents import AnalysedDocument
from indexer.engines.base import FACET_VALUES, Groups, NeighbourhoodRequest, SearchRequest
from indexer.engines.date_histogram import Interval
from indexer.engines.document_codec import pack, to_json
from indexer.engines.query_tree import Dates, Everything, Facet, Match, Query, Sort
from indexer.identifiers import clean, facet_keys, facet_prefix, is_id
from indexer.model.bm25 import K1, B, phrase_words

Body = dict[str, Any]

WINDOW = 100_000
"""The farthest hit that a search may ask for."""
TITLE = 300
"""Characters of the title kept beside the edges."""
COUNTED = 10_000
"""Documents reached from both sides are counted exactly up to here."""
PINNED = 1e9
"""The score that puts an included document before every other, whatever its own total."""

NEIGHBOURHOOD_FIELDS = "timed_out,_shards.failed,hits.total,hits.hits.sort,hits.hits.fields,hits.hits.matched_queries"

IDS = 1000
"""Ids in one clause: Elasticsearch refuses more of them than the source's result window is large."""
ID_FIELDS = "timed_out,_shards.failed,hits.hits.sort"


def document_index(shards: int, replicas: int) -> Body:
    """Settings and mappings of an epoch's index; it is searched only once it is complete."""
    keyword = {"type": "keyword"}
    return {
        "settings": {
            "number_of_shards": shards,
            "number_of_replicas": replicas,
            "refresh_interval": -1,
            "max_result_window": WINDOW,
            "similarity": {"default": {"type": "BM25", "k1": K1, "b": B}},
        },
        "mappings": {
            "dynamic": False,
            "properties": {
                "id": keyword | {"index": False},
                "tokens": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
                "phrases": {"type": "keyword", "doc_values": False},
                "facets": {"type": "keyword", "ignore_above": 8000},
                "date": {"type": "date", "format": "epoch_millis", "ignore_malformed": True},
                "acl": {"type": "keyword", "doc_values": False},
                "open": {"type": "boolean", "doc_values": False},
                "card": {"type": "binary", "doc_values": True},
                "added": keyword,
                "stored": {"type": "object", "enabled": False},
            },
        },
    }


def model_index(replicas: int, meta: Body) -> Body:
    return {
        "settings": {"number_of_shards": 1, "number_of_replicas": replicas},
        "mappings": {"dynamic": False, "properties": {"data": {"type": "binary"}}, "_meta": meta},
    }


def document_bytes(analysed: AnalysedDocument, added: str | None = None) -> bytes:
    """The source of a document, ready to be sent.

    ``added`` tells a document written after the epoch was built: ``new``, or in place of an old one.
    """
    return to_json(analysed, lambda whole: _source(whole) if added is None else _source(whole) | {"added": added})[1]


def _source(analysed: AnalysedDocument) -> Body:
    stored = pack(analysed)
    source: Body = {name: stored.pop(name) for name in ("id", "tokens", "phrases", "degree")}
    source |= {
        "facets": facet_keys(analysed.document.facets),
        "date": _instant(analysed.document.date),
        "acl": list(analysed.document.acl),
        "open": not analysed.document.acl,
        "card": pack_card(analysed.degree, analysed.document.title),
        "stored": stored,
    }
    return source


_instant = lru_cache(maxsize=4096)(date_ranges.instant)
"""Many documents share few dates."""


def pack_card(degree: float, title: str) -> str:
    """What a neighbourhood shows of a document, in one value.

    Elasticsearch reads it twice as fast as the same in fields of their own: a keyword's values have to
    be looked up in a compressed dictionary, one by one.
    """
    return base64.b64encode(struct.pack("<d", degree) + title[:TITLE].encode()).decode("ascii")


def degrees_of_cards(cards: Sequence[str]) -> NDArray[np.float64]:
    """Of hundreds of cards in a few steps: the degree is in the 9 bytes (or 8 and a filler) of 12 characters."""
    data = binascii.a2b_base64("".join([card[:12] for card in cards]).replace("=", "A"))
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, 9)[:, :8].copy().view("<f8")[:, 0].astype(np.float64)


def title_of_card(card: str) -> str:
    return str(binascii.a2b_base64(card)[8:], "utf-8")


def packed_source(source: Mapping[str, Any]) -> Body:
    """What ``codec.unpack`` reads, from a hit's source."""
    stored: Body = source["stored"]
    return stored | {name: source[name] for name in ("id", "tokens", "phrases", "degree")}


def overview() -> Body:
    """Which concrete index is behind the alias, how many documents it has and how many were added later."""
    return {
        "size": 0,
        "track_total_hits": True,
        "aggs": {"index": {"terms": {"field": "_index"}}, "added": {"terms": {"field": "added"}}},
    }


def readable_by(groups: Groups) -> list[Body]:
    """Filters that leave what these groups may read."""
    if groups is None:
        return []
    theirs = {"terms": {"acl": sorted(map(clean, groups))}}
    return [{"bool": {"should": [{"term": {"open": True}}, theirs]}}]


def search(request: SearchRequest) -> Body:
    selection = request.selection
    filters = readable_by(request.groups)
    for name, values in selection.facets.items():
        filters.append({"terms": {"facets": facet_keys({name: values})}})
    start, end = date_ranges.bounds(selection.date_from, selection.date_to)
    limits = {op: value for op, value in (("gte", start), ("lt", end)) if value is not None}
    if limits:
        filters.append({"range": {"date": limits}})
    query: Body = {"bool": {"filter": filters, "must": []}}
    if selection.words:
        query["bool"]["must"].append(query_body(Match(selection.words)))
    if selection.query is not None:
        query["bool"]["must"].append(query_body(selection.query))
    body: Body = {
        "query": query,
        "sort": [_sort(key) for key in request.order],
        "from": request.offset,
        "size": request.size,
        "track_total_hits": True,
    }
    aggregations = {str(i): _facet_counts(name) for i, name in enumerate(request.facets)}
    aggregations |= {f"date {i}": _histogram(interval) for i, interval in enumerate(request.histograms)}
    if aggregations:
        body["aggs"] = aggregations
    return body


def query_body(query: Query) -> Body:
    if isinstance(query, Match):
        if not query.words:
            return {"match_none": {}}
        operator = "and" if query.every else "or"
        return {"match": {"tokens": {"query": clean(" ".join(query.words)), "operator": operator}}}
    if isinstance(query, Facet):
        values = facet_keys({query.name: query.values})
        return {"constant_score": {"filter": {"terms": {"facets": values}}, "boost": 1}}
    if isinstance(query, Dates):
        limits = {op: value for op, value in (("gte", query.start), ("lt", query.end)) if value is not None}
        chosen = {"range": {"date": limits}} if limits else {"exists": {"field": "date"}}
        return {"constant_score": {"filter": chosen, "boost": 1}}
    if isinstance(query, Everything):
        return {"match_all": {}}
    parts: Body = {
        name: [query_body(part) for part in getattr(query, name)] for name in ("must", "should", "filter", "must_not")
    }
    if query.open:  # or only what matches some of it would come
        parts["filter"].append({"match_all": {}})
    if query.least_should > len(query.should):
        return {"match_none": {}}
    return {"bool": parts | {"minimum_should_match": query.least_should}}


def _sort(key: Sort) -> Body:
    order = {"order": "desc" if key.descending else "asc"}
    if key.key == "score":
        return {"_score": order}
    return {key.key: order | {"missing": "_last"}}


def _histogram(interval: Interval) -> Body:
    width = {"fixed_interval": f"{interval.fixed}ms"} if interval.fixed else {"calendar_interval": interval.unit}
    return {"date_histogram": {"field": "date", "min_doc_count": 1, **width}}


def _facet_counts(name: str) -> Body:
    # every character that is not a letter or digit is escaped: the pattern is a regular expression
    prefix = re.sub(r"([^\w])", r"\\\1", facet_prefix(name))
    order = [{"_count": "desc"}, {"_key": "asc"}]
    return {"terms": {"field": "facets", "include": prefix + ".*", "size": FACET_VALUES, "order": order}}


def scan(after: str | None, size: int, groups: Groups) -> Body:
    body: Body = {
        "query": {"bool": {"filter": readable_by(groups)}},
        "sort": [{"id": "asc"}],
        "size": size,
        "track_total_hits": False,
    }
    return body if after is None else body | {"search_after": [after]}


def readable_ids(after: str | None, size: int, groups: Groups) -> Body:
    """The same as ``scan``, of which only the order's values are wanted: the ids."""
    return scan(after, size, groups) | {"_source": False, "stored_fields": "_none_"}


def facet_names(groups: Groups) -> Body:
    """The most frequent values of all facets together: their names are among them."""
    terms = {"field": "facets", "size": FACET_VALUES, "order": [{"_count": "desc"}, {"_key": "asc"}]}
    query = {"bool": {"filter": readable_by(groups)}}
    return {"query": query, "size": 0, "track_total_hits": False, "aggs": {"values": {"terms": terms}}}


def source_search(
    asked: Body, readable: Sequence[str] | None, acl_field: str | None, groups: Groups, seconds: float
) -> Body:
    """A caller's search of an attached source: whatever it counts or shows is among what they may read.

    ``readable``: the ids they may read by our own rights, if they are not of all groups; ``acl_field``: where the
    source says it.
    """
    body = asked | {"track_total_hits": True, "timeout": f"{max(1, int(1000 * seconds))}ms"}
    if groups is None:
        return body
    readable = readable or ()
    parts = [{"ids": {"values": list(readable[at : at + IDS])}} for at in range(0, len(readable), IDS)]
    filters: list[Body] = [{"bool": {"should": parts}} if parts else {"match_none": {}}]
    if acl_field is not None:
        nobody_named = {"bool": {"must_not": {"exists": {"field": acl_field}}}}
        theirs = {"terms": {acl_field: sorted(map(clean, groups))}}
        filters.append({"bool": {"should": [nobody_named, theirs]}})
    query = asked.get("query", {"match_all": {}})
    return body | {"query": {"bool": {"must": [query], "filter": filters}}}


def neighbourhood(request: NeighbourhoodRequest, phrases: Sequence[str]) -> Body:
    """One search for documents, totals and edges; see NeighbourhoodRequest for what is asked.

    Every phrase is one named clause, whose score comes back with each hit that holds it, included
    documents that only one side reaches among them. A phrase of both sides scores once with both
    boosts, and stands in the other side's disjunction as a mere condition: the total is the defined one.
    """
    include = [name for name in request.include if is_id(name)]
    edges = {phrase: _edge(phrase, str(i), boost_of(request, phrase)) for i, phrase in enumerate(phrases)}
    included: Body = {"ids": {"values": include}}
    if request.a and request.b:
        pinned = {"constant_score": {"filter": included, "boost": PINNED}}
        query: Body = {"should": [_reached_from_both(request, edges), pinned], "minimum_should_match": 1, "filter": []}
    else:  # no document can be reached from both sides, but what is included still has edges
        query = {"should": list(edges.values()), "filter": [included]}
    query["filter"] += readable_by(request.groups)
    return {
        "query": {"bool": query},
        "sort": ["_score", {"id": "asc"}],
        "size": request.limit + len(include),
        "track_total_hits": COUNTED,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["card"],
    }


def _reached_from_both(request: NeighbourhoodRequest, edges: Mapping[str, Body]) -> Body:
    from_a = [edges[phrase] for phrase in request.a]
    from_b = [edges[phrase] for phrase in request.b if phrase not in request.a]
    shared = [clean(phrase) for phrase in request.b if phrase in request.a]
    if shared:
        from_b.append({"constant_score": {"filter": {"terms": {"phrases": shared}}, "boost": 0}})
    return {"bool": {"must": [{"bool": {"should": from_a}}, {"bool": {"should": from_b}}]}}


def boost_of(request: NeighbourhoodRequest, phrase: str) -> float:
    return request.a.get(phrase, 0.0) + request.b.get(phrase, 0.0)


def _edge(phrase: str, name: str, boost: float) -> Body:
    """A document that holds the phrase has all its words: to ask for every one changes no score, and spares
    Elasticsearch a queue of the words' postings."""
    phrase = clean(phrase)
    words = {"query": " ".join(phrase_words(phrase)), "operator": "and"}
    return {
        "bool": {
            "must": {"match": {"tokens": words}},
            "filter": {"term": {"phrases": phrase}},
            "boost": boost,
            "_name": name,
        }
    }
