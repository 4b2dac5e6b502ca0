"""The largest sides that are compared."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.errors import TooLarge
from worker.explain.side import Side


@dataclass(frozen=True)
class SideLimits:
    """Limits of one side; the defaults are for programs, service and shell pass their settings."""

    max_documents: int = 10_000
    max_text_bytes: int = 10 * 2**20

    def check_side(self, side: Side) -> None:
        """Raise TooLarge for a side that names too many documents or has too long a text."""
        if len(side.ids) > self.max_documents:
            raise TooLarge(
                f"a set of {len(side.ids)} documents is above the limit of {self.max_documents}",
                fix="compare a part of it",
            )
        if len(side.words.encode("utf-8", "surrogatepass")) > self.max_text_bytes:
            raise TooLarge(f"the {side.form} is larger than {self.max_text_bytes} bytes", fix="compare a part of it")
