"""Queries that a caller with limited groups may send to an attached source, and what hits may show.

Two kinds of queries depend on documents that the query itself does not find, so that a filter around them is not
enough. A vector search returns the nearest documents of all: the filter is put into it. A fuzzy word or an unfinished
phrase is replaced by the first few similar words of the whole index: there, no number of words is too large.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from webapi.search.body import MAX_INTEGER, require_object, require_text, wrap_in_list
from webapi.search.limited.grammar import (
    HIGHLIGHTED_TYPES,
    Part,
    RewriteContext,
    by_field,
    check_field,
    check_flag,
    check_plain,
    check_scalar,
    check_searched_fields,
    choose_from,
    list_of,
    make_refusal,
    object_of,
    one_of_kind,
    plains,
    scalars,
    with_options,
)

_FUZZY_OPTIONS = "fuzziness prefix_length fuzzy_transpositions max_expansions fuzzy_rewrite"
_ALL_FIELDS = ["*"]
_LUCENE_SPACES = " \t\n\r\u3000"
_BEFORE_A_NAME = re.compile(rf'([{_LUCENE_SPACES}!():^\[\]"{{}}~*?/])')
"""Characters that are not part of a name in Lucene's query language."""


def check_query(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return a query, with the filter in its vector searches and without limits of similar words."""
    ((kind, checked),) = one_of_kind(_QUERIES)(scope, value, path).items()
    if kind in ("match", "match_bool_prefix", "match_phrase_prefix", "multi_match"):
        return _remove_expansion_limits(kind, checked)
    return {kind: checked}


def _remove_expansion_limits(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query that finds all words that are similar, or begin, as a match of words says.

    A fuzzy match finds them all if each has the same score; exact words score as usual beside it.
    """
    field = "" if kind == "multi_match" else next(iter(content))

    def build(options: Mapping[str, Any]) -> dict[str, Any]:
        return {kind: {field: options} if field else options}

    options = {**(content[field] if field else content), "max_expansions": MAX_INTEGER}
    if "fuzziness" not in options:
        return build({name: value for name, value in options.items() if name != "fuzzy_rewrite"})
    left_out = {*_FUZZY_OPTIONS.split(), "_name"}
    exact = build({name: value for name, value in options.items() if name not in left_out})
    return {"bool": {"must": [build(options | {"fuzzy_rewrite": "constant_score"})], "should": [exact]}}


def _search_all_fields(part: Part) -> Part:
    """Make a part for a query that names its ``fields`` or searches all of them, hidden ones included if left alone."""

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        options = dict(require_object(value, path))
        default = options.pop("default_field", _ALL_FIELDS)
        fields = options.setdefault("fields", default)
        checked = part(scope, options, path)
        return {"lenient": True} | checked if fields in ("*", _ALL_FIELDS) else checked

    return check


def _check_simple_query_string(scope: RewriteContext, value: object, path: str) -> str:
    """Return a text without ``~``: only a few of the words that are similar to a fuzzy one would be searched for."""
    text = require_text(value, path)
    if "~" in text:
        raise make_refusal(f"{path}: ~")
    return text


def _check_query_string(scope: RewriteContext, value: object, path: str) -> str:
    """Return a text in Lucene's query language if every name before a colon is a field that the caller may name.

    Colons count also where the language would not take them for the end of a name, as in a phrase. A name may not
    follow a number after ``^`` or ``~`` directly, where Lucene would split them.
    """
    text = require_text(value, path)
    if text.strip() == "*:*":
        return text
    if "\\" in text and (":" in text or "~" in text):
        raise make_refusal(f"{path}: a backslash beside : or ~")
    if re.search(r'(?<!")~', text):  # not after a phrase: only the first of the similar words would be searched for
        raise make_refusal(f"{path}: a word with ~")
    *before_colons, _ = text.split(":")
    for before in before_colons:
        *_, separator, name = _BEFORE_A_NAME.split(" " + before.rstrip(_LUCENE_SPACES))
        if separator in "^~*?/":
            raise make_refusal(f"{path}: {name[:80]!r} before a colon")
        scope.check_field(name.lstrip("+-"), path)
    return text


def check_queries(scope: RewriteContext, value: object, path: str) -> list[Any]:
    """Return a list of queries."""
    return [check_query(scope, one, f"{path}[{number}]") for number, one in enumerate(wrap_in_list(value))]


def check_knn(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return a vector search in the documents that the caller may read."""
    checked: dict[str, Any] = _KNN_OPTIONS(scope, value, path)
    return checked | {"filter": scope.limit_filters(checked.get("filter", []))}


def _check_interval_rule(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return a rule of ``intervals``; those that stand for many words fail if the whole index has too many of them."""
    checked: dict[str, Any] = one_of_kind(_INTERVAL_RULES)(scope, value, path)
    return checked


_check_interval_rules = list_of(_check_interval_rule)
_INTERVAL_FILTER = object_of(
    dict.fromkeys(
        "after before contained_by containing not_contained_by not_containing not_overlapping overlapping".split(),
        _check_interval_rule,
    )
)
_INTERVAL_RULES: dict[str, Part] = {
    "match": object_of(
        {"use_field": check_field, "filter": _INTERVAL_FILTER, **scalars("query max_gaps ordered analyzer")}
    ),
    "all_of": object_of(
        {"intervals": _check_interval_rules, "filter": _INTERVAL_FILTER, **scalars("max_gaps ordered")}
    ),
    "any_of": object_of({"intervals": _check_interval_rules, "filter": _INTERVAL_FILTER}),
}


# What a hit shows.


def check_source_filter(scope: RewriteContext, value: object, path: str) -> Any:
    """Return which parts of the record are shown, without the hidden ones."""
    if value is False or not scope.guard.hidden:
        return check_plain(scope, value, path)
    names = list_of(check_scalar)
    if isinstance(value, str | list):
        value = {"includes": value}
    if value is True:
        value = {}
    members = dict.fromkeys(("includes", "include", "excludes", "exclude"), names) | {"exclude_vectors": check_flag}
    options = object_of(members)(scope, value, path)
    excludes = [*options.pop("exclude", []), *options.pop("excludes", []), *sorted(scope.guard.hidden)]
    return options | {"excludes": excludes}


def _check_shown_fields(scope: RewriteContext, value: object, path: str) -> list[Any]:
    """Return the fields whose values are shown, with patterns expanded."""
    shown: list[Any] = []
    for number, one in enumerate(wrap_in_list(value)):
        inner_path = f"{path}[{number}]"
        options = {"field": one} if isinstance(one, str) else dict(require_object(one, inner_path))
        names = scope.expand_field(options.pop("field", None), inner_path)
        formats = object_of(scalars("format"))(scope, options, inner_path)
        shown += [{"field": name, **formats} for name in names]
    return shown


def _check_stored_fields(scope: RewriteContext, value: object, path: str) -> list[str]:
    """Return the stored fields that are shown; ``_none_`` would leave out the id, by which a hit is checked."""
    return [scope.check_field(name, path) for name in wrap_in_list(value)]


def check_sort(scope: RewriteContext, value: object, path: str) -> list[Any]:
    """Return the keys of a sort; the number of a document in the index (``_doc``) would count others."""
    return [_check_sort_key(scope, one, f"{path}[{number}]") for number, one in enumerate(wrap_in_list(value))]


def _check_sort_key(scope: RewriteContext, value: object, path: str) -> Any:
    if value == "_score":
        return value
    key = {value: {}} if isinstance(value, str) else require_object(value, path)
    if len(key) == 1 and (name := next(iter(key))).startswith("_"):
        if name not in _METADATA_SORTS:
            raise make_refusal(f"{path}.{name[:80]}")
        return {name: _METADATA_SORTS[name](scope, key[name], f"{path}.{name[:80]}")}
    return _SORT_BY_FIELD(scope, key, path)


def _check_nested_sort(scope: RewriteContext, value: object, path: str) -> Any:
    return scope.enter(_NESTED_SORT, value, path)


_NESTED_SORT = object_of(
    {"path": check_field, "filter": check_query, "nested": _check_nested_sort, **scalars("max_children")}
)
_SORT_BY_FIELD = by_field(
    object_of({"nested": _check_nested_sort, **scalars("order mode missing unmapped_type format numeric_type")}),
    shorthand="order",
)


def _check_score_sort(scope: RewriteContext, value: object, path: str) -> Any:
    return object_of(scalars("order"))(scope, value if isinstance(value, Mapping) else {"order": value}, path)


_METADATA_SORTS: dict[str, Part] = {
    "_score": _check_score_sort,
    "_geo_distance": by_field(
        check_plain,
        {"nested": _check_nested_sort, **scalars("order unit mode distance_type ignore_unmapped validation_method")},
    ),
}


def check_highlight(scope: RewriteContext, value: object, path: str) -> dict[str, Any]:
    """Return what is highlighted, with patterns of fields expanded.

    Without ``require_field_match``, words of any field are marked, and so would be the groups in the filter: then a
    ``highlight_query`` is needed.
    """
    options = dict(require_object(value, path))
    fields = options.pop("fields", {})
    checked: dict[str, Any] = _HIGHLIGHT_OPTIONS(scope, options, path)
    entries = [entry for one in wrap_in_list(fields) for entry in require_object(one, f"{path}.fields").items()]
    checked["fields"] = []
    for pattern, field_options in entries:
        inner_path = f"{path}.fields.{pattern}"
        inner = _HIGHLIGHT_OPTIONS(scope, field_options, inner_path)
        both = checked | inner
        if both.get("require_field_match", True) is False and "highlight_query" not in both:
            raise make_refusal(f"{inner_path}: require_field_match false without highlight_query")
        names = scope.expand_field(pattern, inner_path, HIGHLIGHTED_TYPES)
        checked["fields"] += [{name: inner} for name in names]
    return checked


_HIGHLIGHT_OPTIONS = object_of(
    {
        "highlight_query": check_query,
        "require_field_match": check_flag,
        "matched_fields": list_of(check_field),
        "pre_tags": list_of(check_scalar),
        "post_tags": list_of(check_scalar),
        **scalars("number_of_fragments fragment_size fragment_offset no_match_size type encoder fragmenter order"),
        **scalars("tags_schema boundary_chars boundary_max_scan boundary_scanner boundary_scanner_locale"),
        **scalars("phrase_limit max_analyzed_offset"),
    }
)
HIT_OPTIONS: dict[str, Part] = {
    "_source": check_source_filter,
    "fields": _check_shown_fields,
    "docvalue_fields": _check_shown_fields,
    "stored_fields": _check_stored_fields,
    "highlight": check_highlight,
    "sort": check_sort,
    "explain": choose_from(False),
    "seq_no_primary_term": choose_from(False),
    **scalars("from size version track_scores"),
}
"""What may be asked of the hits of a search, of an aggregation or inside another hit.

Explanations name the filter; sequence numbers count the writes of other documents.
"""


def check_hits(members: Mapping[str, Part]) -> Part:
    """Make a part for a search for hits, with ``HIT_OPTIONS`` and other members; hidden fields are not shown."""
    part = object_of({**HIT_OPTIONS, **members})

    def check(scope: RewriteContext, value: object, path: str) -> Any:
        checked = part(scope, value, path)
        if {"_source", "stored_fields"} & checked.keys():  # stored fields are shown instead of the record
            return checked
        return checked | {"_source": check_source_filter(scope, True, path)}

    return check


check_inner_hits = check_hits({"collapse": object_of({"field": check_field}), **scalars("name ignore_unmapped")})


# Queries.

_COMMON = scalars("boost _name")
_WORDS = _COMMON | scalars("query analyzer lenient zero_terms_query auto_generate_synonyms_phrase_query")
_OPERATOR = scalars("operator minimum_should_match")
_FUZZY = scalars(_FUZZY_OPTIONS)
_check_rewrite = choose_from("constant_score", "constant_score_blended")
"""The ways to replace a pattern by words that have no limit."""
_DECAY = by_field(object_of(plains("origin scale offset decay")), scalars("multi_value_mode"))


def _check_terms(scope: RewriteContext, value: object, path: str) -> list[Any]:
    """Return the values of a ``terms`` query, which are not looked up in another document."""
    if isinstance(value, Mapping):
        raise make_refusal(f"{path} (a lookup)")
    checked: list[Any] = list_of(check_scalar)(scope, value, path)
    return checked


def _check_random_score(scope: RewriteContext, value: object, path: str) -> Any:
    """Return a random score by the values of a field: by default it depends on the numbers of all documents."""
    checked: dict[str, Any] = object_of({"field": check_field, **scalars("seed")})(scope, value, path)
    if checked and "field" not in checked:
        raise make_refusal(f"{path} without a field")
    return checked


_FUNCTION: dict[str, Part] = {
    "filter": check_query,
    "field_value_factor": object_of({"field": check_field, **scalars("factor modifier missing")}),
    "random_score": _check_random_score,
    **dict.fromkeys(("gauss", "exp", "linear"), _DECAY),
    **scalars("weight"),
}
_KNN_OPTIONS = object_of(
    {
        "field": check_field,
        "filter": check_queries,
        "query_vector": check_plain,
        "query_vector_builder": object_of({"text_embedding": object_of(scalars("model_id model_text"))}),
        "rescore_vector": object_of(scalars("oversample")),
        "inner_hits": check_inner_hits,
        **_COMMON,
        **scalars("k num_candidates similarity visit_percentage min_score"),
    }
)
_GEO = _COMMON | scalars("distance distance_type validation_method ignore_unmapped type")
_QUERIES: dict[str, Part] = {
    "match": by_field(object_of(_WORDS | _OPERATOR | _FUZZY), shorthand="query"),
    "match_bool_prefix": by_field(object_of(_WORDS | _OPERATOR | _FUZZY), shorthand="query"),
    "match_phrase": by_field(object_of(_WORDS | scalars("slop")), shorthand="query"),
    "match_phrase_prefix": by_field(object_of(_WORDS | scalars("slop max_expansions")), shorthand="query"),
    "multi_match": _search_all_fields(
        object_of({"fields": check_searched_fields} | _WORDS | _OPERATOR | _FUZZY | scalars("type tie_breaker slop"))
    ),
    "combined_fields": object_of({"fields": check_searched_fields} | _WORDS | _OPERATOR),
    "simple_query_string": _search_all_fields(
        object_of(
            _WORDS
            | {"fields": check_searched_fields, "query": _check_simple_query_string}
            | scalars("default_operator minimum_should_match analyze_wildcard flags")
        )
    ),
    "query_string": _search_all_fields(
        object_of(
            _WORDS
            | {
                "fields": check_searched_fields,
                "query": _check_query_string,
                "type": choose_from("best_fields", "most_fields", "cross_fields", "phrase"),
                "rewrite": _check_rewrite,
            }
            | scalars("default_operator minimum_should_match analyze_wildcard allow_leading_wildcard tie_breaker")
            | scalars("time_zone phrase_slop fuzziness fuzzy_prefix_length fuzzy_transpositions fuzzy_max_expansions")
            | scalars("quote_analyzer escape max_determinized_states")
        )
    ),
    "intervals": by_field(object_of(_INTERVAL_RULES | _COMMON)),
    "term": by_field(object_of(_COMMON | scalars("value case_insensitive")), _COMMON, shorthand="value"),
    "terms": by_field(_check_terms, _COMMON),
    "terms_set": by_field(
        object_of(
            {"terms": list_of(check_scalar), "minimum_should_match_field": check_field}
            | _COMMON
            | scalars("minimum_should_match")
        )
    ),
    "range": by_field(
        object_of(_COMMON | plains("gte gt lte lt from to") | scalars("format time_zone relation include_lower"))
    ),
    "exists": object_of({"field": check_field} | _COMMON),
    "ids": object_of({"values": list_of(check_scalar)} | _COMMON),
    "prefix": by_field(
        object_of({"rewrite": _check_rewrite} | _COMMON | scalars("value case_insensitive")), shorthand="value"
    ),
    "wildcard": by_field(
        object_of({"rewrite": _check_rewrite} | _COMMON | scalars("value wildcard case_insensitive")),
        shorthand="value",
    ),
    "regexp": by_field(
        object_of(
            {"rewrite": _check_rewrite}
            | _COMMON
            | scalars("value case_insensitive flags flags_value max_determinized_states")
        ),
        shorthand="value",
    ),
    "fuzzy": by_field(
        with_options(
            object_of(_COMMON | scalars("value fuzziness prefix_length transpositions max_expansions rewrite")),
            rewrite="constant_score",
        ),
        shorthand="value",
    ),
    "match_all": object_of(_COMMON),
    "match_none": object_of(_COMMON),
    "bool": object_of(
        dict.fromkeys(("must", "should", "filter", "must_not"), check_queries)
        | _COMMON
        | scalars("minimum_should_match adjust_pure_negative")
    ),
    "dis_max": object_of({"queries": check_queries} | _COMMON | scalars("tie_breaker")),
    "constant_score": object_of({"filter": check_query} | _COMMON),
    "boosting": object_of({"positive": check_query, "negative": check_query} | _COMMON | scalars("negative_boost")),
    "function_score": object_of(
        _FUNCTION
        | {"query": check_query, "functions": list_of(object_of(_FUNCTION))}
        | _COMMON
        | scalars("boost_mode score_mode max_boost")
    ),
    "distance_feature": object_of({"field": check_field, "origin": check_plain} | _COMMON | scalars("pivot")),
    "rank_feature": object_of({"field": check_field} | _COMMON | plains("saturation log sigmoid linear")),
    "nested": object_of(
        {"path": check_field, "query": check_query, "inner_hits": check_inner_hits}
        | _COMMON
        | scalars("score_mode ignore_unmapped")
    ),
    "geo_distance": by_field(check_plain, _GEO),
    "geo_bounding_box": by_field(check_plain, _GEO),
    "geo_polygon": by_field(object_of(plains("points")), _GEO),
    "geo_shape": by_field(object_of(plains("shape") | scalars("relation")), _GEO),
    "knn": check_knn,
    "sparse_vector": with_options(  # leaving out frequent words would depend on all documents
        object_of({"field": check_field} | _COMMON | plains("query_vector") | scalars("inference_id query")),
        prune=False,
    ),
}
"""Kinds of queries.

Left out, with what reads other documents or runs scripts: ``more_like_this``, whose words depend on how many documents
have them; ``semantic``, which filters its nearest documents afterwards; ``function_score.min_score``, which may compute
a score before the filter applies, and fail.
"""
