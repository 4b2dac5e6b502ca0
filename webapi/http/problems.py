"""Error responses: application/problem+json with a stable code, and never a stack trace.

The routes in the form of Elasticsearch answer in the form of its errors, with the problem inside.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
from flask import Flask, Response, has_request_context, request
from werkzeug.exceptions import HTTPException

from indexer.errors import (
    BadRequest,
    Expired,
    PhraseComError,
    RateLimited,
    TooLarge,
    Unauthorized,
    UnknownDocument,
    UnknownIndex,
)
from worker.jobs.job import Failure

log = logging.getLogger(__name__)

PROBLEM_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "2"
ELASTICSEARCH_PATH = re.compile(
    r"/v1/?|/v1/_[^/]*|/v1/(?!(?:comparisons|explanations|indexes|jobs)/)[^/]+/_.*", re.DOTALL
)
"""Paths of the routes in the form of Elasticsearch: ``/v1/``, ``/v1/_msearch``, ``/v1/INDEX/_search``.

The id of a job may begin with ``_`` as well."""
CODE_BY_STATUS = {404: "not-found", 405: "method-not-allowed", 413: "too-large", 415: "unsupported-media-type"}
_HTTP_FIXES = {
    UnknownIndex.code: "GET /v1/indexes lists the indexes you can access",
    UnknownDocument.code: "find ids with POST /v1/INDEX/_search",
}
"""Fixes that replace those of the errors, which are written for the command line."""
_TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    410: "Gone",
    413: "Too large",
    415: "Unsupported media type",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
    504: "Time limit",
}


class UnsupportedMediaType(BadRequest):
    """A body that is not declared as JSON."""

    code, status = "unsupported-media-type", 415


class RequestTimeout(BadRequest):
    """A request that did not arrive in time."""

    code, status = "request-timeout", 408


def make_problem(status: int, code: str, detail: str, *, retryable: bool = False, **more: Any) -> Response:
    """Return a problem response; ``more`` are further members of its body."""
    return _make_problem_response(_build_problem(status, code, detail, **more), retryable=retryable)


def _make_problem_response(body: Mapping[str, Any], *, retryable: bool) -> Response:
    status = body["status"]
    if has_request_context() and ELASTICSEARCH_PATH.fullmatch(request.path):
        response = Response(orjson.dumps(_wrap_problem(body)), status, mimetype="application/json")
    else:
        response = Response(orjson.dumps(body), status, mimetype=PROBLEM_TYPE)
    response.headers["Cache-Control"] = "no-store"
    if retryable:
        response.headers["Retry-After"] = RETRY_AFTER_SECONDS
    return response


def _build_problem(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    title = _TITLES.get(status, "Error")
    return {"type": f"/errors/{code}", "title": title, "status": status, "detail": detail, "code": code, **more}


def _wrap_problem(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem in the form of Elasticsearch's errors, which its clients read."""
    cause = {"type": problem["code"], "reason": problem["detail"]}
    return {"error": {"root_cause": [cause], **cause, "problem": problem}, "status": problem["status"]}


def _build_error_problem(error: PhraseComError) -> dict[str, Any]:
    """Return the problem that an error is for a remote caller; log what is not told them."""
    more = {"errors": error.errors} if isinstance(error, InvalidRequest) else {}
    if error.public_detail:
        log.warning("request failed: %s: %s", error.code, error)
    return _build_problem(error.status, error.code, public_message(error), **more)


def make_search_error(error: PhraseComError) -> dict[str, Any]:
    """Return an error in the form of Elasticsearch, with the problem inside."""
    return _wrap_problem(_build_error_problem(error))


def make_error_response(error: PhraseComError) -> Response:
    """Return the response for an error, with the headers that belong to its kind."""
    response = _make_problem_response(_build_error_problem(error), retryable=error.retryable)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(math.ceil(error.retry_after_seconds))
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Bearer realm="phrasecom"'
    return response


def public_message(error: PhraseComError) -> str:
    """Return the message for a remote caller, without details of this machine."""
    fix = _HTTP_FIXES.get(error.code)
    return f"{error.detail}; {fix}" if fix else error.public_detail or str(error)


def make_failure_response(id: str, failure: Failure) -> Response:
    """Return the response for a failed job: that of the error itself, with the id of the job."""
    message = public_failure_message(failure)
    return make_problem(failure.status, failure.code, message, retryable=failure.retryable, id=id, state="failed")


def public_failure_message(failure: Failure) -> str:
    """Return the message of a job's failure for a remote caller, without details of this machine."""
    return _collect_public_details().get(failure.code) or failure.detail


@cache
def _collect_public_details() -> dict[str, str]:
    """Return the text that replaces the detail, by code, for every kind of error that has one."""
    kinds = [PhraseComError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return {kind.code: kind.public_detail for kind in kinds}


def make_expired_error(id: str) -> Expired:
    """Return the error for a job whose answer was deleted."""
    return Expired(f"the answer of job {id!r} has expired", fix="post the request again")


class InvalidRequest(BadRequest):
    """A request that does not fit its schema, with a list of what does not fit and where."""

    code = "invalid-request"

    def __init__(self, errors: list[dict[str, str]]) -> None:
        first = errors[0]
        super().__init__(f"{first['at']}: {first['detail']}" if first["at"] else first["detail"])
        self.errors = errors


def register_error_handlers(app: Flask) -> None:
    """Answer every error of the app with a problem."""
    app.register_error_handler(PhraseComError, make_error_response)
    app.register_error_handler(HTTPException, _handle_http_exception)
    app.register_error_handler(Exception, _handle_unexpected)


def _handle_http_exception(error: HTTPException) -> Response:
    status = error.code or 500
    if status == 413:
        return make_error_response(TooLarge("the request body is too large", fix="send less, or raise max_body_bytes"))
    code = CODE_BY_STATUS.get(status, "bad-request" if status < 500 else "internal")
    detail = error.description or ""
    if status == 404 and ELASTICSEARCH_PATH.fullmatch(request.path):
        detail = "there is no such call; use _search, _msearch, _count or _mget of an index"
    response = make_problem(status, code, detail)
    for name, value in error.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


def _handle_unexpected(error: Exception) -> Response:
    log.error("request failed", exc_info=error)
    return make_problem(500, "internal", "internal error; see the server's log")
