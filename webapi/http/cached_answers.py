"""Answers this process already holds, sent without going through the framework.

A look-up of a cached comparison is what a search page does most. Everything that is not exactly
that (a conditional request, a question not understood before, a caller to be looked into) is
passed on unchanged.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from webapi.http import metrics
from webapi.http.security_headers import SAFE
from worker.access import Caller
from worker.cache.answers import Kept
from worker.service.gateway import Desk

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH = "/v1/comparisons"
_MOST_BYTES = 4096
_ANSWERED = metrics.ANSWERS.labels("local")
_GET = metrics.REQUESTS.labels("comparisons.follow", 200)
_POST = metrics.REQUESTS.labels("comparisons.ask", 200)


class HotAnswers:
    def __init__(self, app: WSGIApplication, desk: Desk, identify: Callable[[WSGIEnvironment], Caller | None]) -> None:
        """``identify`` names the caller of a request, or None if that takes more than a glance."""
        self._app = app
        self._desk = desk
        self._identify = identify

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path: str = environ.get("PATH_INFO", "")
        if path.startswith(PATH) and "HTTP_ORIGIN" not in environ:  # other sites need more headers
            found = self._hot(environ, path)
            if found is not None:
                return _send(*found, start_response)
        return self._app(environ, start_response)

    def _hot(self, environ: WSGIEnvironment, path: str) -> tuple[str, Kept] | None:
        method = environ["REQUEST_METHOD"]
        if method == "GET" and "HTTP_IF_NONE_MATCH" not in environ:
            id: str | None = path[len(PATH) + 1 :]
            caller = self._identify(environ)
        elif method == "POST" and path == PATH:
            caller = self._identify(environ)
            body = _small_json(environ) if caller is not None else None
            id = self._desk.recall(caller, body) if caller is not None and body is not None else None
        else:
            return None
        if not id or caller is None or caller.groups is not None:
            return None
        kept = self._desk.local.get(id)
        if kept is None or kept.kind != "comparison":
            return None
        (_GET if method == "GET" else _POST).inc()
        return id, kept


def _small_json(environ: WSGIEnvironment) -> bytes | None:
    """The body, if it is a small one that says it is JSON; it stays readable for whoever comes next."""
    size: str = environ.get("CONTENT_LENGTH") or ""
    if not size.isdecimal() or int(size) > _MOST_BYTES or environ.get("CONTENT_TYPE") != "application/json":
        return None
    body: bytes = environ["wsgi.input"].read(int(size))
    environ["wsgi.input"] = io.BytesIO(body)
    return body


def _send(id: str, kept: Kept, start_response: StartResponse) -> list[bytes]:
    _ANSWERED.inc()
    body = kept.answer.body
    headers: list[tuple[str, Any]] = [
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("ETag", f'"{kept.etag}"'),
        ("X-Cache", "local"),
        ("Age", str(kept.age())),
        ("Cache-Control", "private, no-cache"),
        ("Content-Location", f"{PATH}/{id}"),
        *SAFE,
    ]
    start_response("200 OK", headers)
    return [body]
