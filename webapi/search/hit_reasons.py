"""The ``why`` of each hit: phrases it shares with the query, and phrases that set it apart from the other hits."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument
from indexer.engines.lazy_documents import get_phrase_salience
from indexer.engines.search_types import Hit
from indexer.errors import BadSide, TooLarge, Unavailable, UnknownDocument, UnknownJob
from indexer.model.phrase_model import PhraseModel
from indexer.model.query_words import list_lemmas
from indexer.settings import Settings
from webapi.auth.gate import require_scope
from webapi.http.problems import public_failure_message, public_message
from worker.access import Caller
from worker.explain.query_match import QueryMatch, QueryMatcher
from worker.explain.text.spans import DocumentSpans
from worker.jobs.job import OPEN_STATES
from worker.jobs.payloads import PageRequest
from worker.json_bytes import loads
from worker.phrasing.display_form import DisplayForms
from worker.service.gateway import JobGateway, JobView, Submission
from worker.service.job_handlers import make_hrefs

log = logging.getLogger(__name__)

_MAX_PHRASES = 3
_LISTS = ("common", "distinct")


def check_page_size(size: int, settings: Settings) -> None:
    """Raise TooLarge for more hits than are explained at once."""
    if size > settings.max_hits:
        raise TooLarge(
            f"reasons for {size} hits are above the limit of {settings.max_hits}",
            fix='use a smaller "size", or add "why": false',
        )


class HitPage(NamedTuple):
    """Hits to explain."""

    index_name: str
    text: str
    """The words that found them, as written; may be empty."""
    hits: Sequence[Hit]
    vector: bytes | None = None
    """The vector that found them (``Side.vector``)."""

    @property
    def has_query(self) -> bool:
        return bool(self.text) or self.vector is not None


def explain_hits(gateway: JobGateway, page: HitPage, caller: Caller, wait_seconds: float) -> list[dict[str, Any]]:
    """Return one ``why`` for each hit of a page, as ``explain_pages`` does."""
    (whys,) = explain_pages(gateway, [page], caller, wait_seconds)
    return whys


def explain_pages(
    gateway: JobGateway, pages: Sequence[HitPage], caller: Caller, wait_seconds: float
) -> list[list[dict[str, Any]]]:
    """Return one ``why`` for each hit of each page, after at most ``wait_seconds``; raise Forbidden without the scope.

    The pages are computed by one job. The lists of a page that is not ready by then, or cannot be computed, are
    provisional: hits without reasons are better than no hits. They have no ``matched``.
    """
    require_scope(caller, "compare")
    computed = _compute_pages(gateway, pages, caller, wait_seconds)
    return [_build_whys(gateway, page, found, caller) for page, found in zip(pages, computed, strict=True)]


def _build_whys(gateway: JobGateway, page: HitPage, found: _ComputedPage, caller: Caller) -> list[dict[str, Any]]:
    text, hits = page.text, page.hits
    if len(found.reasons) < len(hits):
        analyzer = gateway.catalog.get_analyzer(page.index_name)
        lemmas = list_lemmas(analyzer.split_query(text))
        provisional = _build_provisional_lists([hit.document for hit in hits], lemmas, analyzer.model, caller)
    whys = [
        _build_why(found.reasons[hit.id])
        if hit.id in found.reasons
        else found.describe_state() | provisional[n] | {"href": found.make_hrefs(n)}
        for n, hit in enumerate(hits)
    ]
    return whys if page.has_query else [_leave_out_common(why) for why in whys]


def add_missing_matches(
    whys: Sequence[dict[str, Any]],
    documents: Sequence[AnalysedDocument | None],
    make_matcher: Callable[[], QueryMatcher],
    caller: Caller,
) -> list[dict[str, Any]]:
    """Return each ``why`` with ``matched`` and ``lacks``, looked up where missing; None is an unknown document.

    A matcher is made only where one is missing: it reads the current epoch of the index.
    """
    missing = [n for n, why in enumerate(whys) if "matched" not in why]
    if not missing:
        return list(whys)
    known = {n: document for n in missing if (document := documents[n]) is not None}
    found = dict(zip(known, make_matcher().match_documents(list(known.values()), caller.groups), strict=True))
    return [why | found.get(n, QueryMatch()).to_dict() if "matched" not in why else why for n, why in enumerate(whys)]


@dataclass(frozen=True, slots=True)
class _ComputedPage:
    """The reasons of a page as far as they are computed."""

    request: PageRequest | None = None
    job_id: str | None = None
    """None where nothing was submitted."""
    reasons: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Finished reasons by hit."""
    problem: Mapping[str, str] = field(default_factory=dict)
    """``code`` and ``detail`` of the reason why no more will come."""

    def describe_state(self) -> dict[str, Any]:
        """Return the state of a hit that has no reasons yet."""
        if self.problem:
            return {"state": "unavailable", **self.problem, "provisional": True}
        return {"state": "pending", "provisional": True} if self.job_id is not None else {"state": "done"}

    def make_hrefs(self, hit_position: int) -> dict[str, str]:
        """Return the addresses of the comparisons behind a hit of a page that is not done."""
        if self.problem or self.request is None or self.job_id is None:
            return {}
        return make_hrefs(self.request, self.job_id, hit_position)


