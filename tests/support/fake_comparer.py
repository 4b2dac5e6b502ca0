"""A comparer that lasts, fails or kills its worker on command, and how a test gives it orders.

The orders are words of side b's query: ``hold=1`` waits until the test releases it, ``steps=4`` reports progress in
four steps (and waits in each if it holds), ``sleep=2`` sleeps two seconds, ``kill=2`` kills its own process in the
first two attempts, ``stuck=yes`` ignores the soft time limit and never ends, ``fail=NAME`` raises that error of the
product, ``crash=yes`` raises one that is not.
Computations are counted in Valkey, since they run in other processes than the test.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis

from indexer import errors
from indexer.engines.base import Engine
from worker.answer.brief_reasons import HitReasons
from worker.answer.comparison import Entry
from worker.comparer import ExplainedPage
from worker.explain.spec import ComparisonSpec

VALKEY_URL_VARIABLE = "PHRASECOM_TEST_VALKEY"
"""Environment variable with the address of the Valkey that counts."""
KEY_PREFIX_VARIABLE = "PHRASECOM_TEST_PREFIX"
"""Environment variable with the prefix of the counters, the same for a test and its workers."""
QUERY_TAG_VARIABLE = "PHRASECOM_TEST_TAG"
"""Environment variable with a word that the running test appends to its queries."""


def tag_query(words: str) -> str:
    """Append the test's own word to a query, so that no answer to another test is found in a shared server's cache."""
    return f"{words} {os.environ[QUERY_TAG_VARIABLE]}" if QUERY_TAG_VARIABLE in os.environ else words


def release_computations(words: str, turns: int = 1) -> None:
    """Let the first ``turns`` computations of a query that hold, or steps of one, go on."""
    with _connect() as client:
        for query in {words, tag_query(words)}:
            client.set(_release_key(query), turns)


def count_computations(words: str) -> int:
    """Return how often a computation of a query was started, with this test's tag or without one."""
    with _connect() as client:
        counts = client.mget(_count_key(tag_query(words)), _count_key(words))
    return max(int(count) if isinstance(count, bytes) else 0 for count in counts)


@dataclass(frozen=True)
class FakeComparison:
    """An answer without phrases that says which computation of its query it is."""

    spec: ComparisonSpec
    computed: int
    epoch: str
    holders: frozenset[str] = frozenset()
    common: tuple[Entry, ...] = ()
    distinct_a: tuple[Entry, ...] = ()
    distinct_b: tuple[Entry, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        a, b = self.spec.a, self.spec.b
        return {
            "id": "",
            "index": self.spec.index,
            "epoch": self.epoch,
            "method": self.spec.method,
            "preset": self.spec.preset,
            "a": {"kind": a.kind, "ids": list(a.ids), "title": ""},
            "b": {"kind": b.kind, "ids": list(b.ids), "title": ""},
            "common": [],
            "distinct_a": [],
            "distinct_b": [],
            "computed": self.computed,
        }


class FakeComparer:
    """Replaces ``worker.comparer.Comparer`` in tests."""

    def __init__(self, engine: Engine, limits: object = None) -> None:
        self.engine = engine

    def explain(self, specs: Sequence[ComparisonSpec]) -> Iterator[FakeComparison]:
        return (self.compare(spec) for spec in specs)

    def explain_query_page(self, specs: Sequence[ComparisonSpec]) -> ExplainedPage:
        answers = list(self.explain(specs))
        reasons = [HitReasons((), ()) for _ in answers]
        return ExplainedPage(answers[0].epoch, reasons, frozenset())

    def compare(self, spec: ComparisonSpec, progress: Callable[[float, str], None] | None = None) -> FakeComparison:
        words = spec.b.words
        with _connect() as client:
            computed = int(str(client.incr(_count_key(words))))
        orders = dict(word.split("=", 1) for word in words.split() if "=" in word)
        if computed <= int(orders.get("kill", 0)):
            os.kill(os.getpid(), signal.SIGKILL)
        while "stuck" in orders:
            with suppress(Exception):  # the soft time limit is one
                time.sleep(60)
        if "fail" in orders:
            raise getattr(errors, orders["fail"])("as ordered")
        if "crash" in orders:
            raise ZeroDivisionError("secret of the stack")
        steps = int(orders.get("steps", 1))
        for step in range(steps):
            if progress:
                progress(step / steps, f"step {step}")
            time.sleep(float(orders.get("sleep", 0)) / steps)
            while "hold" in orders and not _is_released(words, computed + step):
                time.sleep(0.02)
                if progress:
                    progress(step / steps, f"step {step}")
        return FakeComparison(spec, computed, self.engine.open_reader(spec.index).info.epoch)


def _connect() -> redis.Redis:
    return redis.Redis.from_url(os.environ[VALKEY_URL_VARIABLE])


def _count_key(words: str) -> str:
    return f"computed:{os.environ[KEY_PREFIX_VARIABLE]}:{words}"


def _release_key(words: str) -> str:
    return f"gate:{words}"


def _is_released(words: str, turn: int) -> bool:
    """Return whether this query, or all queries with its test's tag, were released up to this turn."""
    with _connect() as client:
        released = client.mget(_release_key(words), _release_key(words.split()[-1]))
    return any(isinstance(turns, bytes) and int(turns) >= turn for turns in released)
