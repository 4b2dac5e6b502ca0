"""Responses about a job: 200 with the answer, 202 with the state, 304, or the problem it ended with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import orjson
from flask import Response, request

from webapi.http import metrics
from webapi.http.problems import make_expired_error, make_failure_response, make_problem
from worker.cache.answers import CachedAnswer
from worker.jobs.job import Job
from worker.service.gateway import JobView

JSON_TYPE = "application/json"
SourceStates = Mapping[str, Mapping[str, str]]
"""Document id -> ``state`` and ``detail``, of the documents that an attached source has not, or not as attached."""


def make_job_response(view: JobView, path: str, sources: SourceStates | None = None) -> Response:
    """Return the response for a job as it is now; ``path``: where jobs of its kind are (``/v1/comparisons``).

    ``sources`` are sent beside an answer, under this name; None for an index without a source.
    Raise Expired for an answer that was deleted.
    """
    job = view.job
    if view.answer is not None:
        return _make_answer_response(view.answer, view.cache_status, f"{path}/{job.id}", sources)
    if job.state == "failed" and job.failure is not None:
        return make_failure_response(job.id, job.failure)
    if job.state == "expired":
        raise make_expired_error(job.id)
    if job.state == "cancelled":
        detail = "the job was cancelled; post the request again"
        return make_problem(409, "cancelled", detail, id=job.id, state="cancelled")
    return make_accepted_response(job, f"{path}/{job.id}")


def _make_answer_response(
    answer: CachedAnswer, cache_status: str, location: str, sources: SourceStates | None
) -> Response:
    """Return the answer or, if the caller has it with the same states of its documents, 304."""
    metrics.ANSWERS_SENT.labels(cache_status).inc()
    body, etag = answer.stored.body, answer.etag
    if sources is not None:  # the answer stays cached as it is: only what is sent depends on the source
        states = orjson.dumps(sources, option=orjson.OPT_SORT_KEYS)
        body = body[:-1] + b',"sources":' + states + b"}"
        etag = hashlib.blake2b(etag.encode() + states, digest_size=12).hexdigest()
    headers = {
        "ETag": f'"{etag}"',
        "X-Cache": cache_status,
        "Age": str(answer.age_seconds()),
        "Cache-Control": "private, no-cache",
        "Content-Location": location,
    }
    is_conditional = request.method == "GET" and request.headers.get("If-None-Match") is not None
    if is_conditional and request.if_none_match.contains_weak(etag):
        return Response(None, 304, headers)
    return Response(body, 200, headers, mimetype=JSON_TYPE)


def make_accepted_response(job: Job, location: str) -> Response:
    """Return 202 with the state of a job; ``location``: where to ask for it again."""
    response = Response(orjson.dumps(build_job_state_json(job)), 202, mimetype=JSON_TYPE)
    response.headers["Location"] = location
    response.headers["Retry-After"] = "1"
    response.headers["Cache-Control"] = "no-store"
    return response


def build_job_state_json(job: Job) -> dict[str, object]:
    """Return the id, the state and the progress of a job as they are sent."""
    body: dict[str, object] = {"id": job.id, "state": job.state, "progress": job.progress}
    if job.message:
        body["message"] = job.message
    return body