def _compute_pages(
    gateway: JobGateway, pages: Sequence[HitPage], caller: Caller, wait_seconds: float
) -> list[_ComputedPage]:
    """Submit the pages and return each once it is computed, or as far as it is after ``wait_seconds``."""
    requests = [_make_request(gateway, page, caller) for page in pages]
    problem: Mapping[str, str] = {}
    try:
        gateway.submit_pages({one.id: one.request for one in requests if isinstance(one, _IdentifiedRequest)}, caller)
    except Unavailable as error:
        problem = _log_and_make_problem(error.code, public_message(error))
    deadline = time.monotonic() + wait_seconds
    return [
        one if isinstance(one, _ComputedPage) else _wait_for_page(gateway, one, caller, deadline, problem)
        for one in requests
    ]


class _IdentifiedRequest(NamedTuple):
    id: str
    request: PageRequest


def _make_request(gateway: JobGateway, page: HitPage, caller: Caller) -> _IdentifiedRequest | _ComputedPage:
    """Return the request for a page; a page without reasons if there is nothing to ask, or it cannot be asked."""
    hits = page.hits
    if not hits or not (page.has_query or len(hits) > 1):
        return _ComputedPage()  # there is nothing to compare with
    ids = tuple(hit.id for hit in hits)
    request = PageRequest(
        page.index_name,
        ids,
        "query" if page.has_query else "page",
        page.text or None,
        groups=caller.groups,
        query_vector=page.vector,
    )
    try:
        return _IdentifiedRequest(
            gateway.find_page_id(request, caller, [hit.document for hit in hits]),
            request,
        )
    except UnknownDocument:
        return _ComputedPage()  # a hit was deleted or hidden from the caller since the search
    except (Unavailable, BadSide) as error:  # bad: the index was built anew since, with vectors of another length
        return _ComputedPage(problem=_log_and_make_problem(error.code, public_message(error)))


def _wait_for_page(
    gateway: JobGateway, page: _IdentifiedRequest, caller: Caller, deadline: float, problem: Mapping[str, str]
) -> _ComputedPage:
    """Return a page once its job has ended, or at the deadline; ``problem``: why nothing could be submitted."""
    try:
        view = gateway.wait(Submission(page.id, created=False), caller, deadline - time.monotonic())
        return _ComputedPage(page.request, page.id, _get_reasons(gateway, view, caller), _find_end_problem(view))
    except (Unavailable, UnknownJob) as error:  # unknown: it names a document that was hidden from the caller since
        return _ComputedPage(problem=problem or _log_and_make_problem(error.code, public_message(error)))


def _get_reasons(gateway: JobGateway, view: JobView, caller: Caller) -> Mapping[str, Mapping[str, Any]]:
    """Return the finished reasons by hit."""
    if view.answer is not None:
        return {entry["hit"]: entry for entry in loads(view.answer.stored.body)["explanations"]}
    return gateway.get_ready_reasons(view.job.id, caller) if view.job.state in OPEN_STATES else {}


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


def _build_why(reasons: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``why`` of a hit whose reasons are ready: the first phrases of its lists, and the rest."""
    why = {"state": "done", **{name: reasons[name][:_MAX_PHRASES] for name in _LISTS}, "href": reasons.get("href", {})}
    return why | {name: reasons[name] for name in ("matched", "lacks", "passage") if name in reasons}


def _leave_out_common(why: dict[str, Any]) -> dict[str, Any]:
    """Return the ``why`` of a hit that was found without words or a vector: there is nothing to share with."""
    return why | {"common": [], "href": {name: href for name, href in why["href"].items() if name == "distinct"}}


def _build_provisional_lists(
    documents: Sequence[AnalysedDocument], query_lemmas: Sequence[str], model: PhraseModel, caller: Caller
) -> list[dict[str, Any]]:
    """Return lists by containment alone: salient phrases with a word of the query; salient phrases no other hit has."""
    words = set(query_lemmas)
    salient = [[phrase for phrase, _ in get_phrase_salience(document.salient)] for document in documents]
    hit_counts = Counter(phrase for phrases in salient for phrase in set(phrases))
    lists = []
    for document, phrases in zip(documents, salient, strict=True):
        common = [p for p in phrases if words.intersection(p.replace(PAIR_SEPARATOR, " ").split())]
        distinct = [p for p in phrases if hit_counts[p] == 1 and p not in common]
        forms = DisplayForms([DocumentSpans(document, model.lemmatizer)], model, caller.groups)
        lists.append(
            {
                "common": _build_provisional_entries(common, "shared", forms),
                "distinct": _build_provisional_entries(distinct, "distinct", forms),
            }
        )
    return lists


def _build_provisional_entries(phrases: Sequence[str], kind: str, forms: DisplayForms) -> list[dict[str, Any]]:
    return [{"phrase": p, "display": forms.find(p), "kind": kind} for p in phrases[:_MAX_PHRASES]]
