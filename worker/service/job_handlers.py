"""The handler of each kind of job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from billiard.exceptions import SoftTimeLimitExceeded

from worker.access import make_access_key
from worker.answer.brief_reasons import HitReasons
from worker.explain.side import Side
from worker.explain.spec import ALGORITHM_VERSION
from worker.jobs.job import JobKind, NewJob, StoredAnswer
from worker.jobs.lease_renewal import JobStopped
from worker.jobs.payloads import ComparisonRequest, PageBatch, PageRequest, make_part_id, read_algorithm_version
from worker.jobs.runner import JobContext, JobHandler, NewerAlgorithm
from worker.json_bytes import dumps
from worker.service.ingest import run_ingest_chunk

if TYPE_CHECKING:
    from worker.service.container import ServiceContainer

log = logging.getLogger(__name__)


def make_job_handlers(container: ServiceContainer) -> dict[JobKind, JobHandler]:
    """Return the handlers by kind of job."""
    return {
        "comparison": lambda context: run_comparison(container, context),
        "explanation": lambda context: run_explanation(container, context),
        "page-batch": lambda context: run_page_batch(container, context),
        "ingest": lambda context: run_ingest_chunk(container, context),
        "build-slice": lambda context: container.slice_runner.run(context),
    }


def run_comparison(container: ServiceContainer, context: JobContext) -> StoredAnswer:
    """Compute one comparison, stored under the id of its job."""
    _check_algorithm_version(context)
    request = ComparisonRequest.from_json(context.claim.payload)
    comparison = container.comparer.compare(request.build_spec(), context.report_progress)
    body = comparison.to_dict() | {"id": context.claim.id}
    container.versions.observe_epoch(request.index, body["epoch"])
    named = find_named_document_ids(body) | comparison.holders
    return StoredAnswer(dumps(body), get_acls(container, request.index, named), request.index)


def run_explanation(container: ServiceContainer, context: JobContext) -> StoredAnswer:
    """Compute the reasons of a results page: at once for a query, else hit by hit, each stored when it is ready."""
    _check_algorithm_version(context)
    request = PageRequest.from_json(context.claim.payload)

    def store_hit(hit: str, part: HitPart, share: float) -> None:
        context.put_part(hit, dumps(asdict(part)))
        context.report_progress(share, hit)

    answer = _explain_page(container, context.claim.id, request, store_hit)
    context.report_progress(1.0, "all hits")  # ends a job that was cancelled meanwhile
    return answer


def run_page_batch(container: ServiceContainer, context: JobContext) -> StoredAnswer:
    """Compute the reasons of several results pages, each stored under its own id when it is ready.

    A page that cannot be explained becomes a job of its own, which fails or is tried again by itself. So do all pages
    that are left in a second attempt: one of them may have cost the worker its life.
    """
    _check_algorithm_version(context)
    batch = PageBatch.from_json(context.claim.payload)
    page_count = len(batch.pages)
    for n, (id, request) in enumerate(batch.pages.items()):
        job = container.store.get(id)
        if job is not None and job.state not in ("expired", "cancelled"):
            continue
        new = make_page_job(id, request, batch.caller)
        answer = _try_page(container, context, new.id, request) if context.claim.attempts == 1 else None
        if answer is not None:
            container.store.put_answer(new, answer)
        elif container.store.submit(new):
            container.announce_job(new.id, new.queue)
        context.report_progress((n + 1) / page_count, f"{n + 1} of {page_count} pages")
    return StoredAnswer(b"{}")


def _try_page(container: ServiceContainer, context: JobContext, id: str, request: PageRequest) -> StoredAnswer | None:
    """Return the answer of a page of a batch; None if it cannot be computed, whatever the reason."""
    try:
        return _explain_page(container, id, request, lambda *_: context.check_claim())
    except (JobStopped, SoftTimeLimitExceeded):
        raise
    except Exception as error:  # noqa: BLE001 - one page must not keep the others from their answers
        log.warning("page %s of job %s becomes a job of its own: %s", id, context.claim.id, error)
        return None


def make_page_job(id: str, request: PageRequest, caller_key_id: str) -> NewJob:
    """Return the job of one results page, not yet submitted."""
    access_key = make_access_key(request.index, request.groups)
    return NewJob(id, "explanation", request.to_json(), caller_key_id, access_key=access_key)


def _explain_page(
    container: ServiceContainer, id: str, request: PageRequest, on_hit: Callable[[str, HitPart, float], None]
) -> StoredAnswer:
    """Return the answer of a results page.

    ``on_hit`` is called with each hit that is ready before the others, its reasons and the share of hits that are.
    """
    explain = _explain_by_query if request.against == "query" else _explain_by_comparisons
    page = explain(container, request, on_hit)
    for epoch in page.epochs:
        container.versions.observe_epoch(request.index, epoch)
    entries = [
        {
            "hit": hit,
            "state": "done",
            **page.reasons.get(hit, _NO_REASONS),
            "href": make_hrefs(request, id, n),
        }
        for n, hit in enumerate(request.hits)
    ]
    answer = {
        "id": id,
        "state": "done",
        "progress": 1.0,
        "index": request.index,
        "against": request.against,
        "query": request.query,
        "document": request.document,
        "explanations": entries,
    }
    named = page.named_document_ids.union(request.list_document_ids())
    acls = get_acls(container, request.index, named)
    return StoredAnswer(dumps(answer), acls, request.index, query_vector=request.query_vector)


_NO_REASONS: Mapping[str, Any] = {"common": [], "distinct": []}


class _Page(NamedTuple):
    reasons: dict[str, dict[str, Any]]
    """By hit."""
    epochs: set[str]
    named_document_ids: set[str]
    """Documents that the reasons depend on, besides the hits."""


def _explain_by_query(
    container: ServiceContainer, request: PageRequest, on_hit: Callable[[str, HitPart, float], None]
) -> _Page:
    comparison = request.make_comparison(0, "query")
    assert comparison is not None, "every hit is compared with the query"
    spec = comparison.build_spec()
    page = container.comparer.explain_query_page([replace(spec, a=Side.from_id(hit)) for hit in request.hits])
    reasons = {hit: one.to_dict() for hit, one in zip(request.hits, page.reasons, strict=True)}
    return _Page(reasons, {page.epoch}, set(page.holders))


def _explain_by_comparisons(
    container: ServiceContainer, request: PageRequest, on_hit: Callable[[str, HitPart, float], None]
) -> _Page:
    comparisons = request.list_comparisons()
    page = _Page({}, set(), set())
    answers = container.comparer.explain([comparison.build_spec() for _, comparison in comparisons])
    for (hit, _), answer in zip(comparisons, answers, strict=True):
        named = find_named_document_ids(answer.to_dict()) | answer.holders
        page.named_document_ids.update(named)
        page.epochs.add(answer.epoch)
        page.reasons[hit] = HitReasons.from_comparison(answer).to_dict()
        on_hit(hit, HitPart(request.index, sorted(named), page.reasons[hit]), len(page.reasons) / len(request.hits))
    return page


@dataclass(frozen=True, slots=True)
class HitPart:
    """The reasons of one hit of a page that is not done, as they are stored."""

    index: str
    named_document_ids: list[str]
    reasons: dict[str, Any]


def make_hrefs(request: PageRequest, page_id: str, hit_position: int) -> dict[str, str]:
    """Return the address of the comparison behind each list of a hit, which is computed when it is asked for."""
    from_page = request.against == "query" and len(request.hits) > 1
    if request.make_comparison(hit_position, request.against) is None:
        return {}
    return {
        "common": f"/v1/comparisons/{make_part_id(page_id, hit_position)}",
        "distinct": f"/v1/comparisons/{make_part_id(page_id, hit_position, from_page=from_page)}",
    }


def _check_algorithm_version(context: JobContext) -> None:
    """Raise NewerAlgorithm for a job of a newer algorithm: our answer would be stored under the id of the newer one."""
    version = read_algorithm_version(context.claim.payload)
    if version > int(ALGORITHM_VERSION):
        raise NewerAlgorithm(f"it needs version {version} of the method, this worker has version {ALGORITHM_VERSION}")


def find_named_document_ids(answer: Mapping[str, Any]) -> set[str]:
    """Return the ids of all documents an answer names: sides, evidence, bridges and graph nodes."""
    ids = {id for side in ("a", "b") for id in answer[side]["ids"]}
    for entry in (e for name in ("common", "distinct_a", "distinct_b") for e in answer[name]):
        ids.update(snippet["id"] for snippet in entry.get("evidence", ()) if snippet["id"])
        ids.update(bridge["id"] for bridge in entry.get("via", ()))
    for node in (answer.get("graph") or {}).get("nodes", ()):
        if node.get("kind") == "document" and node["id"]:  # a text or a query has none
            ids.add(node["id"])
    return ids


def get_acls(container: ServiceContainer, index: str, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the current acl of each document; one that was deleted meanwhile has an empty acl, so that its absence is
    noticed when the answer is read."""
    sorted_ids = sorted(ids)
    versions = container.versions.get_versions(index, container.versions.get_epoch(index), sorted_ids)
    return {id: versions[id].acl if id in versions else () for id in sorted_ids}
