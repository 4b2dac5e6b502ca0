"""Somebody who uses the API all the while: what they are answered, and how long that took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from tests.support.faults.deployment import House
from tests.support.faults.foreign_load import Beside
from webapi.client import Reply

HANG = 30.0
"""Seconds without an answer that count as a hang: more than any limit of the service, whatever the machine does."""
GOOD = (200, 202, 304)
TOLD = (429, 503)
"""Refusals that say when to come back."""


class Watch(Beside):
    """Requests of every kind, one after the other, until it is left; ``wrong`` lists what must never be answered."""

    def __init__(self, house: House, known: Mapping[str, Any], cold: Iterator[Mapping[str, Any]] | None = None) -> None:
        """``known``: a question that has been answered before; ``cold``: questions that have not."""
        super().__init__()
        self._house, self._known = house, known
        self._cold = cold or iter(())
        self.seen: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        """Paths where somebody was told to come back."""
        self.wrong: list[str] = []
        self.slowest = 0.0

    def _loop(self) -> None:
        for turn in count():
            if self._over.wait(0.05):
                return
            method, path, body = self._question(turn)
            began = time.monotonic()
            try:
                with self._house.client() as client:
                    client.timeout = HANG
                    self._judge(path, client.request(method, path, body))
            except OSError as error:  # a time-out is one
                self.wrong.append(f"{method} {path}: {error!r}")
            self.slowest = max(self.slowest, time.monotonic() - began)

    def _question(self, turn: int) -> tuple[str, str, Mapping[str, Any] | None]:
        if turn % 5 == 0:
            return "POST", "/v1/comparisons", self._known
        if turn % 5 == 1:
            return "GET", "/readyz", None
        if turn % 5 == 2:
            search = {"query": {"match": {"text": "graph"}}, "size": 3}
            return "POST", f"/v1/{self._known['index']}/_search", search
        if turn % 5 == 3:
            return "GET", f"/v1/indexes/{self._known['index']}", None
        return "POST", "/v1/comparisons", next(self._cold, self._known)

    def _judge(self, path: str, reply: Reply) -> None:
        self.seen[f"{reply.status}"] += 1
        if reply.status in GOOD:
            return
        if reply.status in TOLD and "retry-after" in reply.headers:
            self.refused[path] += 1
            return
        self.wrong.append(f"{path}: {reply.status} {reply.body[:300]!r}")
