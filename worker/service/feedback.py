"""Readers' feedback on phrases: stored as it came, exported as evaluation data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worker.cache.key_value import KeyValueStore
from worker.json_bytes import dumps, loads

_MAX_ENTRIES = 100_000
"""Entries stored for each index; the oldest are dropped."""


def record_feedback(
    key_values: KeyValueStore, answer: Mapping[str, Any], phrases: Sequence[Mapping[str, Any]], caller: str
) -> int:
    """Store user feedback on phrases of an answer; return the number of entries."""
    about = {name: answer.get(name) for name in ("index", "epoch", "method", "preset")}
    about |= {side: answer[side]["ids"] or answer[side]["title"] for side in ("a", "b")}
    now = round(time.time(), 3)
    entries = [dumps({"at": now, "comparison": answer["id"], "caller": caller, **about, **entry}) for entry in phrases]
    key_values.append(_feedback_key(str(answer["index"])), entries, _MAX_ENTRIES)
    return len(entries)


def read_feedback(key_values: KeyValueStore, index: str) -> Iterator[dict[str, Any]]:
    """Yield the feedback on an index, oldest first."""
    for entry in key_values.get_list(_feedback_key(index)):
        yield loads(entry)


def _feedback_key(index: str) -> str:
    return f"feedback:{index}"
