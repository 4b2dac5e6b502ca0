"""The handler of each kind of job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from worker.explain.spec import ALGORITHM_VERSION
from worker.jobs.job import JobKind, StoredAnswer
from worker.jobs.payloads import ComparisonRequest, PageRequest, make_part_id, read_algorithm_version
from worker.jobs.runner import JobContext, JobHandler, NewerAlgorithm
from worker.json_bytes import dumps
from worker.service.ingest import run_ingest_chunk

if TYPE_CHECKING:
    from worker.answer.comparison import Comparison
    from worker.service.container import ServiceContainer


def make_job_handlers(container: ServiceContainer) -> dict[JobKind, JobHandler]:
    """Return the handlers by kind of job."""
    return {
        "comparison": lambda context: run_comparison(container, context),
        "explanation": lambda context: run_explanation(container, context),
        "ingest": lambda context: run_ingest_chunk(container, context),
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
    """Compute the comparisons of a results page; each is stored as a part as soon as it is ready."""
    _check_algorithm_version(context)
    request = PageRequest.from_json(context.claim.payload)
    page = context.claim.id
    positions = {hit: position for position, hit in enumerate(request.hits)}
    bodies: dict[str, dict[str, Any]] = {}
    holders: frozenset[str] = frozenset()
    for hit, comparison in _compare_hits(container, request):
        holders |= comparison.holders
        bodies[hit] = comparison.to_dict() | {"id": make_part_id(page, positions[hit])}
        context.put_part(hit, dumps(bodies[hit]))
        context.report_progress(len(bodies) / len(positions), hit)
    for epoch in {body["epoch"] for body in bodies.values()}:
        container.versions.observe_epoch(request.index, epoch)
    named = holders.union(request.list_document_ids(), *(find_named_document_ids(body) for body in bodies.values()))
    entries = [{"hit": hit, "state": "done", "comparison": bodies.get(hit)} for hit in request.hits]
    answer = {"id": page, "state": "done", "progress": 1.0, "explanations": entries}
    return StoredAnswer(dumps(answer), get_acls(container, request.index, named), request.index)


def _check_algorithm_version(context: JobContext) -> None:
    """Raise NewerAlgorithm for a job of a newer algorithm: our answer would be stored under the id of the newer one."""
    version = read_algorithm_version(context.claim.payload)
    if version > int(ALGORITHM_VERSION):
        raise NewerAlgorithm(f"it needs version {version} of the method, this worker has version {ALGORITHM_VERSION}")


def _compare_hits(container: ServiceContainer, request: PageRequest) -> Iterator[tuple[str, Comparison]]:
    """Yield each hit with its comparison, all from one shared neighbourhood."""
    requests = request.list_comparisons()
    comparisons = container.comparer.explain([comparison.build_spec() for _, comparison in requests])
    for (hit, _), comparison in zip(requests, comparisons, strict=True):
        yield hit, comparison


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
