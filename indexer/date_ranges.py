"""Dates as milliseconds since 1970 UTC, the same for every engine."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from indexer.errors import BadParameter

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def instant(date: str | None) -> int | None:
    """When a document is dated; None when it has no date or one that cannot be read."""
    try:
        return _span(date)[0] if date else None
    except (ValueError, OverflowError):
        return None


def bounds(date_from: str | None, date_to: str | None) -> tuple[int | None, int | None]:
    """A range as (first millisecond, first millisecond after it); a day, month or year is taken whole."""
    return (_bound(date_from)[0] if date_from else None, _bound(date_to)[1] if date_to else None)


def limits(**written: str) -> tuple[int | None, int | None]:
    """The same for any of ``gte``, ``gt``, ``lte`` and ``lt``, the narrower of two that go the same way."""
    starts = [_bound(written[name])[end] for name, end in (("gte", 0), ("gt", 1)) if name in written]
    ends = [_bound(written[name])[end] for name, end in (("lt", 0), ("lte", 1)) if name in written]
    return max(starts, default=None), min(ends, default=None)


def _bound(date: str) -> tuple[int, int]:
    try:
        return _span(date)
    except (ValueError, OverflowError):
        raise BadParameter(
            f"{date[:40]!r} is not a date", fix="write it as 2011-03-11 or 2011-03-11T09:00:00"
        ) from None


def _span(date: str) -> tuple[int, int]:
    """The first millisecond that ``date`` names and the first one after it."""
    date = date.strip()
    if _YEAR.fullmatch(date):
        return _millis(datetime(int(date), 1, 1)), _millis(datetime(int(date) + 1, 1, 1))
    if month := _MONTH.fullmatch(date):
        year, number = int(month[1]), int(month[2])
        return _millis(datetime(year, number, 1)), _millis(datetime(year + number // 12, number % 12 + 1, 1))
    start = datetime.fromisoformat(date)
    width = timedelta(days=1) if _DAY.fullmatch(date) else timedelta(milliseconds=1)
    return _millis(start), _millis(start) + width // timedelta(milliseconds=1)


def _millis(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)
