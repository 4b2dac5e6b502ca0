"""A stand-in for the computation, so that jobs can be made to last, to fail and to kill their worker.

What it does is written in the query of side b, words apart: ``hold=1`` waits until the test lets it go on,
``steps=4`` tells its progress in four steps (and waits in each, where it holds), ``sleep=2`` sleeps two seconds,
``kill=2`` kills its own process in the first two attempts, ``fail=…`` raises.
Every computation is counted in Valkey under ``computed:<prefix>:<query>``.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import redis

from indexer import errors
from indexer.engines.base import Engine
from worker.explain.spec import ComparisonSpec

VALKEY = "PHRASECOM_TEST_VALKEY"
PREFIX = "PHRASECOM_TEST_PREFIX"


def counters() -> redis.Redis:
    return redis.Redis.from_url(os.environ[VALKEY])


def count_name(words: str) -> str:
    return f"computed:{os.environ[PREFIX]}:{words}"


def gate_name(words: str) -> str:
    """Holds how often whoever asked these words may go on."""
    return f"gate:{words}"


def may_go_on(words: str, turn: int) -> bool:
    """By what was said of these very words, or of all that end with the same one (a test's tag)."""
    with counters() as client:
        said = client.mget(gate_name(words), gate_name(words.split()[-1]))
    return any(isinstance(most, bytes) and int(most) >= turn for most in said)


@dataclass(frozen=True)
class Comparison:
    question: ComparisonSpec
    computed: int
    epoch: str

    def to_dict(self) -> dict[str, Any]:
        a, b = self.question.a, self.question.b
        return {
            "id": "",
            "index": self.question.index,
            "epoch": self.epoch,
            "method": self.question.method,
            "preset": self.question.preset,
            "a": {"kind": a.kind, "ids": list(a.ids), "title": ""},
            "b": {"kind": b.kind, "ids": list(b.ids), "title": ""},
            "common": [],
            "distinct_a": [],
            "distinct_b": [],
            "computed": self.computed,
        }


class Comparer:
    def __init__(self, engine: Engine, limits: object = None) -> None:
        self.engine = engine

    def explain(self, questions: Sequence[ComparisonSpec]) -> Iterator[Comparison]:
        return (self.compare(question) for question in questions)

    def compare(self, question: ComparisonSpec, progress: Callable[[float, str], None] | None = None) -> Comparison:
        words = question.b.words
        with counters() as client:
            computed = int(str(client.incr(count_name(words))))
        orders = dict(word.split("=", 1) for word in words.split() if "=" in word)
        if computed <= int(orders.get("kill", 0)):
            os.kill(os.getpid(), signal.SIGKILL)
        if "fail" in orders:
            raise getattr(errors, orders["fail"])("as ordered")
        if "crash" in orders:
            raise ZeroDivisionError("secret of the stack")
        steps = int(orders.get("steps", 1))
        for step in range(steps):
            if progress:
                progress(step / steps, f"step {step}")
            time.sleep(float(orders.get("sleep", 0)) / steps)
            while "hold" in orders and not may_go_on(words, computed + step):
                time.sleep(0.02)
                if progress:
                    progress(step / steps, f"step {step}")
        return Comparison(question, computed, self.engine.open_reader(question.index).info.epoch)
