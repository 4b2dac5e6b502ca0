"""The ``why`` of each hit: phrases it shares with the query, and phrases that set it apart from the other hits."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.engines.lazy_documents import get_phrase_salience
from indexer.engines.search_types import Hit
from indexer.errors import StoreUnavailable, TooLarge, Unavailable, UnknownDocument, UnknownJob
from indexer.model.phrase_model import PhraseModel
from indexer.settings import Settings
from webapi.auth.gate import require_scope
from webapi.http.problems import public_failure_message, public_message
from worker.access import Caller
from worker.explain.text.spans import DocumentSpans
from worker.jobs.job import OPEN_STATES
from worker.jobs.payloads import Against, PageRequest, make_part_id
from worker.json_bytes import loads
from worker.phrasing.display_form import DisplayForms
from worker.service.gateway import JobGateway, JobView, Submission

log = logging.getLogger(__name__)

_MAX_PHRASES = 3
_LIST_SOURCES: Mapping[str, tuple[Against, str]] = {"common": ("query", "common"), "distinct": ("page", "distinct_a")}
"""For each list of a ``why``: what the hits are compared against, and the list of the comparison to take."""


class QueryWords(NamedTuple):
    """All words that are searched for."""

    text: str
    """As written."""
    lemmas: Sequence[str]


def check_page_size(size: int, settings: Settings) -> None:
    """Raise TooLarge for more hits than are explained at once."""
    if size > settings.max_hits:
        raise TooLarge(
            f"reasons for {size} hits are above the limit of {settings.max_hits}",
            fix='use a smaller "size", or add "why": false',
        )


def explain_hits(
    gateway: JobGateway, index: str, words: QueryWords, hits: Sequence[Hit], caller: Caller, wait_seconds: float
) -> list[dict[str, Any]]:
    """Return one ``why`` for each hit, after at most ``wait_seconds``; raise Forbidden without the scope.

    Lists that are not ready by then, or cannot be computed, are provisional: hits without reasons are better than no
    hits.
    """
    require_scope(caller, "compare")
    model = gateway.catalog.open_reader(index).model
    submitted: dict[str, _PageState] = {}
    for name, (against, _) in _LIST_SOURCES.items():
        problem = _find_store_problem(submitted)
        submitted[name] = (
            _PageState(problem=problem) if problem else _submit_page(gateway, index, words.text, hits, against, caller)
        )
    deadline = time.monotonic() + wait_seconds
    pages: dict[str, _PageState] = {}
    for name, page in submitted.items():
        problem = _find_store_problem({**submitted, **pages})
        pages[name] = replace(page, problem=problem) if problem else _wait_for_page(gateway, page, caller, deadline)
    provisional = _build_provisional_lists([hit.document for hit in hits], words.lemmas, model, caller)
    return [_build_why(position, hit.id, pages, provisional[position]) for position, hit in enumerate(hits)]


@dataclass(frozen=True, slots=True)
class _PageState:
    """The state of the job that computes one list for all hits."""

    job_id: str | None = None
    """None where nothing was submitted."""
    comparisons: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Finished comparisons by hit."""
    problem: Mapping[str, str] = field(default_factory=dict)
    """``code`` and ``detail`` of the reason why no more comparisons will come."""


def _find_store_problem(pages: Mapping[str, _PageState]) -> Mapping[str, str]:
    """Return the problem of a page whose store does not answer, so that no request waits for it twice."""
    problems = (page.problem for page in pages.values() if page.problem.get("code") == StoreUnavailable.code)
    return next(problems, {})


def _submit_page(
    gateway: JobGateway, index: str, text: str, hits: Sequence[Hit], against: Against, caller: Caller
) -> _PageState:
    if (against == "query" and not text) or (against == "page" and len(hits) < 2) or not hits:
        return _PageState()  # there is nothing to compare with
    ids = tuple(hit.id for hit in hits)
    request = PageRequest(index, ids, against, text or None, None, caller.groups)
    try:
        return _PageState(gateway.submit_page(request, caller).id)
    except UnknownDocument:
        return _PageState()  # a hit was deleted or hidden from the caller since the search
    except Unavailable as error:
        return _PageState(problem=_log_and_make_problem(error.code, public_message(error)))


