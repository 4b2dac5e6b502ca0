"""Logs: one JSON object a line in services, readable lines on a terminal, no secrets in either."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import TextIO

_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)@")
_NAMED_SECRET = re.compile(
    r"""(?ix) \b(authorization | api[_-]?key | password | passwd | secret | token)
    (["']* \s* [:=] \s* ["']*) (?: (?:bearer|apikey|basic)\s+ )? [^\s,;&"']+"""
)
_SCHEME_SECRET = re.compile(r"(?i)\b(bearer|apikey)\s+[A-Za-z0-9+/_=.:-]{16,}")
_OWN_KEY = re.compile(r"\bpc_[a-z0-9-]+_[A-Za-z0-9_-]{16,}")
HIDDEN = "***"

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""What every record carries; anything else was given with ``extra=`` and belongs to the event."""


def redact(text: str) -> str:
    """The same text without passwords in URLs, API keys and the like."""
    text = _OWN_KEY.sub(HIDDEN, _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", text))
    text = _SCHEME_SECRET.sub(rf"\1 {HIDDEN}", text)
    return _NAMED_SECRET.sub(rf"\1\2{HIDDEN}", text)


def _extras(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _PLAIN}


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, event, then what was given with ``extra=``."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= _extras(record)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Redacted value by value: over the finished line a secret's pattern could eat the quotes.
        safe = {key: redact(value) if isinstance(value, str) else value for key, value in line.items()}
        return json.dumps(safe, ensure_ascii=False, default=lambda value: redact(str(value)))


class TextFormatter(logging.Formatter):
    """``12:30:01 info    indexer.indexing.build: 6,600 documents  index=demo``."""

    def format(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        extras = "".join(f"  {key}={value}" for key, value in _extras(record).items())
        line = f"{clock} {record.levelname.lower():7} {record.name}: {record.getMessage()}{extras}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return redact(line)


def set_up_logs(format: str = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """Send every log record to ``stream`` (stderr); ``auto`` means text on a terminal, else JSON."""
    out = stream if stream is not None else sys.stderr
    if format == "auto":
        format = "text" if out.isatty() else "json"
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(True)


def are_set_up() -> bool:
    """Whether every record has its way to a line: a library that would write lines of its own must not."""
    return any(_is_ours(handler) for handler in logging.getLogger().handlers)


def line(logger: str, text: str) -> str:
    """What a library says past logging, in the form of all other lines."""
    record = logging.LogRecord(logger, logging.INFO, "", 0, text.strip(), None, None)
    for handler in filter(_is_ours, logging.getLogger().handlers):
        return handler.format(record)
    return record.getMessage()


def _is_ours(handler: logging.Handler) -> bool:
    return isinstance(handler.formatter, JsonFormatter | TextFormatter)
