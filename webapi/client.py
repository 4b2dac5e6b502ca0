"""A small client for the HTTP API, with nothing but the standard library.

>>> with Client("http://127.0.0.1:8080") as client:          # doctest: +SKIP
...     answer = client.compare("papers", {"id": "d1"}, {"id": "d2"})
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

Json = dict[str, Any]
Side = Mapping[str, object] | str


class ApiError(Exception):
    """A problem the server told: ``status``, ``code`` and ``detail``."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.detail = str(problem.get("detail", ""))
        self.problem = dict(problem)
        super().__init__(f"{status} {self.code}: {self.detail}")


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes
    """As sent."""

    def json(self) -> Json:
        parsed: Json = json.loads(self.body)
        return parsed


@dataclass
class Client:
    """One connection, kept open; for one thread at a time."""

    url: str
    key: str | None = None
    timeout: float = 30.0
    _connection: http.client.HTTPConnection | None = field(default=None, init=False, repr=False)

    def request(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One request, whatever its status; ``body`` is sent as it is (bytes) or as JSON."""
        sent = dict(headers or {})
        if self.key:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        kept = self._connection is not None
        try:
            return self._exchange(method, path, data, sent)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.close()
            if not kept:
                raise
        return self._exchange(method, path, data, sent)  # the server had closed the kept connection

    def _exchange(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> Reply:
        connection = self._connect()
        connection.request(method, path, data, dict(headers))
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def call(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Json:
        """The JSON of a good reply; ApiError otherwise."""
        return self._checked(self.request(method, path, body, headers)).json()

    def compare(
        self,
        index: str,
        a: Side,
        b: Side,
        *,
        method: str | None = None,
        preset: str | None = None,
        options: Mapping[str, object] | None = None,
        patience: float = 60.0,
    ) -> Json:
        """The finished comparison, however long it takes (up to ``patience`` seconds)."""
        asked = {"index": index, "a": _side(a), "b": _side(b), "method": method, "preset": preset, "options": options}
        body = {name: value for name, value in asked.items() if value is not None}
        return self._follow("/v1/comparisons", body, patience)

    def explain(
        self,
        index: str,
        hits: Sequence[str],
        *,
        query: str | None = None,
        document: str | None = None,
        against: str | None = None,
        patience: float = 60.0,
    ) -> Json:
        """A whole results page."""
        asked = {"index": index, "hits": list(hits), "query": query, "document": document, "against": against}
        return self._follow("/v1/explanations", {k: v for k, v in asked.items() if v is not None}, patience)

    def search(self, index: str, body: Mapping[str, object]) -> Json:
        return self.call("POST", f"/v1/{quote(index, safe='')}/_search", body)

    def indexes(self) -> list[Json]:
        found: list[Json] = self.call("GET", "/v1/indexes")["indexes"]
        return found

    def index(self, name: str) -> Json:
        return self.call("GET", f"/v1/indexes/{quote(name, safe='')}")

    def add(self, index: str, documents: Sequence[Mapping[str, object]], *, patience: float = 300.0) -> Json:
        """Add or replace documents and wait until they can be found."""
        path = f"/v1/indexes/{quote(index, safe='')}/documents"
        return self._until_done(self._checked(self.request("POST", path, {"documents": list(documents)})), patience)

    def document(self, index: str, id: str) -> Json:
        return self.call("GET", f"/v1/indexes/{quote(index, safe='')}/documents/{quote(id, safe='')}")

    def suggest(self, index: str, q: str) -> list[Json]:
        path = f"/v1/indexes/{quote(index, safe='')}/suggest?{urlencode({'q': q})}"
        found: list[Json] = self.call("GET", path)["suggestions"]
        return found

    def feedback(self, comparison: str, phrases: Sequence[Mapping[str, object]]) -> Json:
        return self.call("POST", f"/v1/comparisons/{comparison}/feedback", {"phrases": list(phrases)})

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _follow(self, path: str, body: object, patience: float) -> Json:
        return self._until_done(self._checked(self.request("POST", path, body, {"Prefer": "wait=10"})), patience)

    def _until_done(self, reply: Reply, patience: float) -> Json:
        """Ask for a job until its answer is there."""
        deadline = time.monotonic() + patience
        location = reply.headers.get("location", "")
        for pause in _pauses():
            if reply.status != 202:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"{location} is not done after {patience} s")
            time.sleep(pause)
            reply = self._checked(self.request("GET", location))
        return reply.json()

    def _checked(self, reply: Reply) -> Reply:
        if reply.status < 400:
            return reply
        try:
            problem = reply.json()
        except ValueError:
            problem = {"detail": reply.body[:200].decode(errors="replace")}
        raise ApiError(reply.status, problem)

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self.url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=self.timeout)
        return self._connection


def _side(side: Side) -> Mapping[str, object]:
    return {"id": side} if isinstance(side, str) else side


def _pauses() -> Iterator[float]:
    pause = 0.05
    while True:
        yield pause
        pause = min(pause * 1.5, 1.0)
