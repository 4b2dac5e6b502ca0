"""Seventy search bodies as front-ends and Elasticsearch's reference write them, and the index they run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAPPINGS: dict[str, Any] = {
    "properties": {
        "title": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        "text": {"type": "text"},
        "tags": {"type": "keyword"},
        "published": {"type": "date"},
        "views": {"type": "integer"},
        "groups": {"type": "keyword"},
        "vector": {"type": "dense_vector", "dims": 8, "index": True, "similarity": "cosine"},
        "comments": {
            "type": "nested",
            "properties": {"author": {"type": "keyword"}, "body": {"type": "text"}, "stars": {"type": "integer"}},
        },
        "place": {"type": "geo_point"},
    }
}
FIELD_MAPS = ["title=title", "text=text", "date=published", "acl=groups", "facets.tags=tags"]
"""How an index is attached to it (``--map``)."""
DOCUMENT_COUNT = 30
_SUBJECTS = (
    ("web graph", "Link analysis ranks the pages of the web graph. A random walk follows the links of each page."),
    ("solar power", "Solar cells store energy in a battery. A solar panel turns the light of the sun into power."),
    ("mountain hike", "A mountain hike needs good boots. The hiking trail climbs to a hut below the mountain peak."),
)


def make_articles() -> dict[str, dict[str, Any]]:
    """Return thirty documents by id; every fifth is for the group ``staff``, every seventh for ``editors`` as well."""
    return {f"d{number}": _make_article(number) for number in range(1, DOCUMENT_COUNT + 1)}


def _make_article(number: int) -> dict[str, Any]:
    subject, text = _SUBJECTS[number % 3]
    other = _SUBJECTS[(number + 1) % 3][0]
    groups = [name for name, every in (("staff", 5), ("editors", 7)) if number % every == 0]
    return {
        "title": f"Article {number}: {subject}" + (" and power" if number % 4 == 0 else ""),
        "text": " ".join([text] * (1 + number % 3)) + (f" It also mentions a {other}." if number % 2 else ""),
        "tags": [("science", "energy", "travel")[number % 3], "long" if number % 3 == 2 else "short"],
        "published": f"2024-{1 + number % 12:02}-{1 + number % 28:02}",
        "views": 17 * number % 101,
        "vector": make_vector(number),
        "comments": [
            {"author": ("ann", "bob")[number % 2], "body": f"The {subject} is told well", "stars": 1 + number % 5},
            {"author": "cleo", "body": "I prefer the sea", "stars": 1 + (number + 2) % 5},
        ],
        "place": {"lat": 45.0 + number / 10, "lon": 7.0 + number / 20},
        **({"groups": groups} if groups else {}),
    }


def make_vector(number: int) -> list[float]:
    """Return eight numbers that depend on the subject of a document most."""
    return [(3.0 if position % 3 == number % 3 else 0.1) + (number * (position + 1) % 7) / 10 for position in range(8)]


@dataclass(frozen=True, slots=True)
class SearchBody:
    """A search body that an attached index must take."""

    name: str
    origin: str
    """Who writes such bodies."""
    body: Mapping[str, Any]
    texts: tuple[str, ...] = ()
    """The texts that somebody searches for, in the order of the body."""
    needs: str = ""
    """What the server of the tests lacks to run it; empty if it runs."""
    with_pit: bool = False
    """Whether the test adds a point in time of the source (``pit``)."""


_REFERENCE = "Elasticsearch's reference"
_SEARCHKIT = "Searchkit"
_SEARCH_UI = "Elastic Search UI"
_DISCOVER = "a table of documents, as Kibana shows it"
_SHOP = "a shop"
_CHAT = "retrieval for a language model"
_VECTOR = make_vector(1)
_OTHER_VECTOR = make_vector(2)
_KNN = {"field": "vector", "query_vector": _VECTOR, "k": 6, "num_candidates": 20}
_MATCH_TITLE = {"match": {"title": "solar power"}}
_FACETS = {"tags": {"terms": {"field": "tags", "size": 20}}}


SEARCH_BODIES = (
    SearchBody("empty", _REFERENCE, {}),
    SearchBody("match all", _REFERENCE, {"query": {"match_all": {"boost": 1.2}}, "size": 5}),
    SearchBody("match", _REFERENCE, {"query": {"match": {"text": "random walk"}}}, ("random walk",)),
    SearchBody(
        "match with options",
        _REFERENCE,
        {
            "query": {
                "match": {
                    "text": {"query": "muontain peak", "fuzziness": "AUTO", "minimum_should_match": "75%", "boost": 2}
                }
            }
        },
        ("muontain peak",),
    ),
    SearchBody(
        "match phrase",
        _REFERENCE,
        {"query": {"match_phrase": {"text": {"query": "pages the web", "slop": 2}}}},
        ("pages the web",),
    ),
    SearchBody(
        "match phrase prefix",
        _REFERENCE,
        {"query": {"match_phrase_prefix": {"title": {"query": "solar po", "max_expansions": 20}}}},
        ("solar po",),
    ),
    SearchBody(
        "match bool prefix", _REFERENCE, {"query": {"match_bool_prefix": {"title": "mountain hi"}}}, ("mountain hi",)
    ),
    SearchBody(
        "multi match with boosts",
        _SEARCH_UI,
        {
            "query": {
                "multi_match": {
                    "query": "solar panel",
                    "fields": ["title^3", "text"],
                    "type": "best_fields",
                    "tie_breaker": 0.3,
                }
            }
        },
        ("solar panel",),
    ),
    SearchBody(
        "multi match across fields",
        _SEARCH_UI,
        {
            "query": {
                "bool": {
                    "should": [
                        {
                            "multi_match": {
                                "query": "power battery",
                                "fields": ["title", "text"],
                                "type": "cross_fields",
                                "operator": "and",
                            }
                        },
                        {"multi_match": {"query": "power battery", "fields": ["title", "text"], "type": "phrase"}},
                    ],
                    "minimum_should_match": 1,
                }
            }
        },
        ("power battery", "power battery"),
    ),
    SearchBody(
        "multi match while typing",
        _SEARCHKIT,
        {
            "query": {
                "bool": {
                    "should": [
                        {
                            "bool": {
                                "should": [
                                    {
                                        "multi_match": {
                                            "query": "mountan hik",
                                            "fields": ["title", "text"],
                                            "fuzziness": "AUTO:4,8",
                                        }
                                    },
                                    {
                                        "multi_match": {
                                            "query": "mountan hik",
                                            "fields": ["title", "text"],
                                            "type": "bool_prefix",
                                        }
                                    },
                                ]
                            }
                        },
                        {
                            "multi_match": {
                                "query": "mountan hik",
                                "type": "phrase",
                                "fields": ["title", "text"],
                            }
                        },
                    ]
                }
            },
            "aggs": _FACETS,
            "from": 0,
            "size": 10,
            "_source": {"includes": ["title", "tags"]},
            "highlight": {"fields": {"title": {"number_of_fragments": 0}, "text": {"number_of_fragments": 3}}},
        },
        ("mountan hik", "mountan hik", "mountan hik"),
    ),
    SearchBody(
        "multi match by pattern",
        _REFERENCE,
        {"query": {"multi_match": {"query": "light", "fields": ["t*t*"], "lenient": True}}},
        ("light",),
    ),
    SearchBody(
        "combined fields",
        _REFERENCE,
        {"query": {"combined_fields": {"query": "web links", "fields": ["title", "text"], "operator": "and"}}},
        ("web links",),
    ),
    SearchBody(
        "query string",
        _REFERENCE,
        {"query": {"query_string": {"query": "(boots OR trail) AND text:hut", "default_field": "text"}}},
        ("boots trail hut",),
    ),
    SearchBody(
        "query string with exclusions",
        _DISCOVER,
        {"query": {"query_string": {"query": 'title:"web graph" -text:mountain +views:[10 TO 90]'}}},
        ("web graph",),
    ),
    SearchBody(
        "simple query string",
        _REFERENCE,
        {
            "query": {
                "simple_query_string": {
                    "query": '"solar cells" +(energy | battery) -mountain',
                    "fields": ["title^5", "text"],
                    "default_operator": "and",
                }
            }
        },
        ("solar cells energy battery",),
    ),
    SearchBody(
        "intervals",
        _REFERENCE,
        {
            "query": {
                "intervals": {
                    "text": {
                        "all_of": {
                            "ordered": True,
                            "intervals": [
                                {"match": {"query": "random walk", "max_gaps": 0, "ordered": True}},
                                {
                                    "any_of": {
                                        "intervals": [{"match": {"query": "links"}}, {"prefix": {"prefix": "pa"}}]
                                    }
                                },
                            ],
                        }
                    }
                }
            }
        },
        ("random walk", "links"),
    ),
    SearchBody(
        "bool",
        _SHOP,
        {
            "query": {
                "bool": {
                    "must": {"match": {"text": "energy"}},
                    "filter": [{"term": {"tags": "energy"}}, {"range": {"views": {"gte": 5, "lt": 90}}}],
                    "should": [{"match": {"title": "power"}}],
                    "must_not": [{"match": {"text": "mountain"}}],
                    "boost": 1.5,
                }
            }
        },
        ("energy", "power"),
    ),
    SearchBody(
        "bool inside bool",
        _SHOP,
        {
            "query": {
                "bool": {
                    "must": [
                        {
                            "bool": {
                                "should": [
                                    {"match": {"title": {"query": "web graph", "_name": "title"}}},
                                    {"match": {"text": {"query": "peak", "_name": "text"}}},
                                ],
                                "minimum_should_match": "1",
                            }
                        }
                    ],
                    "filter": {"bool": {"must_not": {"terms": {"tags": ["energy"]}}}},
                }
            }
        },
        ("web graph", "peak"),
    ),
    SearchBody(
        "dis max",
        _REFERENCE,
        {
            "query": {
                "dis_max": {
                    "tie_breaker": 0.7,
                    "queries": [{"match": {"title": "hike"}}, {"match": {"text": "hiking trail"}}],
                }
            }
        },
        ("hike", "hiking trail"),
    ),
    SearchBody(
        "constant score",
        _REFERENCE,
        {"query": {"constant_score": {"filter": {"match": {"text": "battery"}}, "boost": 1.2}}},
        ("battery",),
    ),
    SearchBody(
        "boosting",
        _REFERENCE,
        {
            "query": {
                "boosting": {
                    "positive": {"match": {"text": "power"}},
                    "negative": {"match": {"title": "web"}},
                    "negative_boost": 0.5,
                }
            }
        },
        ("power",),
    ),
    SearchBody(
        "function score by a number",
        _SHOP,
        {
            "query": {
                "function_score": {
                    "query": {"match": {"text": "mountain hut"}},
                    "field_value_factor": {"field": "views", "factor": 1.2, "modifier": "log1p", "missing": 1},
                    "boost_mode": "sum",
                }
            }
        },
        ("mountain hut",),
    ),
    SearchBody(
        "function score by age and place",
        _REFERENCE,
        {
            "query": {
                "function_score": {
                    "query": {"multi_match": {"query": "trail", "fields": ["title", "text"]}},
                    "functions": [
                        {"gauss": {"published": {"origin": "2024-06-01", "scale": "60d", "decay": 0.5}}},
                        {"filter": {"term": {"tags": "travel"}}, "weight": 3},
                        {"linear": {"place": {"origin": "46.0, 7.5", "scale": "50km"}}},
                        {"random_score": {"seed": 10, "field": "_seq_no"}, "weight": 0.1},
                    ],
                    "score_mode": "sum",
                    "max_boost": 42,
                }
            }
        },
        ("trail",),
    ),
    SearchBody(
        "script score",
        _REFERENCE,
        {
            "query": {
                "script_score": {
                    "query": {"match": {"text": "battery"}},
                    "script": {"source": "_score * Math.log(2 + doc['views'].value)"},
                }
            }
        },
        ("battery",),
        needs="scripts",
    ),
    SearchBody("term", _REFERENCE, {"query": {"term": {"tags": {"value": "travel", "case_insensitive": True}}}}),
    SearchBody("terms", _SHOP, {"query": {"terms": {"tags": ["travel", "energy"], "boost": 1.0}}}),
    SearchBody(
        "range with date math",
        _DISCOVER,
        {
            "query": {
                "range": {"published": {"gte": "2024-05-03||/M", "lte": "2024-09-01||+1M/d", "time_zone": "+02:00"}}
            },
            "sort": [{"published": {"order": "desc", "unmapped_type": "boolean", "format": "strict_date"}}],
        },
    ),
    SearchBody(
        "exists", _REFERENCE, {"query": {"bool": {"must": {"exists": {"field": "tags"}}}}, "track_total_hits": 5}
    ),
    SearchBody("prefix", _REFERENCE, {"query": {"prefix": {"title.keyword": {"value": "Article 1"}}}, "size": 20}),
    SearchBody("wildcard", _REFERENCE, {"query": {"wildcard": {"tags": {"value": "en*y", "boost": 1.0}}}}),
    SearchBody("regexp", _REFERENCE, {"query": {"regexp": {"tags": {"value": "s(c|h).*", "flags": "ALL"}}}}),
    SearchBody("fuzzy", _REFERENCE, {"query": {"fuzzy": {"title": {"value": "slar", "fuzziness": 1}}}}),
    SearchBody("ids", _REFERENCE, {"query": {"ids": {"values": ["d1", "d2", "d29", "none"]}}}),
    SearchBody(
        "nested with inner hits",
        _REFERENCE,
        {
            "query": {
                "nested": {
                    "path": "comments",
                    "query": {
                        "bool": {
                            "must": [
                                {"match": {"comments.body": "told well"}},
                                {"range": {"comments.stars": {"gte": 3}}},
                            ]
                        }
                    },
                    "inner_hits": {"size": 1, "_source": ["comments.author"], "highlight": {"fields": {"*": {}}}},
                    "score_mode": "avg",
                }
            }
        },
        ("told well",),
    ),
    SearchBody(
        "sort by a nested field",
        _SHOP,
        {
            "query": {"match": {"title": "power"}},
            "sort": [
                {
                    "comments.stars": {
                        "mode": "max",
                        "order": "desc",
                        "nested": {"path": "comments", "filter": {"term": {"comments.author": "cleo"}}},
                    }
                },
                "_score",
                {"views": {"order": "asc", "missing": "_last"}},
            ],
        },
        ("power",),
    ),
    SearchBody(
        "near a place",
        "a map",
        {
            "query": {
                "bool": {
                    "must": {"match": {"text": "mountain"}},
                    "filter": {"geo_distance": {"distance": "120km", "place": {"lat": 46.2, "lon": 7.6}}},
                }
            },
            "sort": [{"_geo_distance": {"place": [7.6, 46.2], "order": "asc", "unit": "km"}}],
        },
        ("mountain",),
    ),
    SearchBody(
        "inside a box",
        "a map",
        {
            "query": {
                "geo_bounding_box": {
                    "place": {"top_left": {"lat": 47, "lon": 7}, "bottom_right": {"lat": 45.5, "lon": 9}}
                }
            },
            "aggs": {
                "cells": {"geohash_grid": {"field": "place", "precision": 4}},
                "box": {"geo_bounds": {"field": "place"}},
            },
        },
    ),
    SearchBody(
        "more like a text",
        _REFERENCE,
        {
            "query": {
                "more_like_this": {
                    "fields": ["title", "text"],
                    "like": "solar cells store energy in a battery",
                    "min_term_freq": 1,
                    "min_doc_freq": 2,
                }
            }
        },
        ("solar cells store energy in a battery",),
    ),
    SearchBody(
        "near a date",
        _REFERENCE,
        {
            "query": {
                "bool": {
                    "must": {"match": {"title": "web"}},
                    "should": {"distance_feature": {"field": "published", "pivot": "30d", "origin": "2024-03-01"}},
                }
            }
        },
        ("web",),
    ),
    SearchBody("knn", _CHAT, {"knn": _KNN, "_source": {"excludes": ["vector"]}}),
    SearchBody(
        "knn with a filter beside a query",
        _CHAT,
        {
            "query": {"match": {"text": {"query": "solar energy", "boost": 0.9}}},
            "knn": {**_KNN, "boost": 0.1, "filter": {"term": {"tags": "science"}}},
            "size": 8,
        },
        ("solar energy",),
    ),
    SearchBody(
        "two knn searches",
        _CHAT,
        {
            "knn": [
                {**_KNN, "k": 3, "_name": "first"},
                {**_KNN, "query_vector": _OTHER_VECTOR, "k": 3, "similarity": 0.5, "boost": 2},
            ]
        },
    ),
    SearchBody(
        "knn as a query",
        _REFERENCE,
        {
            "query": {
                "bool": {
                    "should": [
                        {"match": {"title": {"query": "hike", "boost": 1}}},
                        {"knn": {"field": "vector", "query_vector": _VECTOR, "num_candidates": 20, "boost": 2}},
                    ]
                }
            }
        },
        ("hike",),
    ),
    SearchBody(
        "standard retriever",
        _REFERENCE,
        {
            "retriever": {
                "standard": {
                    "query": {"match": {"text": "link analysis"}},
                    "filter": [{"term": {"tags": "science"}}],
                    "min_score": 0.01,
                }
            }
        },
        ("link analysis",),
    ),
    SearchBody(
        "knn retriever",
        _CHAT,
        {"retriever": {"knn": {**_KNN, "filter": {"range": {"views": {"gte": 20}}}}}, "fields": ["title"]},
    ),
    SearchBody(
        "rescoring retriever",
        _REFERENCE,
        {
            "retriever": {
                "rescorer": {
                    "rescore": {
                        "window_size": 10,
                        "query": {
                            "rescore_query": {"match_phrase": {"text": "solar panel"}},
                            "rescore_query_weight": 2,
                        },
                    },
                    "retriever": {"standard": {"query": {"match": {"text": "solar panel light"}}}},
                }
            }
        },
        ("solar panel", "solar panel light"),
    ),
    SearchBody(
        "reciprocal rank fusion",
        _CHAT,
        {
            "retriever": {
                "rrf": {
                    "retrievers": [
                        {"standard": {"query": {"match": {"text": "hiking boots"}}}},
                        {"knn": _KNN},
                    ],
                    "rank_constant": 20,
                    "rank_window_size": 50,
                }
            }
        },
        ("hiking boots",),
        needs="the rrf retriever",
    ),
    SearchBody(
        "rank fusion of one text",
        _CHAT,
        {"retriever": {"rrf": {"query": "hiking boots", "fields": ["title^2", "text"]}}},
        ("hiking boots",),
        needs="the rrf retriever",
    ),
    SearchBody(
        "linear retriever",
        _REFERENCE,
        {
            "retriever": {
                "linear": {
                    "retrievers": [
                        {
                            "retriever": {"standard": {"query": {"match": {"title": "web graph"}}}},
                            "weight": 2,
                            "normalizer": "minmax",
                        },
                        {"retriever": {"knn": _KNN}, "weight": 1.5, "normalizer": "minmax"},
                    ]
                }
            }
        },
        ("web graph",),
        needs="the linear retriever",
    ),
    SearchBody(
        "reranking retriever",
        _CHAT,
        {
            "retriever": {
                "text_similarity_reranker": {
                    "retriever": {"standard": {"query": {"match": {"text": "battery"}}}},
                    "field": "text",
                    "inference_id": "my-reranker",
                    "inference_text": "how is sunlight kept for the night?",
                    "rank_window_size": 50,
                }
            }
        },
        ("how is sunlight kept for the night?", "battery"),
        needs="inference endpoints",
    ),
    SearchBody(
        "query rules over pinned documents",
        _SHOP,
        {
            "retriever": {
                "rule": {
                    "match_criteria": {"query_string": "boots"},
                    "ruleset_ids": ["my-rules"],
                    "retriever": {
                        "pinned": {"ids": ["d2"], "retriever": {"standard": {"query": {"match": {"text": "boots"}}}}}
                    },
                }
            }
        },
        ("boots",),
        needs="query rules",
    ),
    SearchBody(
        "semantic query",
        _CHAT,
        {"query": {"semantic": {"field": "meaning", "query": "what to wear on a long walk"}}},
        ("what to wear on a long walk",),
        needs="semantic_text fields",
    ),
    SearchBody(
        "sparse vector query",
        _CHAT,
        {
            "query": {
                "bool": {
                    "should": [
                        {"sparse_vector": {"field": "tokens", "inference_id": "my-elser", "query": "store sunlight"}},
                        {"match": {"title": "solar"}},
                    ]
                }
            }
        },
        ("store sunlight", "solar"),
        needs="inference endpoints",
    ),
    SearchBody(
        "knn of an embedded text",
        _CHAT,
        {
            "knn": {
                "field": "vector",
                "k": 5,
                "num_candidates": 50,
                "query_vector_builder": {
                    "text_embedding": {"model_id": "my-model", "model_text": "walks in the mountains"}
                },
            }
        },
        ("walks in the mountains",),
        needs="inference endpoints",
    ),
    SearchBody(
        "collapse with inner hits",
        _SHOP,
        {
            "query": {"match": {"text": "mountain power"}},
            "collapse": {
                "field": "views",
                "inner_hits": {"name": "newest", "size": 2, "sort": [{"published": "desc"}]},
            },
            "sort": [{"_score": "desc"}, {"views": "asc"}],
        },
        ("mountain power",),
    ),
    SearchBody(
        "post filter with facets",
        _SEARCHKIT,
        {
            "query": {"multi_match": {"query": "power", "fields": ["title", "text"]}},
            "post_filter": {"bool": {"must": [{"term": {"tags": "energy"}}]}},
            "aggs": {
                "tags": {"filter": {"match_all": {}}, "aggs": {"values": {"terms": {"field": "tags"}}}},
                "views": {"stats": {"field": "views"}},
            },
        },
        ("power",),
    ),
    SearchBody(
        "search after",
        _DISCOVER,
        {"query": {"match_all": {}}, "sort": [{"views": "desc"}, {"title.keyword": "asc"}], "search_after": [70, "B"]},
    ),
    SearchBody(
        "point in time",
        _DISCOVER,
        {"query": {"match": {"text": "web"}}, "sort": [{"published": "asc"}, {"_shard_doc": "asc"}], "size": 4},
        ("web",),
        with_pit=True,
    ),
    SearchBody(
        "fields without source",
        _DISCOVER,
        {
            "query": {"match": {"text": "solar"}},
            "fields": ["t*", {"field": "published", "format": "epoch_millis"}, "comments.author"],
            "_source": False,
        },
        ("solar",),
    ),
    SearchBody(
        "source includes and excludes",
        _REFERENCE,
        {
            "query": {"match": {"text": "solar"}},
            "_source": {"includes": ["t*", "comments.*"], "excludes": ["*.body", "text"]},
        },
        ("solar",),
    ),
    SearchBody(
        "stored and doc value fields",
        _REFERENCE,
        {
            "query": {"term": {"tags": "short"}},
            "stored_fields": "_none_",
            "docvalue_fields": ["views", {"field": "published", "format": "yyyy"}],
        },
    ),
    SearchBody(
        "highlights",
        _SEARCHKIT,
        {
            "query": {"match": {"text": "solar light"}},
            "highlight": {
                "pre_tags": ["<em>"],
                "post_tags": ["</em>"],
                "encoder": "html",
                "require_field_match": False,
                "fields": {
                    "text": {"type": "unified", "fragment_size": 60, "number_of_fragments": 2, "order": "score"},
                    "title": {"type": "plain", "number_of_fragments": 0, "no_match_size": 30},
                    "t*": {"highlight_query": {"match": {"title": "article"}}},
                },
            },
        },
        ("solar light",),
    ),
    SearchBody(
        "suggestions",
        _SHOP,
        {
            "query": {"match": {"title": "slar"}},
            "suggest": {
                "text": "slar pover",
                "words": {"term": {"field": "text", "suggest_mode": "always"}},
                "phrases": {"phrase": {"field": "text", "size": 2, "highlight": {"pre_tag": "[", "post_tag": "]"}}},
            },
        },
        ("slar",),
    ),
    SearchBody(
        "aggregations below aggregations",
        _SHOP,
        {
            "size": 0,
            "aggs": {
                "tags": {
                    "terms": {"field": "tags", "order": {"average": "desc"}, "missing": "none", "min_doc_count": 2},
                    "aggs": {
                        "average": {"avg": {"field": "views"}},
                        "best": {"top_hits": {"size": 1, "sort": [{"views": "desc"}], "_source": ["title"]}},
                    },
                }
            },
        },
    ),
    SearchBody(
        "histograms",
        _DISCOVER,
        {
            "query": {"bool": {"filter": [{"range": {"published": {"gte": "2024-02-01"}}}]}},
            "size": 0,
            "track_total_hits": True,
            "aggs": {
                "months": {
                    "date_histogram": {"field": "published", "calendar_interval": "month", "min_doc_count": 0},
                    "aggs": {"tags": {"terms": {"field": "tags"}}, "sum": {"sum": {"field": "views"}}},
                },
                "views": {"histogram": {"field": "views", "interval": 25}},
                "classes": {"range": {"field": "views", "ranges": [{"to": 30}, {"from": 30, "to": 60}, {"from": 60}]}},
                "highest": {"max_bucket": {"buckets_path": "months>sum"}},
            },
        },
    ),
    SearchBody(
        "figures",
        _DISCOVER,
        {
            "size": 0,
            "aggs": {
                "percentiles": {"percentiles": {"field": "views", "percents": [50, 95]}},
                "count": {"value_count": {"field": "views"}},
                "different": {"cardinality": {"field": "tags"}},
                "extended": {"extended_stats": {"field": "views"}},
                "without": {"missing": {"field": "groups"}},
            },
        },
    ),
    SearchBody(
        "filters, global and nested aggregations",
        _SHOP,
        {
            "query": {"match": {"text": "mountain"}},
            "size": 2,
            "aggs": {
                "kinds": {"filters": {"filters": {"far": {"term": {"tags": "travel"}}, "near": {"match_all": {}}}}},
                "all": {"global": {}, "aggs": {"tags": {"terms": {"field": "tags"}}}},
                "comments": {
                    "nested": {"path": "comments"},
                    "aggs": {
                        "authors": {
                            "terms": {"field": "comments.author"},
                            "aggs": {"articles": {"reverse_nested": {}}},
                        }
                    },
                },
            },
        },
        ("mountain",),
    ),
    SearchBody(
        "composite and significant terms",
        _DISCOVER,
        {
            "query": {"match": {"text": "panel"}},
            "size": 0,
            "aggs": {
                "pages": {
                    "composite": {
                        "size": 5,
                        "sources": [
                            {"tag": {"terms": {"field": "tags"}}},
                            {"month": {"date_histogram": {"field": "published", "calendar_interval": "month"}}},
                        ],
                    }
                },
                "unusual": {"significant_terms": {"field": "tags", "min_doc_count": 2}},
                "words": {
                    "sampler": {"shard_size": 50},
                    "aggs": {"words": {"significant_text": {"field": "text", "min_doc_count": 2}}},
                },
            },
        },
        ("panel",),
    ),
    SearchBody(
        "rescore",
        _REFERENCE,
        {
            "query": {"match": {"text": {"query": "random walk links", "operator": "or"}}},
            "rescore": {
                "window_size": 20,
                "query": {"rescore_query": {"match_phrase": {"text": {"query": "random walk", "slop": 2}}}},
            },
        },
        ("random walk links", "random walk"),
    ),
    SearchBody(
        "details of each hit",
        "a developer",
        {
            "query": {"match": {"title": {"query": "web graph", "_name": "by title"}}},
            "explain": True,
            "version": True,
            "seq_no_primary_term": True,
            "track_scores": True,
            "sort": ["published", "_doc"],
            "min_score": 0.1,
            "timeout": "5s",
            "stats": ["front page"],
        },
        ("web graph",),
    ),
)
assert len(SEARCH_BODIES) == 70 and len({one.name for one in SEARCH_BODIES}) == 70
