"""Logging: one JSON object a line in services, readable lines on a terminal, secrets redacted in both."""

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
_SERVICE_KEY = re.compile(r"\bpc_[a-z0-9-]+_[A-Za-z0-9_-]{16,}")
REDACTED = "***"

_STANDARD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""Attributes of every log record; all others were passed with ``extra=`` and belong to the event."""


def redact(text: str) -> str:
    """Return the text without passwords in URLs, API keys and other secrets."""
    text = _SERVICE_KEY.sub(REDACTED, _URL_PASSWORD.sub(rf"\1:{REDACTED}@", text))
    text = _SCHEME_SECRET.sub(rf"\1 {REDACTED}", text)
    return _NAMED_SECRET.sub(rf"\1\2{REDACTED}", text)


def _get_extras(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD_ATTRIBUTES}


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, event, then the values of ``extra=``."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= _get_extras(record)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Redacted value by value: on the finished line the pattern of a secret could match the quotes too.
        safe = {key: redact(value) if isinstance(value, str) else value for key, value in line.items()}
        return json.dumps(safe, ensure_ascii=False, default=lambda value: redact(str(value)))


class TextFormatter(logging.Formatter):
    """Formats a record as ``12:30:01 info    indexer.indexing.build: 6,600 documents  index=demo``."""

    def format(self, record: logging.LogRecord) -> str:
        clock = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        extras = "".join(f"  {key}={value}" for key, value in _get_extras(record).items())
        line = f"{clock} {record.levelname.lower():7} {record.name}: {record.getMessage()}{extras}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return redact(line)


def configure_logging(format: str = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """Send every log record to ``stream`` (by default stderr); ``auto`` means text on a terminal, else JSON."""
    out = stream if stream is not None else sys.stderr
    if format == "auto":
        format = "text" if out.isatty() else "json"
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(True)


def is_configured() -> bool:
    """Return whether ``configure_logging`` was called, so that a library must not set up logging of its own."""
    return any(_is_ours(handler) for handler in logging.getLogger().handlers)


def format_as_log_line(logger: str, text: str) -> str:
    """Return a message that a library does not log, in the format of all other lines."""
    record = logging.LogRecord(logger, logging.INFO, "", 0, text.strip(), None, None)
    for handler in filter(_is_ours, logging.getLogger().handlers):
        return handler.format(record)
    return record.getMessage()


def _is_ours(handler: logging.Handler) -> bool:
    return isinstance(handler.formatter, JsonFormatter | TextFormatter)
