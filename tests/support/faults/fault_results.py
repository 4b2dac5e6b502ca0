"""What each fault did to the jobs, kept in a file for the table at the end of ``make faults``."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from tests.support.faults.job_tracker import JobTracker
    from tests.support.faults.observer import ApiObserver

RESULTS_FILE_VARIABLE = "PHRASECOM_TEST_FAULTS_JSON"
"""Where the rows go, one JSON list; no file without it."""
IS_FULL_RUN = os.environ.get("PHRASECOM_TEST_FAULTS") == "full"
"""``make faults``: all of it. Otherwise one kill of each kind, for the quick suite."""


@dataclass(frozen=True)
class FaultResult:
    fault: str
    accepted: int
    finished: int
    failed: int
    """With a reason."""
    lost: int
    duplicated: int
    """Effects."""
    recovery: float | None
    """Seconds until the service did again what it was asked, with nobody helping."""
    more: dict[str, Any] = field(default_factory=dict)
    """What else is worth telling."""

    @classmethod
    def from_run(
        cls,
        fault: str,
        jobs: JobTracker,
        repeated: Collection[str],
        recovery: float | None,
        observer: ApiObserver,
        **more: Any,
    ) -> Self:
        """``twice``: jobs that had their effect more than once."""
        more |= {"the API answered": dict(observer.status_counts), "slowest s": round(observer.slowest_seconds, 1)}
        more |= {"refused and asked again": dict(jobs.refusals), "reasons": dict(jobs.count_failure_codes())}
        counts = [jobs.count_jobs(state) for state in ("done", "failed", "lost")]
        told = {name.replace("_", " "): value for name, value in more.items() if value not in ({}, 0)}
        return cls(fault, len(jobs.accepted), *counts, len(repeated), recovery, told)

    def is_complete(self) -> bool:
        return self.accepted == self.finished + self.failed and not self.lost and not self.duplicated


def record_result(row: FaultResult) -> None:
    print(f"\n{row}")
    file = os.environ.get(RESULTS_FILE_VARIABLE)
    if file:
        rows = [*read_results(Path(file)), row]
        Path(file).write_text(json.dumps([asdict(one) for one in rows], indent=1) + "\n")


def read_results(path: Path) -> list[FaultResult]:
    return [FaultResult(**one) for one in json.loads(path.read_text())] if path.exists() else []


HEADERS = ("fault", "accepted", "finished", "failed, with a reason", "lost", "duplicated effects", "recovery s")


def format_table(rows: Sequence[FaultResult]) -> str:
    cells = [HEADERS, *(_format_cells(row) for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(HEADERS))]
    lines = [f"{line[0]:<{widths[0]}}  " + "  ".join(map(str.rjust, line[1:], widths[1:])) for line in cells]
    notes = [f"{row.fault}: " + ", ".join(f"{name} {value}" for name, value in row.more.items()) for row in rows]
    return "\n".join([*lines, "", *notes, "", format_summary(rows)])


def _format_cells(row: FaultResult) -> tuple[str, ...]:
    recovery = "-" if row.recovery is None else f"{row.recovery:.1f}"
    counts = (row.accepted, row.finished, row.failed, row.lost, row.duplicated)
    return (row.fault, *map(str, counts), recovery)


def format_summary(rows: Sequence[FaultResult]) -> str:
    """One line."""
    slowest = max((row.recovery for row in rows if row.recovery is not None), default=0.0)
    total = {name: sum(getattr(row, name) for row in rows) for name in ("accepted", "finished", "failed")}
    bad = {name: sum(getattr(row, name) for row in rows) for name in ("lost", "duplicated")}
    return (
        f"{len(rows)} faults: {total['accepted']} jobs accepted = {total['finished']} finished + {total['failed']} "
        f"failed with a reason; {bad['lost']} lost, {bad['duplicated']} duplicated effects; "
        f"slowest recovery {slowest:.1f} s"
    )
