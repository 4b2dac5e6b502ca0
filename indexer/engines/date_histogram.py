"""Intervals of a date histogram: where a bucket starts, and where the next one does. All in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from indexer.errors import BadParameter

Unit = Literal["hour", "day", "week", "month", "quarter", "year"]
HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
_CALENDAR: Final[Mapping[str, Unit]] = {
    "1h": "hour", "hour": "hour", "1d": "day", "day": "day", "1w": "week", "week": "week", "1M": "month",
    "month": "month", "1q": "quarter", "quarter": "quarter", "1y": "year", "year": "year",
}  # fmt: skip
_FIXED: Final = re.compile(r"([1-9]\d{0,4})([hd])")
_MONTHS: Final[Mapping[str | None, int]] = {"month": 1, "quarter": 3, "year": 12}
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Interval:
    """A unit of the calendar, or a fixed number of milliseconds."""

    unit: Unit | None = None
    fixed: int = 0

    @classmethod
    def calendar(cls, written: str) -> Interval:
        if written not in _CALENDAR:
            raise BadParameter(
                f"{written!r} is no calendar interval", fix="use hour, day, week, month, quarter or year"
            )
        return cls(_CALENDAR[written])

    @classmethod
    def of_length(cls, written: str) -> Interval:
        found = _FIXED.fullmatch(written)
        if not found:
            raise BadParameter(f"{written!r} is no fixed interval", fix="write hours or days, such as 12h or 30d")
        return cls(fixed=int(found[1]) * (HOUR if found[2] == "h" else DAY))

    @property
    def grain(self) -> int:
        """Milliseconds of which every bucket is made whole."""
        return self.fixed or (HOUR if self.unit == "hour" else DAY)

    def start(self, at: int) -> int:
        """The first millisecond of the bucket that holds the moment."""
        if self.unit in _MONTHS:
            moment, months = _FIRST + timedelta(milliseconds=at), _MONTHS[self.unit]
            first = (moment.month - 1) // months * months + 1
            return _millis(datetime(moment.year, first, 1, tzinfo=UTC))
        if self.unit == "week":  # weeks begin on Monday, and 1970 did on a Thursday
            return (at + 3 * DAY) // (7 * DAY) * (7 * DAY) - 3 * DAY
        return at // self.grain * self.grain

    def after(self, start: int) -> int:
        """The first millisecond of the bucket after the one that starts here."""
        if self.unit in _MONTHS:
            return self.start(start + (_MONTHS[self.unit] * 31) * DAY)
        return start + (7 * DAY if self.unit == "week" else self.grain)

    def fold(self, counts: Mapping[int, int]) -> dict[int, int]:
        """Counts by grain as counts by bucket, in the order of time."""
        out: dict[int, int] = {}
        for at in sorted(counts):
            start = self.start(at)
            out[start] = out.get(start, 0) + counts[at]
        return out

    def filled(self, counts: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Every bucket from the first to the last, empty ones included."""
        if not counts:
            return
        at, last = min(counts), max(counts)
        yield at, counts[at]
        while at < last:
            at = self.after(at)
            yield at, counts.get(at, 0)


def iso(at: int) -> str:
    """As Elasticsearch writes it."""
    return (_FIRST + timedelta(milliseconds=at)).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _millis(moment: datetime) -> int:
    return (moment - _FIRST) // timedelta(milliseconds=1)
