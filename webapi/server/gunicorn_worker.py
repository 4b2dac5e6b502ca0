"""Requests that gunicorn refuses before the app sees them, told like every other error."""

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
from webapi.http.problems import PROBLEM

LINE = 8190
"""Bytes of a request's first line, its address included."""
_TOLD = {
    LimitRequestLine: (414, "URI Too Long", TooLarge.code, f"the address is longer than {LINE} bytes; shorten it"),
    LimitRequestHeaders: (431, "Request Header Fields Too Large", TooLarge.code, "the headers are too large"),
    InvalidRequestLine: (400, "Bad Request", BadRequest.code, "the request line cannot be read"),
    InvalidRequestMethod: (400, "Bad Request", BadRequest.code, "the method cannot be read"),
    InvalidHTTPVersion: (400, "Bad Request", BadRequest.code, "only HTTP/1.0 and HTTP/1.1 are spoken here"),
    InvalidHeader: (400, "Bad Request", BadRequest.code, "a header cannot be read"),
    InvalidHeaderName: (400, "Bad Request", BadRequest.code, "the name of a header cannot be read"),
}


class Threads(ThreadWorker):  # type: ignore[misc]
    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        told = next((told for kind, told in _TOLD.items() if isinstance(exc, kind)), None)
        if told is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("a request that cannot be read: %s", type(exc).__name__)
        with suppress(OSError):  # whoever sent it may be gone
            util.write_nonblock(client, _response(*told))


def _response(status: int, reason: str, code: str, detail: str) -> bytes:
    problem = {"type": f"/errors/{code}", "title": reason, "status": status, "detail": detail, "code": code}
    body = orjson.dumps(problem)
    head = (
        f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: {PROBLEM}\r\nContent-Length: {len(body)}\r\n"
    )
    return head.encode() + b"X-Content-Type-Options: nosniff\r\n\r\n" + body
