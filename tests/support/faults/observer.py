"""A client that uses the API all the time and records the replies and their duration."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from tests.support.background_thread import BackgroundThread
from tests.support.deployment import Deployment
from webapi.client import Reply

MAX_RESPONSE_SECONDS = 30.0
"""Time without a reply that counts as a hang: longer than any limit of the service, even on a busy machine."""
SUCCESS_STATUSES = (200, 202, 304)
RETRY_LATER_STATUSES = (429, 503)
"""Refusals that must carry Retry-After."""


class ApiObserver(BackgroundThread):
    """Sends requests of every kind, one after the other; ``bad_replies`` lists replies that must never come."""

    def __init__(
        self, deployment: Deployment, answered: Mapping[str, Any], unanswered: Iterator[Mapping[str, Any]] | None = None
    ) -> None:
        """``answered``: a comparison that was computed before; ``unanswered``: comparisons that were not."""
        super().__init__()
        self._deployment, self._answered = deployment, answered
        self._unanswered = unanswered or iter(())
        self.status_counts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        """Paths that replied with Retry-After, with counts."""
        self.bad_replies: list[str] = []
        self.slowest_seconds = 0.0

    def _run(self) -> None:
        for turn in count():
            if self._stopping.wait(0.05):
                return
            method, path, body = self._make_request(turn)
            started = time.monotonic()
            try:
                with self._deployment.make_client() as client:
                    client.timeout = MAX_RESPONSE_SECONDS
                    self._record_reply(path, client.request(method, path, body))
            except OSError as error:  # a time-out is one
                self.bad_replies.append(f"{method} {path}: {error!r}")
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - started)

    def _make_request(self, turn: int) -> tuple[str, str, Mapping[str, Any] | None]:
        if turn % 5 == 0:
            return "POST", "/v1/comparisons", self._answered
        if turn % 5 == 1:
            return "GET", "/readyz", None
        if turn % 5 == 2:
            search = {"query": {"match": {"text": "graph"}}, "size": 3}
            return "POST", f"/v1/{self._answered['index']}/_search", search
        if turn % 5 == 3:
            return "GET", f"/v1/indexes/{self._answered['index']}", None
        return "POST", "/v1/comparisons", next(self._unanswered, self._answered)

    def _record_reply(self, path: str, reply: Reply) -> None:
        self.status_counts[f"{reply.status}"] += 1
        if reply.status in SUCCESS_STATUSES:
            return
        if reply.status in RETRY_LATER_STATUSES and "retry-after" in reply.headers:
            self.refusals[path] += 1
            return
        self.bad_replies.append(f"{path}: {reply.status} {reply.body[:300]!r}")
