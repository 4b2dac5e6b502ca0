"""The order of writes to one document.

Every write has a sequence number: a submission over HTTP gets its number when it is accepted, a command when it writes.
An engine leaves out a write that is older than the last one of the same document, so the order in which workers reach
the engine does not matter. For this it keeps a mark for each document that was written or deleted after the epoch was
built, and hands the marks of the last day on to the next epoch: no accepted submission waits longer than that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

SEQUENCE_GAP: Final = 2**20
"""Added to the last number of the engine by a writer who cannot know the numbers that were given out but not written
yet. There are fewer of those than this, so the new number is above all of them. The first number is above it as well:
Elasticsearch numbered the versions of documents itself in indexes of former versions, from 1."""
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


ClaimCheck = Callable[[], None]
"""Called right before a write takes effect; raises if the writer may no longer write."""


def skip_check() -> None:
    """Let every write pass: a command holds no claim."""


def keep_recent_marks(marks: Mapping[str, WriteMark]) -> dict[str, WriteMark]:
    """Return the marks that a new epoch takes over; those of the future come from a clock that was set back."""
    oldest = time.time() - MARK_SECONDS
    return {id: mark for id, mark in marks.items() if mark.written >= oldest}
