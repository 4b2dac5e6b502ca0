"""Records every log line of a ``with`` block, at every level."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

_VERBOSE_LOGGERS = ("elastic_transport", "urllib3")
"""Loggers of the Elasticsearch client that would log every body at DEBUG."""


class LogRecorder(logging.Handler):
    """The formatted lines in ``lines``; a failing block gets the last three as a note."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []
        self._previous_level = logging.root.level

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def __enter__(self) -> Self:
        for name in _VERBOSE_LOGGERS:
            logging.getLogger(name).setLevel(logging.INFO)
        logging.root.addHandler(self)
        logging.root.setLevel(logging.DEBUG)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        logging.root.removeHandler(self)
        logging.root.setLevel(self._previous_level)
        if error is not None:
            error.add_note("\n".join(["the last log lines:", *self.lines[-3:]]))
