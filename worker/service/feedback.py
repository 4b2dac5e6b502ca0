"""What readers said of phrases: kept as it came, exported as evaluation data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worker.cache.key_value import Keys
from worker.json_bytes import dumps, loads

_MOST = 100_000


def record(keys: Keys, answer: Mapping[str, Any], said: Sequence[Mapping[str, Any]], caller: str) -> int:
    """Keep what was said about an answer's phrases; how many."""
    about = {name: answer.get(name) for name in ("index", "epoch", "method", "preset")}
    about |= {side: answer[side]["ids"] or answer[side]["title"] for side in ("a", "b")}
    now = round(time.time(), 3)
    entries = [dumps({"at": now, "comparison": answer["id"], "caller": caller, **about, **one}) for one in said]
    keys.append(_name(str(answer["index"])), entries, _MOST)
    return len(entries)


def recorded(keys: Keys, index: str) -> Iterator[dict[str, Any]]:
    """Everything said about an index, oldest first."""
    for entry in keys.listed(_name(index)):
        yield loads(entry)


def _name(index: str) -> str:
    return f"feedback:{index}"
