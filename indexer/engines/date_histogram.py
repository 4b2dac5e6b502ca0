"""Intervals of date histograms and the buckets they define. Timestamps are milliseconds since 1970 UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from indexer.errors import BadParameter

Unit = Literal["hour", "day", "week", "month", "quarter", "year"]
HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
_CALENDAR_UNITS: Final[Mapping[str, Unit]] = {
    "1h": "hour", "hour": "hour", "1d": "day", "day": "day", "1w": "week", "week": "week", "1M": "month",
    "month": "month", "1q": "quarter", "quarter": "quarter", "1y": "year", "year": "year",
}  # fmt: skip
_FIXED_LENGTH: Final = re.compile(r"([1-9]\d{0,4})([hd])")
_MONTHS_PER_UNIT: Final[Mapping[str | None, int]] = {"month": 1, "quarter": 3, "year": 12}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Interval:
    """A calendar unit, or a fixed number of milliseconds."""

    unit: Unit | None = None
    """Calendar unit; None for a fixed length."""
    fixed_ms: int = 0
    """Fixed length; 0 for a calendar unit."""

    @classmethod
    def from_calendar_unit(cls, text: str) -> Interval:
        """Parse a calendar interval such as ``month`` or ``1M``; raise BadParameter for anything else."""
        if text not in _CALENDAR_UNITS:
            raise BadParameter(
                f"{text!r} is not a calendar interval", fix="use hour, day, week, month, quarter or year"
            )
        return cls(_CALENDAR_UNITS[text])

    @classmethod
    def from_fixed_length(cls, text: str) -> Interval:
        """Parse a number of hours or days such as ``12h``; raise BadParameter for anything else."""
        match = _FIXED_LENGTH.fullmatch(text)
        if not match:
            raise BadParameter(f"{text!r} is not a fixed interval", fix="write hours or days, such as 12h or 30d")
        return cls(fixed_ms=int(match[1]) * (HOUR_MS if match[2] == "h" else DAY_MS))

    @property
    def grain_ms(self) -> int:
        """Milliseconds of the coarsest fixed interval of which every bucket is a multiple."""
        return self.fixed_ms or (HOUR_MS if self.unit == "hour" else DAY_MS)

    def bucket_start(self, timestamp: int) -> int:
        """Return the first millisecond of the bucket that contains the timestamp."""
        if self.unit in _MONTHS_PER_UNIT:
            moment, months = _EPOCH + timedelta(milliseconds=timestamp), _MONTHS_PER_UNIT[self.unit]
            first = (moment.month - 1) // months * months + 1
            return _to_millis(datetime(moment.year, first, 1, tzinfo=UTC))
        if self.unit == "week":  # weeks begin on Monday, and 1970 did on a Thursday
            return (timestamp + 3 * DAY_MS) // (7 * DAY_MS) * (7 * DAY_MS) - 3 * DAY_MS
        return timestamp // self.grain_ms * self.grain_ms

    def next_bucket_start(self, start: int) -> int:
        """Return the first millisecond of the bucket after the one that begins at ``start``."""
        if self.unit in _MONTHS_PER_UNIT:
            return self.bucket_start(start + (_MONTHS_PER_UNIT[self.unit] * 31) * DAY_MS)
        return start + (7 * DAY_MS if self.unit == "week" else self.grain_ms)

    def merge_into_buckets(self, count_by_timestamp: Mapping[int, int]) -> dict[int, int]:
        """Merge counts by grain into counts by bucket, in chronological order."""
        out: dict[int, int] = {}
        for timestamp in sorted(count_by_timestamp):
            start = self.bucket_start(timestamp)
            out[start] = out.get(start, 0) + count_by_timestamp[timestamp]
        return out

    def fill_empty_buckets(self, count_by_bucket_start: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Iterate over (start, count) from the first bucket to the last, empty ones included."""
        if not count_by_bucket_start:
            return
        start, last = min(count_by_bucket_start), max(count_by_bucket_start)
        yield start, count_by_bucket_start[start]
        while start < last:
            start = self.next_bucket_start(start)
            yield start, count_by_bucket_start.get(start, 0)


def format_timestamp(timestamp: int) -> str:
    """Format a timestamp like Elasticsearch, e.g. ``2011-03-14T00:00:00.000Z``."""
    return (_EPOCH + timedelta(milliseconds=timestamp)).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _to_millis(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)
