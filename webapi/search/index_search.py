"""A search of an index of ours: plan it, run it, explain its hits, build the response."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexer.engines.search_types import SearchResult, Selection
from webapi.auth.gate import require_scope
from webapi.context import WebContext
from webapi.search.body import TermsAggregation
from webapi.search.hit_reasons import HitPage, add_missing_matches, check_page_size, explain_hits
from webapi.search.plan import PlannedHistogram, SearchPlan, build_search_plan
from webapi.search.query_vectors import keep_fitting_vector
from webapi.search.response import build_search_response
from webapi.search.url_parameters import NO_EFFECT_PARAMETERS, check_parameters
from worker.access import Caller


def search_index(
    index: str, body: object, parameters: Mapping[str, str], caller: Caller, context: WebContext, wait: float
) -> dict[str, Any]:
    """Search an index of ours; return the response.

    Raise BadParameter for what the body may not contain, Forbidden or TooLarge.
    """
    started = time.perf_counter()
    plan = plan_index_search(index, body, parameters, caller, context)
    result = run_index_search(index, plan, caller, context)
    whys: Sequence[dict[str, Any]] = ()
    if plan.with_why and result.hits:
        page = HitPage(index, plan.explained_text, result.hits, plan.explained_vector)
        whys = explain_hits(context.gateway, page, caller, wait)
    response = build_index_response(index, plan, result, whys, caller, context)
    return response | {"took": int(1000 * (time.perf_counter() - started))}


def plan_index_search(
    index: str, body: object, parameters: Mapping[str, str], caller: Caller, context: WebContext
) -> SearchPlan:
    """Check a search body and the parameters of its URL for this caller.

    Raise BadParameter, BadSide, Forbidden or TooLarge.
    """
    check_parameters(parameters, NO_EFFECT_PARAMETERS)
    plan = build_search_plan(body, context.catalog.get_analyzer(index).split_query)
    if plan.with_why:
        require_scope(caller, "compare")
        check_page_size(plan.size, context.settings)
    vector, is_given = plan.explained_vector if plan.with_why else None, plan.is_vector_given
    return replace(plan, explained_vector=keep_fitting_vector(context.catalog, index, vector, is_given=is_given))


def run_index_search(index: str, plan: SearchPlan, caller: Caller, context: WebContext) -> SearchResult:
    """Run a planned search on the current epoch."""
    aggregations = plan.aggregations.values()
    facets = sorted({one.field for one in aggregations if isinstance(one, TermsAggregation)})
    intervals = list({one.interval: None for one in aggregations if isinstance(one, PlannedHistogram)})
    return context.catalog.run_on_reader(
        index,
        lambda reader: reader.search(
            Selection(query=plan.query),
            size=plan.size,
            offset=plan.offset,
            facets=facets,
            groups=caller.groups,
            sort=plan.sort,
            histograms=intervals,
            vector=plan.vector,
        ),
    )


def build_index_response(
    index: str,
    plan: SearchPlan,
    result: SearchResult,
    reasons: Sequence[dict[str, Any]],
    caller: Caller,
    context: WebContext,
) -> dict[str, Any]:
    """Return the response, with ``took`` still 0; ``reasons``: those of each hit, or none at all."""
    catalog, text = context.catalog, plan.explained_text
    documents = [hit.document for hit in result.hits] if reasons else []
    whys = add_missing_matches(reasons, documents, lambda: catalog.make_query_matcher(index, text), caller)
    return build_search_response(index, plan, result, whys, catalog.get_analyzer(index).model.lemmatizer)
