"""Dates: normalizing those of records to ISO 8601 in UTC, and turning them into milliseconds since 1970 UTC.

All engines filter, sort and count by these milliseconds, so a date means the same in each of them.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from indexer.errors import BadParameter

_PARTIAL_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?")
_COMPACT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MIN_MILLISECONDS = 10**11
"""A number above this is milliseconds since 1970, below it seconds; 10**11 s is the year 5138."""
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def normalize_date(value: Any) -> str:
    """Return a date as ISO 8601 in UTC, a day or finer: ``2006`` -> ``2006-01-01``, ``2006-05`` -> ``2006-05-01``.

    Numbers are seconds or milliseconds since 1970. Raise ValueError if ``value`` is not a date.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(value)
    text = str(value).strip()
    partial = _PARTIAL_DATE.fullmatch(text) or _COMPACT_DATE.fullmatch(text)
    if partial:
        year, month, day = (int(part or 1) for part in partial.groups())
        return date(year, month, day).isoformat()
    if isinstance(value, int | float) or re.fullmatch(r"-?\d+(\.\d+)?", text):
        return _timestamp_to_iso(float(text))
    return _to_iso(datetime.fromisoformat(text))


def _timestamp_to_iso(number: float) -> str:
    seconds = number / 1000 if abs(number) > _MIN_MILLISECONDS else number
    try:
        return _to_iso(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError) as error:
        raise ValueError(number) from error


def _to_iso(moment: datetime) -> str:
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment.replace(microsecond=0).isoformat()


def date_to_millis(date: str | None) -> int | None:
    """Return the first millisecond of a date; None without a date or if it cannot be parsed."""
    try:
        return _parse_date_span(date)[0] if date else None
    except (ValueError, OverflowError):
        return None


def date_bounds_to_millis(date_from: str | None, date_to: str | None) -> tuple[int | None, int | None]:
    """Return an inclusive range of dates as (first millisecond, first millisecond after it).

    A day, month or year counts as a whole. Raise BadParameter if one of them is not a date.
    """
    return (
        _require_date_span(date_from)[0] if date_from else None,
        _require_date_span(date_to)[1] if date_to else None,
    )


def range_query_to_millis(**conditions: str) -> tuple[int | None, int | None]:
    """Return (first millisecond, first millisecond after the range) of any of ``gte``, ``gt``, ``lte`` and ``lt``.

    Of two conditions on the same end the narrower holds. Raise BadParameter if one of them is not a date.
    """
    starts = [_require_date_span(conditions[name])[end] for name, end in (("gte", 0), ("gt", 1)) if name in conditions]
    ends = [_require_date_span(conditions[name])[end] for name, end in (("lt", 0), ("lte", 1)) if name in conditions]
    return max(starts, default=None), min(ends, default=None)


def _require_date_span(date: str) -> tuple[int, int]:
    try:
        return _parse_date_span(date)
    except (ValueError, OverflowError):
        raise BadParameter(
            f"{date[:40]!r} is not a date", fix="write it as 2011-03-11 or 2011-03-11T09:00:00"
        ) from None


def _parse_date_span(date: str) -> tuple[int, int]:
    """Return the first millisecond of ``date`` and the first one after it."""
    date = date.strip()
    if _YEAR.fullmatch(date):
        return _to_millis(datetime(int(date), 1, 1)), _to_millis(datetime(int(date) + 1, 1, 1))
    if month := _MONTH.fullmatch(date):
        year, number = int(month[1]), int(month[2])
        return _to_millis(datetime(year, number, 1)), _to_millis(datetime(year + number // 12, number % 12 + 1, 1))
    start = datetime.fromisoformat(date)
    width = timedelta(days=1) if _DAY.fullmatch(date) else timedelta(milliseconds=1)
    return _to_millis(start), _to_millis(start) + width // timedelta(milliseconds=1)


def _to_millis(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _UNIX_EPOCH) // timedelta(milliseconds=1)
