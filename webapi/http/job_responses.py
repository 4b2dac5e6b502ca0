"""From a look at a job to a response: 200 with the answer, 202 with the state, or what went wrong."""

from __future__ import annotations

import orjson
from flask import Response, request

from webapi.http import metrics
from webapi.http.problems import expired, of_failure, problem
from worker.cache.answers import Kept
from worker.jobs.job import Job
from worker.service.gateway import Look

JSON = "application/json"


def answer_or_state(look: Look, path: str) -> Response:
    """``path``: where the job can be asked about, ``/v1/comparisons``."""
    if look.kept is not None:
        return answered(look.kept, look.source, f"{path}/{look.job.id}")
    job = look.job
    if job.state == "failed" and job.failure is not None:
        return of_failure(job.id, job.failure)
    if job.state == "expired":
        raise expired(job.id)
    if job.state == "cancelled":
        return problem(409, "cancelled", "the job was cancelled; post the question again", id=job.id, state="cancelled")
    return accepted(job, f"{path}/{job.id}")


def answered(kept: Kept, source: str, location: str) -> Response:
    metrics.ANSWERS.labels(source).inc()
    etag = f'"{kept.etag}"'
    headers = {
        "ETag": etag,
        "X-Cache": source,
        "Age": str(kept.age()),
        "Cache-Control": "private, no-cache",
        "Content-Location": location,
    }
    asked = request.headers.get("If-None-Match")
    if asked is not None and request.method == "GET" and request.if_none_match.contains_weak(kept.etag):
        return Response(None, 304, headers)
    return Response(kept.answer.body, 200, headers, mimetype=JSON)


def accepted(job: Job, location: str) -> Response:
    response = Response(orjson.dumps(state_of(job)), 202, mimetype=JSON)
    response.headers["Location"] = location
    response.headers["Retry-After"] = "1"
    response.headers["Cache-Control"] = "no-store"
    return response


def state_of(job: Job) -> dict[str, object]:
    body: dict[str, object] = {"id": job.id, "state": job.state, "progress": job.progress}
    if job.message:
        body["message"] = job.message
    return body
