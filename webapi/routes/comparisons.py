"""/v1/comparisons: create, get, leave."""

from __future__ import annotations

import orjson
from flask import Blueprint, Response

from indexer.errors import EngineUnavailable, StoreUnavailable, UnknownJob
from webapi.auth.gate import check_index_access
from webapi.context import get_caller, get_context, read_json_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE, build_job_state_json, make_job_response
from webapi.schemas.requests import ComparisonBody, parse_body
from webapi.search.source_states import find_answer_states
from worker.access import Caller
from worker.explain.side import Side
from worker.explain.side_limits import SideLimits
from worker.jobs.payloads import ComparisonRequest
from worker.service.gateway import JobView, Submission

blueprint = Blueprint("comparisons", __name__)
COMPARISONS_PATH = "/v1/comparisons"


@blueprint.post(COMPARISONS_PATH, endpoint="ask")
def create_comparison() -> Response:
    """Submit a comparison and wait for it; while the store or the engine is away, send a known answer unchecked."""
    caller, body = get_caller(), read_json_body()
    try:
        view = _recall_or_submit(caller, body)
    except (StoreUnavailable, EngineUnavailable):
        stale = get_context().gateway.get_stale_answer(caller, body)
        if stale is None:
            raise
        view = stale
    return _make_response(view)


def _recall_or_submit(caller: Caller, body: bytes) -> JobView:
    gateway = get_context().gateway
    id = gateway.recall_job_id(caller, body)
    if id is not None and gateway.get_cached(id) is not None:
        try:
            return gateway.get(id, caller)
        except UnknownJob:
            pass  # it names a document that this caller may no longer read: submit it again
    comparison = _build_request(parse_body(ComparisonBody, body), caller)
    check_index_access(caller, comparison.index)
    submission = gateway.submit_comparison(comparison, caller)
    view = gateway.wait(submission, caller, read_preferred_wait_seconds(get_context().settings))
    if view.answer is not None:
        gateway.remember_job_id(caller, body, comparison.index, submission.id)
    return view


def _build_request(body: ComparisonBody, caller: Caller) -> ComparisonRequest:
    """Build the job's payload; raise TooLarge for a side above the limits, so that no job is made for it."""
    settings = get_context().settings
    a, b = Side.from_json(body.a.to_json()), Side.from_json(body.b.to_json())
    limits = SideLimits(settings.max_set, settings.max_text_bytes)
    for side in (a, b):
        limits.check_side(side)
    return ComparisonRequest(body.index, a, b, body.method, body.preset, body.options.to_json(), caller.groups)


def _make_response(view: JobView) -> Response:
    return make_job_response(view, COMPARISONS_PATH, find_answer_states(get_context(), view, get_caller()))


@blueprint.get(f"{COMPARISONS_PATH}/<id>", endpoint="follow")
def get_comparison(id: str) -> Response:
    """Return the answer of a comparison, or its state; that of a hit of a results page is submitted if need be."""
    gateway, caller = get_context().gateway, get_caller()
    view = gateway.get(id, caller)
    if view.job.id != id:
        submission = Submission(view.job.id, created=view.cache_status == "miss")
        view = gateway.wait(submission, caller, read_preferred_wait_seconds(get_context().settings))
    if view.job.kind != "comparison":
        raise UnknownJob(f"no comparison {id!r}")
    return _make_response(view)


@blueprint.delete(f"{COMPARISONS_PATH}/<id>", endpoint="leave")
def leave_comparison(id: str) -> Response:
    """Take the caller off a comparison, which is cancelled when no other caller waits for it."""
    job = get_context().gateway.leave(id, get_caller())
    if job is None:
        raise UnknownJob(f"no comparison {id!r}")
    return Response(orjson.dumps(build_job_state_json(job)), 200, mimetype=JSON_TYPE)
