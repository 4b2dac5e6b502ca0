"""Requests at a fixed rate, however slow the replies are, and their outcomes.

A request's time counts from the moment it was due, not from when a sender was free: a service that stalls would
otherwise get fewer requests just then, and look well.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapi.client import Client

KINDS = ("cached", "cold", "page")
SHARES = (0.8, 0.1, 0.1)
"""Shares of the traffic: comparisons computed before, new comparisons, results pages with reasons."""
SENDER_COUNT = 48
ANSWERED, LATER, REFUSED, WRONG = "answered", "later", "refused", "wrong"
"""Outcomes of a request. Later: 202, or a page with provisional reasons."""


@dataclass(frozen=True, slots=True)
class Request:
    kind: str
    path: str
    body: Mapping[str, Any]


class RequestMix:
    """An endless supply of requests of each kind; cold ones never repeat. Thread-safe."""

    def __init__(self, index: str, ids: Sequence[str], phrases: Sequence[str], seed: int = 1) -> None:
        self._index = index
        self._random = random.Random(seed)
        self._phrases = list(phrases)
        pairs = list(itertools.combinations(ids, 2))
        self._random.shuffle(pairs)
        self._pairs = iter(pairs)
        self.cached_requests = [self._make_comparison("cached", next(self._pairs)) for _ in range(50)]
        self._lock = threading.Lock()

    def draw_request(self) -> Request:
        with self._lock:
            kind = self._random.choices(KINDS, SHARES)[0]
            if kind == "cached":
                return self._random.choice(self.cached_requests)
            return self._make_comparison(kind, next(self._pairs)) if kind == "cold" else self._make_search()

    def _make_comparison(self, kind: str, pair: tuple[str, str]) -> Request:
        a, b = pair
        return Request(kind, "/v1/comparisons", {"index": self._index, "a": {"id": a}, "b": {"id": b}})

    def _make_search(self) -> Request:
        words = " ".join(self._random.sample(self._phrases, 2))
        return Request("page", f"/v1/{self._index}/_search", {"query": {"match": {"text": words}}, "size": 10})


@dataclass
class Tally:
    """Counts and times of one kind of request, or of all."""

    outcomes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    """Durations of requests that were answered or accepted for later."""
    wrong: Counter[str] = field(default_factory=Counter)
    """Replies that must never come: other statuses, no reply, a refusal without Retry-After."""

    @property
    def request_count(self) -> int:
        return self.outcomes.total()

    def compute_quantile(self, share: float) -> float:
        """Return a quantile of the durations in seconds; 0 if there are none."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def __add__(self, other: Tally) -> Tally:
        parts = (self.outcomes + other.outcomes, self.statuses + other.statuses, self.seconds + other.seconds)
        return Tally(*parts, self.wrong + other.wrong)


@dataclass
class TrafficResult:
    rate: float
    seconds: float
    """Duration, until the last reply."""
    by_kind: dict[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})
    refused_until: float = 0.0
    """Time of the last refused request, in seconds from the start."""

    @property
    def total(self) -> Tally:
        total = Tally()
        for tally in self.by_kind.values():
            total += tally
        return total


@dataclass(frozen=True, slots=True)
class ReplyOutcome:
    outcome: str
    status: int
    reason: str = ""


def send_traffic(url: str, mix: RequestMix, rate: float, seconds: float) -> TrafficResult:
    """Send ``rate`` requests per second for ``seconds``; return when the last is answered."""
    outcome, lock, began = TrafficResult(rate, seconds), threading.Lock(), time.monotonic()
    due = _draw_send_times(began, rate, seconds)

    def work() -> None:
        with Client(url, timeout=60) as client:
            while True:
                with lock:
                    moment = next(due, None)
                if moment is None:
                    return
                time.sleep(max(0.0, moment - time.monotonic()))
                request = mix.draw_request()
                end = _send_request(client, request)
                took = time.monotonic() - moment
                with lock:
                    _record_outcome(outcome, request.kind, end, took, moment - began)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(SENDER_COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcome.seconds = time.monotonic() - began
    return outcome


def _draw_send_times(began: float, rate: float, seconds: float) -> Iterator[float]:
    """Yield the time at which each request is due: at random, as people come."""
    chance = random.Random(2)
    at = 0.0
    while (at := at + chance.expovariate(rate)) < seconds:
        yield began + at


def _send_request(client: Client, request: Request) -> ReplyOutcome:
    try:
        reply = client.request("POST", request.path, request.body)
    except OSError as error:
        client.close()
        return ReplyOutcome(WRONG, 0, repr(error))
    if reply.status == 200:
        return ReplyOutcome(LATER if b'"provisional":true' in reply.body else ANSWERED, 200)
    if reply.status not in (202, 429, 503):
        return ReplyOutcome(WRONG, reply.status, f"{reply.status} {reply.body[:200]!r}")
    if "retry-after" not in reply.headers:
        return ReplyOutcome(WRONG, reply.status, f"{reply.status} without Retry-After")
    return ReplyOutcome(LATER if reply.status == 202 else REFUSED, reply.status)


def _record_outcome(outcome: TrafficResult, kind: str, end: ReplyOutcome, took: float, came: float) -> None:
    tally = outcome.by_kind[kind]
    tally.outcomes[end.outcome] += 1
    tally.statuses[end.status] += 1
    if end.outcome == REFUSED:
        outcome.refused_until = max(outcome.refused_until, came)
    elif end.outcome == WRONG:
        tally.wrong[end.reason] += 1
    else:
        tally.seconds.append(took)
