"""Dates as they come, dates as they are kept: ISO 8601, a day or finer, UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

_PARTIAL = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MILLISECONDS = 10**11
"""A number above this is milliseconds since 1970, below it seconds; 10**11 s is the year 5138."""


def normal_date(value: Any) -> str:
    """``2006`` -> ``2006-01-01``, ``2006-05`` -> ``2006-05-01``; a time in another zone becomes UTC.

    Raises ValueError for what is no date.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(value)
    text = str(value).strip()
    partial = _PARTIAL.fullmatch(text) or _COMPACT.fullmatch(text)
    if partial:
        year, month, day = (int(part or 1) for part in partial.groups())
        return date(year, month, day).isoformat()
    if isinstance(value, int | float) or re.fullmatch(r"-?\d+(\.\d+)?", text):
        return _from_timestamp(float(text))
    return _iso(datetime.fromisoformat(text))


def _from_timestamp(number: float) -> str:
    seconds = number / 1000 if abs(number) > _MILLISECONDS else number
    try:
        return _iso(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError) as error:
        raise ValueError(number) from error


def _iso(moment: datetime) -> str:
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment.replace(microsecond=0).isoformat()
