"""The grammar of searches that callers with limited groups may send, without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from indexer.engines.attached_source import SourceAccess, SourceFields
from indexer.engines.field_guard import make_field_guard
from indexer.errors import BadParameter, Forbidden, PhraseComError, Unavailable
from tests.support.search_bodies import MAPPINGS, SEARCH_BODIES
from webapi.search.limited.restricted_body import restrict_body
from webapi.search.limited.restricted_response import restrict_response

MAPPED = {
    "properties": MAPPINGS["properties"]
    | {
        "meaning": {"type": "semantic_text"},
        "sense": {"type": "alias", "path": "meaning"},
        "tokens": {"type": "sparse_vector"},
        "labels": {"type": "flattened"},
    }
}
TYPES = {
    **{name: options["type"] for name, options in MAPPINGS["properties"].items() if name != "comments"},
    "title.keyword": "keyword",
    "comments.author": "keyword",
    "comments.body": "text",
    "comments.stars": "integer",
    "meaning": "text",  # as Elasticsearch says when it is asked for the types of fields
    "sense": "text",
    "tokens": "sparse_vector",
    "labels": "flattened",
}
FIELDS = SourceFields({name: frozenset({type}) for name, type in TYPES.items()})
ACCESS = SourceAccess(
    frozenset({"guests"}), ["d1", "d2"], make_field_guard({"articles-1": MAPPED}, "groups", is_mapped=True)
)
FILTER = {"term": {"READABLE": True}}
KNN = {"field": "vector", "query_vector": [1, 2], "k": 3, "num_candidates": 9}
MATCH = {"match": {"title": "web"}}


def restrict(body: object) -> dict[str, Any]:
    return restrict_body(body, FIELDS, ACCESS, FILTER)


def restrict_query(query: dict[str, Any]) -> Any:
    """Return a restricted query without the filter around it."""
    return restrict({"query": query})["query"]["bool"]["must"][0]


def iterate_places(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every value of a JSON document with its path."""
    yield path, node
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in entries:
        yield from iterate_places(value, (*path, name))