def _wait_for_page(gateway: JobGateway, page: _PageState, caller: Caller, deadline: float) -> _PageState:
    """Return the page as it is once its job has ended, or at the deadline."""
    if page.job_id is None:
        return page
    try:
        view = gateway.wait(Submission(page.job_id, created=True), caller, max(0.0, deadline - time.monotonic()))
        comparisons = _get_comparisons(gateway, view, caller)
        return replace(page, comparisons=comparisons, problem=_find_end_problem(view))
    except (Unavailable, UnknownJob) as error:  # unknown: it names a document that was hidden from the caller since
        return replace(page, problem=_log_and_make_problem(error.code, public_message(error)))


def _get_comparisons(gateway: JobGateway, view: JobView, caller: Caller) -> dict[str, Mapping[str, Any]]:
    """Return the finished comparisons by hit."""
    if view.answer is not None:
        entries = loads(view.answer.stored.body)["explanations"]
        return {entry["hit"]: entry["comparison"] for entry in entries if entry["comparison"] is not None}
    if view.job.state not in OPEN_STATES:
        return {}
    return {hit: loads(body) for hit, body in gateway.get_ready_comparisons(view.job.id, caller).items()}


def _find_end_problem(view: JobView) -> Mapping[str, str]:
    """Return why a job ended without an answer, or nothing if it did not."""
    job = view.job
    if view.answer is not None or job.state in OPEN_STATES:
        return {}
    if job.failure is not None:
        return _log_and_make_problem(job.failure.code, public_failure_message(job.failure))
    return _log_and_make_problem(job.state, f"the job was {job.state}; search again")


def _log_and_make_problem(code: str, detail: str) -> Mapping[str, str]:
    log.warning("search response without reasons: %s: %s", code, detail)
    return {"code": code, "detail": detail}


def _build_why(
    position: int,
    hit: str,
    pages: Mapping[str, _PageState],
    provisional: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    lists: dict[str, Any] = {}
    missing: list[_PageState] = []
    for name, (_, comparison_list) in _LIST_SOURCES.items():
        comparison = pages[name].comparisons.get(hit)
        if comparison is not None:
            lists[name] = [_shorten_entry(entry) for entry in comparison[comparison_list][:_MAX_PHRASES]]
        else:
            lists[name] = provisional[name]
            missing.append(pages[name])
    job_ids = {name: page.job_id for name, page in pages.items() if page.job_id is not None}
    href = {name: f"/v1/comparisons/{make_part_id(job_id, position)}" for name, job_id in job_ids.items()}
    return {**_build_why_state(missing), **lists, "href": href}


def _build_why_state(missing: Sequence[_PageState]) -> dict[str, Any]:
    """Return the state of a hit whose lists from these pages are missing."""
    problem = next((page.problem for page in missing if page.problem), None)
    if problem:
        return {"state": "unavailable", **problem, "provisional": True}
    if any(page.job_id is not None for page in missing):
        return {"state": "pending", "provisional": True}
    return {"state": "done"}


def _shorten_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("phrase", "display", "score", "kind") if name in entry}


def _build_provisional_lists(
    documents: Sequence[AnalysedDocument], query_lemmas: Sequence[str], model: PhraseModel, caller: Caller
) -> list[dict[str, list[dict[str, Any]]]]:
    """Return lists by containment alone: salient phrases with a word of the query; salient phrases no other hit has."""
    words = set(query_lemmas)
    salient = [[phrase for phrase, _ in get_phrase_salience(document.salient)] for document in documents]
    hit_counts = Counter(phrase for phrases in salient for phrase in set(phrases))
    lists = []
    for document, phrases in zip(documents, salient, strict=True):
        common = [p for p in phrases if words.intersection(p.replace(PAIR_SEPARATOR, " ").split())]
        distinct = [p for p in phrases if hit_counts[p] == 1 and p not in common]
        forms = DisplayForms([DocumentSpans(document)], model, caller.groups)
        lists.append(
            {
                "common": _build_provisional_entries(common, "shared", forms),
                "distinct": _build_provisional_entries(distinct, "distinct", forms),
            }
        )
    return lists


def _build_provisional_entries(phrases: Sequence[str], kind: str, forms: DisplayForms) -> list[dict[str, Any]]:
    return [{"phrase": p, "display": forms.find(p), "kind": kind} for p in phrases[:_MAX_PHRASES]]
