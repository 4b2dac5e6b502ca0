"""Errors on the wire: application/problem+json with a stable code, and never a stack trace."""

from __future__ import annotations

import logging
import math
from functools import cache
from typing import Any

import orjson
from flask import Flask, Response
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

PROBLEM = "application/problem+json"
_RETRY_AFTER = "2"
_CODES = {404: "not-found", 405: "method-not-allowed", 413: "too-large", 415: "unsupported-media-type"}
_FIXES = {
    UnknownIndex.code: "GET /v1/indexes lists those there are for you",
    UnknownDocument.code: "POST /v1/INDEX/_search finds ids",
}
"""What a caller can do who is not at the shell."""
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
    code, status = "unsupported-media-type", 415


def problem(status: int, code: str, detail: str, *, retryable: bool = False, **more: Any) -> Response:
    body = {
        "type": f"/errors/{code}",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        **more,
    }
    response = Response(orjson.dumps(body), status, mimetype=PROBLEM)
    response.headers["Cache-Control"] = "no-store"
    if retryable:
        response.headers["Retry-After"] = _RETRY_AFTER
    return response


def of_error(error: PhraseComError) -> Response:
    more = {"errors": error.errors} if isinstance(error, Invalid) else {}
    if error.outside:
        log.warning("request failed: %s: %s", error.code, error)
    response = problem(error.status, error.code, told(error), retryable=error.retryable, **more)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(math.ceil(error.seconds))
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Bearer realm="phrasecom"'
    return response


def told(error: PhraseComError) -> str:
    """The error in words for who is not at the shell."""
    return f"{error.detail}; {_FIXES[error.code]}" if error.code in _FIXES else error.outside or str(error)


def of_failure(id: str, failure: Failure) -> Response:
    """A job's failure reads like the error itself, with the job named."""
    return problem(failure.status, failure.code, told_of(failure), retryable=failure.retryable, id=id, state="failed")


def told_of(failure: Failure) -> str:
    """A job's failure in words for who is not at the shell."""
    return _outside().get(failure.code) or failure.detail


@cache
def _outside() -> dict[str, str]:
    """Code -> what is told in place of the detail, of every kind of error."""
    kinds = [PhraseComError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return {kind.code: kind.outside for kind in kinds}


def expired(id: str) -> Expired:
    return Expired(f"the answer of job {id!r} has expired", fix="post the question again")


class Invalid(BadRequest):
    """A request that does not fit its schema; every misfit is listed."""

    code = "invalid-request"

    def __init__(self, errors: list[dict[str, str]]) -> None:
        first = errors[0]
        super().__init__(f"{first['at']}: {first['detail']}" if first["at"] else first["detail"])
        self.errors = errors


def register(app: Flask) -> None:
    app.register_error_handler(PhraseComError, of_error)
    app.register_error_handler(HTTPException, _of_http)
    app.register_error_handler(Exception, _of_anything)


def _of_http(error: HTTPException) -> Response:
    status = error.code or 500
    if status == 413:
        return of_error(TooLarge("the request body is too large", fix="send less, or raise max_body_bytes"))
    response = problem(
        status, _CODES.get(status, "bad-request" if status < 500 else "internal"), error.description or ""
    )
    for name, value in error.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


def _of_anything(error: Exception) -> Response:
    log.error("request failed", exc_info=error)
    return problem(500, "internal", "an internal error; the server's log has the details")