def copy_with(node: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of a JSON document with the value at a path replaced."""
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = copy_with(copy[path[0]], path[1:], value)
    return copy


def list_accepted_bodies() -> list[dict[str, Any]]:
    bodies = [json.loads(json.dumps(one.body)) for one in SEARCH_BODIES]
    accepted = []
    for body in bodies:
        try:
            restrict(body)
        except PhraseComError:
            continue
        accepted.append(body)
    assert len(accepted) > 50
    return accepted


REFUSED: dict[str, Any] = {
    # what reads other documents
    "query.wrapper": {"query": {"wrapper": {"query": "eyJtYXRjaF9hbGwiOnt9fQ=="}}},
    "query.bool.filter[0].wrapper": {"query": {"bool": {"filter": {"wrapper": {"query": "e30="}}}}},
    "query.more_like_this": {"query": {"more_like_this": {"fields": ["text"], "like": [{"_id": "d5"}]}}},
    "query.percolate": {"query": {"percolate": {"field": "title", "document": {}}}},
    "query.geo_shape.place.indexed_shape": {
        "query": {"geo_shape": {"place": {"indexed_shape": {"index": "shapes", "id": "x"}}}}
    },
    "query.has_child": {"query": {"has_child": {"type": "answer", "query": MATCH}}},
    "query.has_parent": {"query": {"has_parent": {"parent_type": "question", "query": MATCH}}},
    "query.pinned": {"query": {"pinned": {"ids": ["d5"], "organic": MATCH}}},
    "query.rule": {"query": {"rule": {"ruleset_ids": ["x"], "match_criteria": {}, "organic": MATCH}}},
    "query.semantic": {"query": {"semantic": {"field": "meaning", "query": "x"}}},
    "knn.query_vector_builder.lookup": {
        "knn": {"field": "vector", "k": 3, "query_vector_builder": {"lookup": {"index": "x", "id": "y"}}}
    },
    "retriever.rule": {"retriever": {"rule": {"retriever": {"standard": {"query": MATCH}}}}},
    "retriever.pinned": {"retriever": {"pinned": {"ids": ["d5"], "retriever": {"standard": {"query": MATCH}}}}},
    "retriever.rrf.query": {"retriever": {"rrf": {"query": "x", "fields": ["title"]}}},
    "pit": {"pit": {"id": "x"}},
    "runtime_mappings": {"runtime_mappings": {"x": {"type": "keyword"}}},
    "aggs.x.global": {"aggs": {"x": {"global": {}}}},
    "aggs.y.aggs.x.global": {"aggs": {"y": {"filter": MATCH, "aggs": {"x": {"global": {}}}}}},
    "aggs.x.children": {"aggs": {"x": {"children": {"type": "answer"}}}},
    "aggs.x.parent": {"aggs": {"x": {"parent": {"type": "answer"}}}},
    "collapse.inner_hits": {"knn": KNN, "collapse": {"field": "views", "inner_hits": {"name": "all"}}},
    "collapse.inner_hits of a vector search or retriever": {
        "retriever": {"knn": KNN},
        "collapse": {"field": "views", "inner_hits": [{"name": "all"}]},
    },
    # what depends on the words or counts of all documents
    "suggest": {"suggest": {"x": {"text": "webb", "term": {"field": "title"}}}},
    "aggs.x.terms.min_doc_count 0": {"aggs": {"x": {"terms": {"field": "tags", "min_doc_count": 0}}}},
    "aggs.x.multi_terms.min_doc_count 0": {
        "aggs": {"x": {"multi_terms": {"terms": [{"field": "tags"}, {"field": "views"}], "min_doc_count": 0}}}
    },
    "aggs.x.significant_terms": {"aggs": {"x": {"significant_terms": {"field": "tags"}}}},
    "aggs.x.significant_text": {"aggs": {"x": {"significant_text": {"field": "text"}}}},
    "aggs.x.sampler": {"aggs": {"x": {"sampler": {"shard_size": 5}}}},
    "query.prefix.title.rewrite top_terms_1": {
        "query": {"prefix": {"title": {"value": "w", "rewrite": "top_terms_1"}}}
    },
    "query.wildcard.title.rewrite scoring_boolean": {
        "query": {"wildcard": {"title": {"value": "w*", "rewrite": "scoring_boolean"}}}
    },
    "query.simple_query_string.query: ~": {"query": {"simple_query_string": {"query": "wab~1", "fields": ["title"]}}},
    "query.query_string.query: a word with ~": {"query": {"query_string": {"query": 'web "a b"~2 wob~'}}},
    "query.query_string.query: a backslash": {"query": {"query_string": {"query": 'wob\\"~1'}}},
    "query.query_string.type phrase_prefix": {
        "query": {"query_string": {"query": "web gr", "fields": ["title"], "type": "phrase_prefix"}}
    },
    "query.intervals.text.prefix": {"query": {"intervals": {"text": {"prefix": {"prefix": "w"}}}}},
    "query.match (meaning is searched by meaning)": {"query": {"match": {"meaning": "x"}}},
    "(sense is searched by meaning)": {"query": {"multi_match": {"query": "x", "fields": ["sense"]}}},
    "sort[0]._doc": {"sort": ["_doc"]},
    "sort[0]._shard_doc": {"sort": [{"_shard_doc": "asc"}]},
    "seq_no_primary_term true": {"seq_no_primary_term": True},
    "_seq_no": {"query": {"function_score": {"random_score": {"seed": 1, "field": "_seq_no"}}}},
    "query.function_score.random_score without a field": {"query": {"function_score": {"random_score": {"seed": 1}}}},
    "query.function_score.min_score": {"query": {"function_score": {"query": MATCH, "min_score": 1}}},
    "explain true": {"explain": True},
    "profile true": {"profile": True},
    "terminate_after": {"terminate_after": 1},
    "stats": {"stats": ["x"]},
    "indices_boost": {"indices_boost": [{"other": 2}]},
    "slice": {"slice": {"id": 0, "max": 2}},
    "ext": {"ext": {}},
    "stored_fields: _none_": {"stored_fields": "_none_"},
    # scripts
    "query.script": {"query": {"script": {"script": "true"}}},
    "query.script_score": {"query": {"script_score": {"query": MATCH, "script": {"source": "1"}}}},
    "query.function_score.script_score": {"query": {"function_score": {"script_score": {"script": "1"}}}},
    "query.terms_set.tags.minimum_should_match_script": {
        "query": {"terms_set": {"tags": {"terms": ["x"], "minimum_should_match_script": {"source": "1"}}}}
    },
    "script_fields": {"script_fields": {"x": {"script": "1"}}},
    "sort[0]._script": {"sort": {"_script": {"type": "number", "script": "1"}}},
    "aggs.x.scripted_metric": {"aggs": {"x": {"scripted_metric": {"map_script": "1"}}}},
    "aggs.x.terms.script": {"aggs": {"x": {"terms": {"script": "1"}}}},
    "aggs.x.bucket_script": {"aggs": {"x": {"bucket_script": {"buckets_path": {}, "script": "1"}}}},
    "aggs.x.bucket_selector": {"aggs": {"x": {"bucket_selector": {"buckets_path": {}, "script": "1"}}}},
    # what would show a part of the filter
    "highlight.fields.title: require_field_match": {
        "retriever": {"standard": {"query": MATCH}},
        "highlight": {"require_field_match": False, "fields": {"title": {}}},
    },
    "aggs.x.top_hits.highlight.fields.title: require_field_match": {
        "aggs": {"x": {"top_hits": {"highlight": {"fields": {"title": {"require_field_match": False}}}}}}
    },
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_might_tell_of_other_documents_is_refused_with_its_place(path: str) -> None:
    with pytest.raises(Forbidden) as refused:
        restrict(REFUSED[path])
    assert path in refused.value.detail
    assert "POST /v1/explanations" in refused.value.fix


def test_the_values_of_another_document_cannot_be_looked_up() -> None:
    with pytest.raises(Forbidden, match=r"query\.terms\.tags \(a lookup\)"):
        restrict({"query": {"terms": {"tags": {"index": "articles-1", "id": "d5", "path": "tags"}}}})


FIELD_NAMES = {*TYPES, "comments"}
NAMES_OF_THE_CALLER = {"aggs", "filters", "_name", "name"}
"""Members whose values, or the names in whose values, are chosen by the caller."""


def list_bodies_with_the_hidden_field() -> Iterator[Any]:
    """Yield every accepted body with one name of a field replaced by that of the field with the groups."""
    for body in list_accepted_bodies():
        for path, node in iterate_places(body):
            if "_source" in path or (path and path[-1] in NAMES_OF_THE_CALLER):
                continue
            if isinstance(node, str) and node.partition("^")[0] in FIELD_NAMES:
                yield copy_with(body, path, "groups")
            if isinstance(node, dict):
                for name in FIELD_NAMES & node.keys():
                    renamed = {("groups" if one == name else one): value for one, value in node.items()}
                    yield copy_with(body, path, renamed)


def test_the_hidden_field_is_refused_wherever_a_field_can_be_named() -> None:
    bodies = list(list_bodies_with_the_hidden_field())
    assert len(bodies) > 100
    for body in bodies:
        with pytest.raises(BadParameter, match="the source has no field 'groups'"):
            restrict(body)


@pytest.mark.parametrize("name", ["groups", "groups.raw", "unknown", "gro*", "*roups"])
def test_a_hidden_field_is_refused_as_one_that_does_not_exist(name: str) -> None:
    for body in (
        {"query": {"exists": {"field": name}}},
        {"query": {"nested": {"path": name, "query": {"match_all": {}}}}},
        {"query": {"multi_match": {"query": "x", "fields": [name]}}},
        {"query": {"query_string": {"query": "x", "default_field": name}}},
        {"query": {"terms_set": {"tags": {"terms": ["x"], "minimum_should_match_field": name}}}},
        {"query": {"intervals": {"text": {"match": {"query": "x", "use_field": name}}}}},
        {"query": {"distance_feature": {"field": name, "origin": "now", "pivot": "1d"}}},
        {"sort": [{"views": {"nested": {"path": name}}}]},
        {"sort": {"_geo_distance": {name: [1, 2]}}},
        {"fields": [name]},
        {"docvalue_fields": [{"field": name}]},
        {"stored_fields": name},
        {"highlight": {"fields": {"title": {"matched_fields": [name]}}}},
        {"highlight": {"fields": {"title": {"highlight_query": {"match": {name: "x"}}}}}},
        {"collapse": {"field": name}},
        {"rescore": {"query": {"rescore_query": {"match": {name: "x"}}}}},
        {"knn": {**KNN, "filter": {"term": {name: "x"}}}},
        {"retriever": {"standard": {"query": MATCH, "filter": {"term": {name: "x"}}}}},
        {"aggs": {"x": {"matrix_stats": {"fields": [name]}}}},
        {"aggs": {"x": {"missing": {"field": name}}}},
        {"aggs": {"x": {"composite": {"sources": [{"y": {"terms": {"field": name}}}]}}}},
        {"aggs": {"x": {"filters": {"filters": {"y": {"term": {name: "x"}}}}}}},
        {"aggs": {"x": {"top_hits": {"sort": [name]}}}},
        {"aggs": {"x": {"reverse_nested": {"path": name}}}},
    ):
        with pytest.raises(BadParameter, match="the source has no field"):
            restrict(body)


PLAIN_MEMBERS = {"origin", "place", "ranges", "order", "top_left", "bottom_right", "include", "exclude", "tdigest"}
"""Members of accepted bodies that may hold any object."""


@pytest.mark.parametrize("name", ["script", "index", "indexed_shape", "global", "rewrite", "lookup", "unknown"])
def test_a_name_that_no_table_has_is_refused_in_every_object(name: str) -> None:
    count = 0
    for body in list_accepted_bodies():
        for path, node in iterate_places(body):
            if isinstance(node, dict) and not PLAIN_MEMBERS & {str(part) for part in path} and name not in node:
                count += 1
                with pytest.raises((Forbidden, BadParameter)):
                    restrict(copy_with(body, path, {**node, name: {"source": "1"}}))
    assert count > 300


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ({}, 1),
        ({"query": MATCH}, 1),
        ({"knn": KNN}, 1),
        ({"knn": [KNN, {**KNN, "filter": MATCH}], "query": MATCH}, 3),
        ({"query": {"bool": {"should": [MATCH, {"knn": KNN}]}}}, 2),
        ({"query": {"nested": {"path": "comments", "query": {"knn": KNN}}}}, 2),
        ({"query": MATCH, "post_filter": {"knn": KNN}, "rescore": {"query": {"rescore_query": {"knn": KNN}}}}, 3),
        ({"aggs": {"x": {"filter": {"knn": KNN}}}}, 2),
        ({"retriever": {"standard": {}}}, 1),
        ({"retriever": {"rrf": {"retrievers": [{"standard": {"query": MATCH}}, {"knn": KNN}]}}}, 2),
        ({"retriever": {"linear": {"retrievers": [{"retriever": {"knn": KNN}, "weight": 2}]}}}, 1),
        ({"retriever": {"rescorer": {"retriever": {"standard": {"query": {"knn": KNN}}}, "rescore": {}}}}, 2),
        ({"retriever": {"text_similarity_reranker": {"retriever": {"knn": KNN}, "field": "text"}}}, 1),
        ({"retriever": {"standard": {}}, "query": MATCH}, 2),
        ({"knn": [], "size": 0, "aggs": {"x": {"terms": {"field": "tags"}}}}, 1),
    ],
)
def test_everything_that_finds_documents_has_the_filter(body: dict[str, Any], count: int) -> None:
    assert json.dumps(restrict(body)).count(json.dumps(FILTER)) == count


@pytest.mark.parametrize(
    "retriever",
    [
        {"rrf": {"retrievers": []}},
        {"linear": {}},
        {"rrf": {"retrievers": [{"standard": {"query": MATCH}}, {"linear": {"retrievers": []}}]}},
        {"rescorer": {"rescore": {}}},
    ],
)
def test_a_retriever_that_finds_nothing_by_itself_is_refused(retriever: dict[str, Any]) -> None:
    with pytest.raises(BadParameter, match="contains no search"):
        restrict({"retriever": retriever})


def test_the_filter_of_a_vector_search_stands_for_itself() -> None:
    filters = restrict({"knn": {**KNN, "filter": [MATCH, {"term": {"tags": "x"}}]}})["knn"][0]["filter"]
    assert len(filters) == 3 and filters[-1] == FILTER


def test_a_vector_search_alone_is_not_joined_with_all_documents() -> None:
    assert "query" not in restrict({"knn": KNN})
    assert "query" not in restrict({"retriever": {"knn": KNN}})


def test_patterns_are_expanded_to_the_fields_that_may_be_named() -> None:
    assert restrict_query({"multi_match": {"query": "x", "fields": ["t*^2"]}})["multi_match"]["fields"] == [
        *("tags^2", "text^2", "title^2", "title.keyword^2")
    ]
    everything = {"comments.author", "comments.body", "comments.stars", "published", "tags", "text", "title"}
    for kind in ("multi_match", "query_string", "simple_query_string"):
        searched = restrict_query({kind: {"query": "x"}})[kind]
        assert set(searched["fields"]) == everything | {"title.keyword", "views"}
        assert searched["lenient"] is True
    shown = {one["field"] for one in restrict({"fields": ["*"]})["fields"]}
    assert shown == TYPES.keys() - {"groups", "meaning", "sense"}
    marked = [name for one in restrict({"highlight": {"fields": {"*": {}}}})["highlight"]["fields"] for name in one]
    assert marked == ["comments.author", "comments.body", "tags", "text", "title", "title.keyword"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("tit*", ["title", "title.keyword"]),
        ("*word", ["title.keyword"]),
        ("t*t", ["text"]),
        ("c*s.*t*r*", ["comments.author", "comments.stars"]),
        ("**tags**", ["tags"]),
    ],
)
def test_a_pattern_means_what_it_means_to_elasticsearch(pattern: str, names: list[str]) -> None:
    assert [one["field"] for one in restrict({"fields": [pattern]})["fields"]] == names


def test_patterns_cannot_be_made_expensive() -> None:
    long_name = "a" * 200
    fields = SourceFields({long_name: frozenset({"text"})})
    pattern = "*a" * 60 + "*b"
    for body in ({"fields": [pattern]}, {"query": {"exists": {"field": f"labels.{pattern}"}}}):
        with pytest.raises(BadParameter, match="no field"):
            restrict_body(body, fields, ACCESS, FILTER)
    with pytest.raises(BadParameter, match="too many patterns"):
        restrict({"fields": ["t*"] * 1001})


def test_a_search_in_no_field_is_refused() -> None:
    with pytest.raises(BadParameter, match="needs fields"):
        restrict({"query": {"multi_match": {"query": "x", "fields": []}}})


def test_records_are_shown_without_the_hidden_field() -> None:
    hidden = {"excludes": ["groups"]}
    assert restrict({})["_source"] == hidden
    assert restrict({"_source": True})["_source"] == hidden
    assert restrict({"_source": False})["_source"] is False
    assert restrict({"_source": "gro*"})["_source"] == {"includes": ["gro*"]} | hidden
    both = restrict({"_source": {"includes": ["t*"], "exclude": ["text"]}})["_source"]
    assert both == {"includes": ["t*"], "excludes": ["text", "groups"]}
    assert "_source" not in restrict({"stored_fields": ["title"]})
    assert restrict({"collapse": {"field": "views", "inner_hits": {}}})["collapse"]["inner_hits"] == [
        {"_source": hidden}
    ]
    assert restrict({"aggs": {"x": {"top_hits": {}}}})["aggs"]["x"]["top_hits"] == {"_source": hidden}
    nested = {"nested": {"path": "comments", "query": {"match_all": {}}, "inner_hits": {}}}
    assert restrict_query(nested)["nested"]["inner_hits"] == {"_source": hidden}


def test_similar_words_are_searched_for_without_a_limit() -> None:
    unlimited = 2**31 - 1
    assert restrict_query({"match": {"title": {"query": "wob", "fuzziness": "AUTO", "max_expansions": 1}}}) == {
        "bool": {
            "must": [
                {
                    "match": {
                        "title": {
                            "query": "wob",
                            "fuzziness": "AUTO",
                            "max_expansions": unlimited,
                            "fuzzy_rewrite": "constant_score",
                        }
                    }
                }
            ],
            "should": [{"match": {"title": {"query": "wob"}}}],
        }
    }
    prefix = restrict_query({"match_phrase_prefix": {"title": "web gr"}})["match_phrase_prefix"]["title"]
    assert prefix == {"query": "web gr", "max_expansions": unlimited}
    assert restrict_query({"fuzzy": {"title": "wob"}})["fuzzy"]["title"]["rewrite"] == "constant_score"
    weighted = restrict_query({"sparse_vector": {"field": "tokens", "query_vector": {"sun": 0.5}}})["sparse_vector"]
    assert weighted["prune"] is False


@pytest.mark.parametrize(
    "text",
    [
        *("web graph", "*:*", 'title:"web graph" -text:mountain +views:[10 TO 90]', "(title:web OR tags:a) AND text:b"),
        *("title :web", "views:>10", "we?b gra*", "comments.author:ann", 'title:"web graph"~2', "web^2 title:x"),
    ],
)
def test_a_query_string_may_name_visible_fields(text: str) -> None:
    assert restrict_query({"query_string": {"query": text}})["query_string"]["query"] == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "groups:staff",
            "web groups : staff",
            "(groups:staff)",
            "+groups:staff",
            "-groups:x",
            "!groups:x",
            "a!groups:x",
        ),
        *("gro\\ups:staff", "gro\\*:staff", "g*:staff", "_exists_:groups", "_ignored:groups", "title:groups:x"),
        *("web^2groups:staff", "web~2groups:x", "web^2title:x", "*title:x", '"a groups:b"', "/x/title:y", "*:* a:b"),
        *("title\\:x", "groups\u3000:x", "groups\n:x", ":x", "a\tgroups:x", "[a TO b]groups:x", "&&groups:x"),
    ],
)
def test_a_query_string_names_no_other_field(text: str) -> None:
    with pytest.raises((BadParameter, Forbidden), match=r"query\.query_string\.query"):
        restrict({"query": {"query_string": {"query": text}}})


@pytest.mark.parametrize("options", [{}, {"require_field_match": False}])
def test_the_filter_takes_no_part_in_highlighting(options: dict[str, Any]) -> None:
    highlight = {**options, "fields": {"title": {}}}
    assert restrict({"query": MATCH, "highlight": highlight})["highlight"]["highlight_query"]["match"]["title"]
    given = restrict({"query": MATCH, "highlight": {"highlight_query": {"match": {"text": "x"}}, **highlight}})
    assert "text" in given["highlight"]["highlight_query"]["match"]


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"match": {"title": {"query": "web", "boost": 10**400}}}},
        {"query": {"range": {"views": {"gte": float("inf")}}}},
        {"query": {"match": {"title": None}}},
        {"query": {"match": {"title": ["web"]}}},
        {"query": {"match": {"title": "web", "text": "web"}}},
        {"query": []},
        {"query": {}},
        {"aggs": {"x": {}}},
        {"aggs": {"x": {"avg": {"field": "views"}, "max": {"field": "views"}}}},
        {"aggs": {"x": {"terms": {"field": "tags", "min_doc_count": "0"}}}},
        {"highlight": {"require_field_match": "false", "fields": {"title": {}}}},
        {"highlight": []},
        {"fields": [7]},
        {"sort": 7},
        {"_source": 7},
        [],
        {"knn": [KNN] * 11},
    ],
)
def test_values_of_a_wrong_shape_are_refused(body: Any) -> None:
    with pytest.raises(BadParameter):
        restrict(body)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"query": {"bool": {"must": inner["query"]}}},
        lambda inner: {"query": inner["query"], "aggs": {"x": {"filter": MATCH, "aggs": inner.get("aggs", {})}}},
        lambda inner: {"query": inner["query"], "search_after": [inner.get("search_after")]},
        lambda inner: {"query": inner["query"], "sort": {"views": {"nested": {"nested": inner.get("sort", {})}}}},
    ],
)
def test_bodies_are_not_nested_endlessly(wrap: Any) -> None:
    body: dict[str, Any] = {"query": MATCH}
    for _ in range(150):
        body = wrap(body)
    with pytest.raises((BadParameter, Forbidden)):
        restrict(body)


RESPONSE = {
    "took": 3,
    "timed_out": False,
    "pit_id": "x",
    "_shards": {"total": 2, "successful": 1, "skipped": 1, "failed": 1, "failures": [{"reason": "groups"}]},
}


def make_response(hit: dict[str, Any]) -> dict[str, Any]:
    return RESPONSE | {"hits": {"total": {"value": 1, "relation": "eq"}, "max_score": 1.0, "hits": [hit]}}


def make_hit(**more: Any) -> dict[str, Any]:
    return {"_index": "articles-1", "_id": "d1", "_score": 1.0, **more}


def test_a_response_shows_no_hidden_field_and_nothing_that_counts_others() -> None:
    hidden = {
        "_source": {"title": "x", "groups": ["staff"], "_inference_fields": {}},
        "fields": {"title": ["x"], "groups": ["staff"]},
        "highlight": {"groups": ["staff"]},
        "_ignored": ["groups"],
        "ignored_field_values": {"groups": ["staff"]},
        "_seq_no": 7,
        "_explanation": {},
    }
    whole = make_hit(**hidden, inner_hits={"all": {"hits": {"hits": [make_hit(**hidden)]}}})
    aggregations = {"x": {"buckets": [{"key": "a", "y": {"hits": {"hits": [make_hit(**hidden)]}}}]}}
    seen = restrict_response(make_response(whole) | {"aggregations": aggregations}, ACCESS)
    clean = make_hit(_source={"title": "x"}, fields={"title": ["x"]}, highlight={})
    assert seen["hits"]["hits"] == [clean | {"inner_hits": {"all": {"hits": {"hits": [clean]}}}}]
    assert seen["aggregations"]["x"]["buckets"][0]["y"]["hits"]["hits"] == [clean]
    assert seen["_shards"] == {"total": 2, "successful": 1, "skipped": 0, "failed": 1}
    assert seen.keys() == {"took", "timed_out", "_shards", "hits", "aggregations"}


def test_the_names_of_aggregations_are_the_callers_own() -> None:
    aggregations = {"x": {"_index": {"value": 1}, "_id": {"value": 2}, "hits": {"value": 3}}}
    assert restrict_response(make_response(make_hit()) | {"aggregations": aggregations}, ACCESS)["aggregations"] == (
        aggregations
    )


def test_a_nested_hit_is_stripped_by_its_path_in_the_document() -> None:
    guard = make_field_guard({"articles-1": MAPPED}, "comments.author", is_mapped=True)
    access = SourceAccess(ACCESS.groups, ACCESS.readable_ids, guard)
    nested = make_hit(_nested={"field": "comments", "offset": 0}, _source={"author": "ann", "body": "x"})
    seen = restrict_response(make_response(make_hit(inner_hits={"c": {"hits": {"hits": [nested]}}})), access)
    assert seen["hits"]["hits"][0]["inner_hits"]["c"]["hits"]["hits"][0]["_source"] == {"body": "x"}


@pytest.mark.parametrize(
    "hit",
    [
        make_hit(_id="d5"),
        make_hit(_index="other"),
        {"_score": 1.0, "_source": {"title": "x"}},
        make_hit(inner_hits={"all": {"hits": {"hits": [make_hit(_id="d5")]}}}),
    ],
)
def test_a_response_with_an_unreadable_document_is_not_sent(hit: dict[str, Any]) -> None:
    with pytest.raises(Unavailable):
        restrict_response(make_response(hit), ACCESS)
