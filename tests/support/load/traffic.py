"""Requests at a fixed rate, whatever the answers do, and what came of them.

A request's time counts from the moment it was due, not from when somebody was free to send it: a service that stalls
would otherwise be asked less just then, and look well.
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
"""Of the traffic: answers asked for before, comparisons never asked for, results pages with reasons."""
SENDER_COUNT = 48
ANSWERED, LATER, REFUSED, WRONG = "answered", "later", "refused", "wrong"
"""What may come of a request. Later: 202, or a page some of whose reasons are still provisional."""


@dataclass(frozen=True, slots=True)
class Request:
    kind: str
    path: str
    body: Mapping[str, Any]


class RequestMix:
    """An endless supply of each kind; cold ones never come twice. For many threads."""

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
    """Of one kind of request, or of all."""

    outcomes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    """Of those that were answered, or told to come back later."""
    wrong: Counter[str] = field(default_factory=Counter)
    """What must never be: other statuses, no answer, a refusal that does not say when to come back."""

    @property
    def request_count(self) -> int:
        return self.outcomes.total()

    def compute_quantile(self, share: float) -> float:
        """Seconds; 0 for nothing."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def __add__(self, other: Tally) -> Tally:
        parts = (self.outcomes + other.outcomes, self.statuses + other.statuses, self.seconds + other.seconds)
        return Tally(*parts, self.wrong + other.wrong)


@dataclass
class TrafficResult:
    rate: float
    seconds: float
    """How long it went on, answers included."""
    by_kind: dict[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})
    refused_until: float = 0.0
    """When the last request came that was refused, in seconds from the beginning."""

    @property
    def total(self) -> Tally:
        whole = Tally()
        for tally in self.by_kind.values():
            whole += tally
        return whole


@dataclass(frozen=True, slots=True)
class ReplyOutcome:
    outcome: str
    status: int
    reason: str = ""


def send_traffic(url: str, mix: RequestMix, rate: float, seconds: float) -> TrafficResult:
    """``rate`` requests a second for so long; returns when the last is answered."""
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
    """When each request is due: at random, as people come."""
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
