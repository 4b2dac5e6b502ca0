"""A small client for the HTTP API that needs only the standard library.

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
SideInput = Mapping[str, object] | str
"""A side as the API takes it, such as ``{"query": "solar power", "vector": [0.1, …]}``, or the id of a document."""


class ApiError(Exception):
    """A problem that the server answered with: ``status``, ``code`` and ``detail``."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.detail = str(problem.get("detail", ""))
        self.problem = dict(problem)
        super().__init__(f"{status} {self.code}: {self.detail}")


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, with the names of its headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Json:
        """Parse the body."""
        parsed: Json = json.loads(self.body)
        return parsed


@dataclass
class Client:
    """A client with one connection that stays open; for one thread at a time."""

    url: str
    key: str | None = None
    timeout: float = 30.0
    _connection: http.client.HTTPConnection | None = field(default=None, init=False, repr=False)

    def request(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a request and return the reply of any status; ``body`` is sent as it is (bytes) or as JSON."""
        all_headers = dict(headers or {})
        if self.key:
            all_headers.setdefault("Authorization", f"Bearer {self.key}")
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            all_headers.setdefault("Content-Type", "application/json")
        was_open = self._connection is not None
        try:
            return self._exchange(method, path, data, all_headers)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self.close()
            if not was_open:
                raise
        return self._exchange(method, path, data, all_headers)  # the server had closed the open connection

    def _exchange(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> Reply:
        connection = self._open_connection()
        connection.request(method, path, data, dict(headers))
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def call(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Json:
        """Send a request and return the JSON of the reply; raise ApiError for a status of 400 or more."""
        return self._check_status(self.request(method, path, body, headers)).json()

    def compare(
        self,
        index: str,
        a: SideInput,
        b: SideInput,
        *,
        method: str | None = None,
        preset: str | None = None,
        options: Mapping[str, object] | None = None,
        max_seconds: float = 60.0,
    ) -> Json:
        """Return the finished comparison; raise TimeoutError after ``max_seconds``, or ApiError."""
        values = {
            "index": index,
            "a": _to_side_json(a),
            "b": _to_side_json(b),
            "method": method,
            "preset": preset,
            "options": options,
        }
        body = {name: value for name, value in values.items() if value is not None}
        return self._post_and_wait("/v1/comparisons", body, max_seconds)

    def explain(
        self,
        index: str,
        hits: Sequence[str],
        *,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        document: str | None = None,
        against: str | None = None,
        max_seconds: float = 60.0,
    ) -> Json:
        """Return the finished explanation of a results page; raise TimeoutError after ``max_seconds``, or ApiError.

        ``vector``: that of the query, by the model that made the vectors of the index. The entries have words and
        phrases without evidence; ``get_comparison`` fetches the comparison behind a list.
        """
        values = {
            "index": index,
            "hits": list(hits),
            "query": query,
            "vector": None if vector is None else list(vector),
            "document": document,
            "against": against,
        }
        return self._post_and_wait("/v1/explanations", {k: v for k, v in values.items() if v is not None}, max_seconds)

    def get_comparison(self, address: str, *, max_seconds: float = 60.0) -> Json:
        """Return the comparison at an address, such as ``href["common"]`` of a hit, once it is computed; raise
        TimeoutError after ``max_seconds``, or ApiError."""
        return self._poll_until_done(self.request("GET", address, headers={"Prefer": "wait=10"}), max_seconds)

    def search(self, index: str, body: Mapping[str, object]) -> Json:
        """Return the response to a search body."""
        return self.call("POST", f"/v1/{quote(index, safe='')}/_search", body)

    def list_indexes(self) -> list[Json]:
        """Return the indexes that the key may use."""
        indexes: list[Json] = self.call("GET", "/v1/indexes")["indexes"]
        return indexes

    def get_index(self, name: str) -> Json:
        """Return an index with its fields and facets."""
        return self.call("GET", f"/v1/indexes/{quote(name, safe='')}")

    def add_documents(
        self, index: str, documents: Sequence[Mapping[str, object]], *, max_seconds: float = 300.0
    ) -> Json:
        """Add or replace documents and wait until they can be found; raise TimeoutError or ApiError."""
        path = f"/v1/indexes/{quote(index, safe='')}/documents"
        return self._poll_until_done(self.request("POST", path, {"documents": list(documents)}), max_seconds)

    def get_document(self, index: str, id: str) -> Json:
        """Return a document with its salient phrases."""
        return self.call("GET", f"/v1/indexes/{quote(index, safe='')}/documents/{quote(id, safe='')}")

    def suggest(self, index: str, q: str) -> list[Json]:
        """Return phrases that continue what is typed."""
        path = f"/v1/indexes/{quote(index, safe='')}/suggest?{urlencode({'q': q})}"
        suggestions: list[Json] = self.call("GET", path)["suggestions"]
        return suggestions

    def send_feedback(self, comparison: str, phrases: Sequence[Mapping[str, object]]) -> Json:
        """Say which phrases of a comparison were useful."""
        return self.call("POST", f"/v1/comparisons/{comparison}/feedback", {"phrases": list(phrases)})

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _post_and_wait(self, path: str, body: object, max_seconds: float) -> Json:
        return self._poll_until_done(self.request("POST", path, body, {"Prefer": "wait=10"}), max_seconds)

    def _poll_until_done(self, reply: Reply, max_seconds: float) -> Json:
        """Ask for a job until it has ended; raise TimeoutError or ApiError."""
        deadline = time.monotonic() + max_seconds
        self._check_status(reply)
        location = reply.headers.get("location", "")
        for pause in _generate_pauses():
            if reply.status != 202:
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"{location} is not done after {max_seconds} s")
            time.sleep(pause)
            reply = self._check_status(self.request("GET", location))
        return reply.json()

    def _check_status(self, reply: Reply) -> Reply:
        """Return the reply; raise ApiError for a status of 400 or more."""
        if reply.status < 400:
            return reply
        try:
            problem = reply.json()
            problem = problem["error"]["problem"] if "error" in problem else problem  # of a search
        except (ValueError, TypeError, KeyError):
            problem = {"detail": reply.body[:200].decode(errors="replace")}
        raise ApiError(reply.status, problem)

    def _open_connection(self) -> http.client.HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self.url)
            make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self._connection = make(parts.hostname or "127.0.0.1", parts.port, timeout=self.timeout)
        return self._connection


def _to_side_json(side: SideInput) -> Mapping[str, object]:
    return {"id": side} if isinstance(side, str) else side


def _generate_pauses() -> Iterator[float]:
    pause = 0.05
    while True:
        yield pause
        pause = min(pause * 1.5, 1.0)
