"""/v1/explanations: a whole results page as one job, each hit as soon as it is ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from flask import Blueprint, Response

from indexer.errors import BadParameter, TooLarge, UnknownJob
from webapi.auth.gate import check_index_access
from webapi.context import get_caller, get_context, read_json_body, read_preferred_wait_seconds
from webapi.http.job_responses import JSON_TYPE, build_job_state_json, make_job_response
from webapi.schemas.requests import ExplanationBody, parse_body
from webapi.search.source_states import find_answer_states, find_source_states
from worker.access import Caller
from worker.explain.side import encode_side_vector
from worker.jobs.job import OPEN_STATES
from worker.jobs.payloads import Against, PageRequest
from worker.service.gateway import JobView
from worker.service.job_handlers import make_hrefs

blueprint = Blueprint("explanations", __name__)
EXPLANATIONS_PATH = "/v1/explanations"


@blueprint.post(EXPLANATIONS_PATH, endpoint="ask")
def create_explanation() -> Response:
    """Submit a results page and wait for it."""
    caller = get_caller()
    body = parse_body(ExplanationBody, read_json_body())
    page = _build_request(body, caller)
    check_index_access(caller, page.index)
    gateway = get_context().gateway
    if body.unknown == "skip":
        page = gateway.keep_readable_hits(page, caller)
    submission = gateway.submit_page(page, caller)
    view = gateway.wait(submission, caller, read_preferred_wait_seconds(get_context().settings))
    return _make_page_response(view, page, [hit for hit in body.hits if hit not in page.hits])


@blueprint.get(f"{EXPLANATIONS_PATH}/<id>", endpoint="follow")
def get_explanation(id: str) -> Response:
    """Return a results page, or its hits that are ready."""
    gateway = get_context().gateway
    view = gateway.get(id, get_caller())
    if view.job.kind != "explanation":
        raise UnknownJob(f"no explanation {id!r}")
    return _make_page_response(view, gateway.get_open_page(id) if view.job.state in OPEN_STATES else None)


@blueprint.delete(f"{EXPLANATIONS_PATH}/<id>", endpoint="leave")
def leave_explanation(id: str) -> Response:
    """Take the caller off a results page, which is cancelled when no other caller waits for it."""
    job = get_context().gateway.leave(id, get_caller())
    if job is None or job.kind != "explanation":
        raise UnknownJob(f"no explanation {id!r}")
    return Response(orjson.dumps(build_job_state_json(job)), 200, mimetype=JSON_TYPE)


def _build_request(body: ExplanationBody, caller: Caller) -> PageRequest:
    """Build the job's payload; raise TooLarge for too many hits, BadParameter if the page is compared with nothing."""
    max_hits = get_context().settings.max_hits
    if len(body.hits) > max_hits:
        raise TooLarge(f"{len(body.hits)} hits are above the limit of {max_hits}", fix="request fewer at a time")
    has_query = body.query is not None or body.vector is not None
    against: Against = body.against or ("query" if has_query else "document")
    if (against == "query" and not has_query) or (against == "document" and body.document is None):
        detail = (
            f"against {against!r} needs a {against}" if body.against else "there is nothing to compare the hits with"
        )
        raise BadParameter(detail, fix="add query, vector or document, or set against to page or above")
    hits = tuple(dict.fromkeys(body.hits))
    vector = encode_side_vector(body.vector) if body.vector is not None and against == "query" else None
    return PageRequest(body.index, hits, against, body.query, body.document, caller.groups, vector)


def _make_page_response(view: JobView, page: PageRequest | None, skipped: Sequence[str] = ()) -> Response:
    """Return the whole page once it is done; until then the state of each hit, with status 202.

    ``skipped``: hits that were asked for and are not in the index.
    """
    context, caller = get_context(), get_caller()
    response = make_job_response(view, EXPLANATIONS_PATH, find_answer_states(context, view, caller, skipped))
    if response.status_code != 202:
        return response
    if page is None:  # it has ended a moment ago
        response.set_data(orjson.dumps(build_job_state_json(view.job) | {"explanations": []}))
        return response
    reasons = context.gateway.get_ready_reasons(view.job.id, caller)
    entries: list[dict[str, Any]] = [
        {"hit": hit, "state": "done", **reasons[hit], "href": make_hrefs(page, view.job.id, position)}
        if hit in reasons
        else {"hit": hit, "state": view.job.state}
        for position, hit in enumerate(page.hits)
    ]
    sources = find_source_states(context, page.index, page.hits, caller, skipped)
    envelope = {} if sources is None else {"sources": sources}
    response.set_data(orjson.dumps(build_job_state_json(view.job) | {"explanations": entries} | envelope))
    return response
