"""Reading what Elasticsearch answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from indexer.engines.base import Hit, Neighbourhood, NeighbourhoodRequest, SearchRequest, SearchResult
from indexer.engines.document_codec import unpack
from indexer.engines.elasticsearch.query_builder import boost_of, degrees_of_cards, packed_source, title_of_card
from indexer.identifiers import facet_prefix
from indexer.lazy_sequences import Lazily


def search_result(answer: Mapping[str, Any], request: SearchRequest) -> SearchResult:
    hits = []
    place = next((i for i, key in enumerate(request.order) if key.key == "score"), None)
    for hit in answer["hits"]["hits"]:
        analysed = unpack(packed_source(hit["_source"]))
        score = request.flat or 0.0 if place is None else float(hit["sort"][place])
        hits.append(Hit(analysed.document.id, score, analysed))
    counted = answer.get("aggregations", {})
    counts = {name: _counts(counted[str(i)]["buckets"], name) for i, name in enumerate(request.facets)}
    dated = {interval: _dated(counted[f"date {i}"]) for i, interval in enumerate(request.histograms)}
    return SearchResult(answer["hits"]["total"]["value"], tuple(hits), counts, dated)


def _dated(histogram: Mapping[str, Any]) -> dict[int, int]:
    return {int(bucket["key"]): bucket["doc_count"] for bucket in histogram["buckets"]}


def _counts(buckets: Sequence[Mapping[str, Any]], name: str) -> dict[str, int]:
    prefix = facet_prefix(name)
    return {bucket["key"][len(prefix) :]: bucket["doc_count"] for bucket in buckets}


def neighbourhood(answer: Mapping[str, Any], request: NeighbourhoodRequest, phrases: Sequence[str]) -> Neighbourhood:
    hits = {hit["sort"][1]: hit for hit in answer.get("hits", {}).get("hits", ())}
    included = [name for name in dict.fromkeys(request.include) if name in hits]
    totals = {name: hit["sort"][0] for name, hit in hits.items()}
    unreached = 0
    for name in included:  # pinned to the top, whatever their own total is
        scores = hits[name].get("matched_queries", {})
        if _reached(scores, phrases, request):
            totals[name] = sum(scores.values())
        else:
            del totals[name]
            unreached += 1
    ranked = sorted([(-total, name) for name, total in totals.items()])[: request.limit]
    chosen = set(included)
    ids = included + [name for _, name in ranked if name not in chosen]

    cards = [hits[name]["fields"]["card"][0] for name in ids]
    scores_of = [hits[name].get("matched_queries", {}) for name in ids]
    sizes = list(map(len, scores_of))
    edges, number = sum(sizes), {str(row): row for row in range(len(phrases))}
    rows = np.fromiter(map(number.__getitem__, chain.from_iterable(scores_of)), dtype=np.int64, count=edges)
    boosts = np.array([boost_of(request, phrase) for phrase in phrases], dtype=np.float64)
    boosted = np.fromiter(chain.from_iterable([scores.values() for scores in scores_of]), dtype=np.float64, count=edges)
    return Neighbourhood(
        ids=tuple(ids),
        titles=Lazily(len(cards), lambda i: title_of_card(cards[i])),
        degrees=degrees_of_cards(cards),
        phrases=tuple(phrases),
        rows=rows,
        columns=np.repeat(np.arange(len(ids), dtype=np.int64), sizes),
        weights=boosted / boosts[rows],
        reached=answer.get("hits", {}).get("total", {"value": 0})["value"] - unreached,
    )


def _reached(scores: Mapping[str, float], phrases: Sequence[str], request: NeighbourhoodRequest) -> bool:
    held = [phrases[int(row)] for row in scores]
    return any(phrase in request.a for phrase in held) and any(phrase in request.b for phrase in held)
