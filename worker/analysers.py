"""One analyser for each index's phrase model: making it takes longer than using it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.analysis.analyzer import Analyser
    from indexer.engines.base import Reader


class Analysers:
    """May be shared by threads."""

    def __init__(self) -> None:
        self._known: dict[str, Analyser] = {}
        self._lock = threading.Lock()

    def of(self, reader: Reader) -> Analyser:
        """For the epoch that the reader reads."""
        from indexer.analysis.analyzer import Analyser

        with self._lock:
            known = self._known.get(reader.info.name)
            if known is None or known.model is not reader.model:
                known = self._known[reader.info.name] = Analyser(reader.model)
            return known
