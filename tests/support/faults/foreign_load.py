"""Something that goes on in a thread for as long as a test is within it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Beside(ABC):
    def __init__(self) -> None:
        self._over = threading.Event()
        """Set when it is left."""
        self._thread = threading.Thread(target=self._loop, daemon=True, name=type(self).__name__.lower())

    @abstractmethod
    def _loop(self) -> None:
        """Until ``_over`` is set."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
