"""The order of writes to one document.

Every write has a sequence number: a submission over HTTP gets its number when it is accepted, a command when it writes.
An engine leaves out a write that is older than the last one of the same document, so the order in which workers reach
the engine does not matter. For this it keeps a mark for each document that was written or deleted after the epoch was
built, and hands the marks of the last day on to the next epoch: no accepted submission waits longer than that.

Builds are not numbered: what was submitted before or during one, and is written after it, stays in effect.

Numbers are counted within *generations*. The engine counts the generations of each index, durably; whoever starts one
may use its GENERATION_SIZE numbers. The service keeps the last number it gave out in Redis, so that accepting a
submission writes nothing to the engine. It starts a new generation when Redis has lost that number, or somebody else
has started one since. A command starts a generation for each write. So a later write has a greater number, whatever was
lost and whoever wrote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

GENERATION_SIZE: Final = 2**20
"""Numbers of one generation. Generations begin above 0, so that all numbers are above the versions that Elasticsearch
counted itself, from 1, in indexes of former versions."""
MARK_SECONDS: Final = 86_400.0
"""How long a mark is handed on to new epochs."""


class WriteMark(NamedTuple):
    """The last write or deletion of a document."""

    sequence: int
    written: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What one call wrote."""

    count: int
    """Documents written, or existing documents deleted."""
    sequence: int
    """The number of this write."""
    superseded: frozenset[str] = frozenset()
    """Ids of documents that were left out because a newer write stands in the index."""
    missing: tuple[str, ...] = ()
    """Ids to delete that no document of the index had, in the order given."""


ClaimCheck = Callable[[], None]
"""Called right before a write takes effect; raises if the writer may no longer write."""


def skip_claim_check() -> None:
    """Let every write pass: a command holds no claim."""


def get_first_sequence_of_generation(write_generation: int) -> int:
    """Return the first number of a generation."""
    return write_generation * GENERATION_SIZE


def get_write_generation_of(sequence: int) -> int:
    """Return the generation that a number belongs to."""
    return sequence // GENERATION_SIZE


def keep_recent_marks(marks_by_id: Mapping[str, WriteMark]) -> dict[str, WriteMark]:
    """Return the marks that a new epoch takes over; those of the future come from a clock that was set back."""
    oldest = time.time() - MARK_SECONDS
    return {id: mark for id, mark in marks_by_id.items() if mark.written >= oldest}
