"""The jobs' outcomes under each fault, written to a file for the table at the end of ``make faults``."""

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
"""Environment variable with the path of a file for the results, one JSON list; without it there is no file."""
IS_FULL_RUN = os.environ.get("PHRASECOM_TEST_FAULTS") == "full"
"""Whether faults are tried at full size (``make faults``); otherwise one of each kind, for the quick suite."""


@dataclass(frozen=True)
class FaultResult:
    """Counts of jobs by their outcome."""

    fault: str
    accepted: int
    finished: int
    failed: int
    """Jobs that failed with a reason."""
    lost: int
    duplicated: int
    """Jobs that had their effect more than once."""
    recovery: float | None
    """Seconds until the service worked again, without intervention."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further figures by name."""

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
        """Count the outcomes; ``repeated``: jobs that had their effect more than once."""
        more |= {"the API answered": dict(observer.status_counts), "slowest s": round(observer.slowest_seconds, 1)}
        more |= {"refused and asked again": dict(jobs.refusals), "reasons": dict(jobs.count_failure_codes())}
        counts = [jobs.count_jobs(state) for state in ("done", "failed", "lost")]
        notes = {name.replace("_", " "): value for name, value in more.items() if value not in ({}, 0)}
        return cls(fault, len(jobs.accepted), *counts, len(repeated), recovery, notes)

    def is_complete(self) -> bool:
        return self.accepted == self.finished + self.failed and not self.lost and not self.duplicated


def record_result(result: FaultResult) -> None:
    """Print the result and add it to the file."""
    print(f"\n{result}")
    file = os.environ.get(RESULTS_FILE_VARIABLE)
    if file:
        results = [*read_results(Path(file)), result]
        Path(file).write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")


def assert_no_bad_replies(observer: ApiObserver, jobs: JobTracker) -> None:
    assert not observer.bad_replies and not jobs.bad_replies, (observer.bad_replies[:3], jobs.bad_replies[:3])


def read_results(path: Path) -> list[FaultResult]:
    return [FaultResult(**fields) for fields in json.loads(path.read_text())] if path.exists() else []


HEADERS = ("fault", "accepted", "finished", "failed, with a reason", "lost", "duplicated effects", "recovery s")


def format_table(results: Sequence[FaultResult]) -> str:
    cells = [HEADERS, *(_format_cells(result) for result in results)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(HEADERS))]
    lines = [f"{line[0]:<{widths[0]}}  " + "  ".join(map(str.rjust, line[1:], widths[1:])) for line in cells]
    notes = [
        f"{result.fault}: " + ", ".join(f"{name} {value}" for name, value in result.more.items()) for result in results
    ]
    return "\n".join([*lines, "", *notes, "", format_summary(results)])


def _format_cells(result: FaultResult) -> tuple[str, ...]:
    recovery = "-" if result.recovery is None else f"{result.recovery:.1f}"
    counts = (result.accepted, result.finished, result.failed, result.lost, result.duplicated)
    return (result.fault, *map(str, counts), recovery)


def format_summary(results: Sequence[FaultResult]) -> str:
    """Return one line with the totals."""
    slowest = max((result.recovery for result in results if result.recovery is not None), default=0.0)
    total = {name: sum(getattr(result, name) for result in results) for name in ("accepted", "finished", "failed")}
    bad = {name: sum(getattr(result, name) for result in results) for name in ("lost", "duplicated")}
    return (
        f"{len(results)} faults: {total['accepted']} jobs accepted = {total['finished']} finished + {total['failed']} "
        f"failed with a reason; {bad['lost']} lost, {bad['duplicated']} duplicated effects; "
        f"slowest recovery {slowest:.1f} s"
    )
