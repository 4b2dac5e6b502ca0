"""A gunicorn worker that answers requests it cannot parse with a problem, like every other error."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

import orjson
from gunicorn import util
from gunicorn.http.errors import (
    InvalidHeader,
    InvalidHeaderName,
    InvalidHTTPVersion,
    InvalidRequestLine,
    InvalidRequestMethod,
    LimitRequestHeaders,
    LimitRequestLine,
)
from gunicorn.workers.gthread import ThreadWorker

from indexer.errors import BadRequest, TooLarge
from webapi.http.problems import PROBLEM_TYPE

MAX_REQUEST_LINE_BYTES = 8190
"""Longest first line of a request, its address included."""
_LINE_TOO_LONG = f"the address is longer than {MAX_REQUEST_LINE_BYTES} bytes; shorten it"
_PROBLEMS: dict[type[Exception], tuple[int, str, str, str]] = {
    LimitRequestLine: (414, "URI Too Long", TooLarge.code, _LINE_TOO_LONG),
    LimitRequestHeaders: (431, "Request Header Fields Too Large", TooLarge.code, "the headers are too large"),
    InvalidRequestLine: (400, "Bad Request", BadRequest.code, "the request line cannot be read"),
    InvalidRequestMethod: (400, "Bad Request", BadRequest.code, "the method cannot be read"),
    InvalidHTTPVersion: (400, "Bad Request", BadRequest.code, "only HTTP/1.0 and HTTP/1.1 are supported"),
    InvalidHeader: (400, "Bad Request", BadRequest.code, "a header cannot be read"),
    InvalidHeaderName: (400, "Bad Request", BadRequest.code, "the name of a header cannot be read"),
}
"""Status, reason, code and detail of the response, by gunicorn's error."""


class ProblemJsonWorker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker whose own errors are application/problem+json."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        problem = next((problem for kind, problem in _PROBLEMS.items() if isinstance(exc, kind)), None)
        if problem is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("unreadable request: %s", type(exc).__name__)
        with suppress(OSError):  # the client may have disconnected
            util.write_nonblock(client, _format_response(*problem))


def _format_response(status: int, reason: str, code: str, detail: str) -> bytes:
    problem = {"type": f"/errors/{code}", "title": reason, "status": status, "detail": detail, "code": code}
    body = orjson.dumps(problem)
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\n"
    head += f"Content-Type: {PROBLEM_TYPE}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"X-Content-Type-Options: nosniff\r\n\r\n" + body
