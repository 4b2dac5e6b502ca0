"""Work in a thread while a ``with`` block runs."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class BackgroundThread(ABC):
    """Runs ``_run`` in a thread from entering the ``with`` block to leaving it."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        """Set when the block is left."""
        self._thread = threading.Thread(target=self._run, daemon=True, name=type(self).__name__.lower())

    @abstractmethod
    def _run(self) -> None:
        """Work until ``_stopping`` is set."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stopping.set()
        self._thread.join()
