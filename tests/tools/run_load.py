"""``make load``: the rate of requests that this machine sustains, and its behaviour beyond.

    python -m tests.tools.run_load [--rate N] [--minutes 10] [--engine elasticsearch|embedded] [--json FILE]

Everything is on this machine, the senders too: Elasticsearch (or the embedded engine), Valkey, two workers, one web
server. Without ``--rate`` the traffic grows until the service falls behind, and nine tenths of the last sustained
rate are taken. That rate is kept up for the given time; then comes twice as much, then the first rate again. Exit
status 1 after an error, a growth of memory, a refusal without Retry-After, or no recovery.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.readers.docstrings import read_docstrings
from tests.support.deployment import Deployment
from tests.support.load.service_stats import MemorySampler, read_metric, wait_until_idle
from tests.support.load.traffic import ANSWERED, KINDS, LATER, REFUSED, RequestMix, Tally, TrafficResult, send_traffic
from webapi.client import Client

INDEX = "load"
INITIAL_RATE, RATE_FACTOR, STEP_SECONDS = 2.0, 1.4, 15.0
WARM_UP_SECONDS = 20.0
"""Traffic before anything is measured."""
MAX_LATER_SHARE, MAX_BACKLOG_SECONDS = 0.1, 2.0
"""A rate is sustained if nothing is refused, at most this share is answered later, and the jobs left at the end are
done within so many seconds."""
MAX_MEMORY_GROWTH = 0.05
MAX_QUEUE = 30
"""The setting max_queue: a few seconds of work. Requests beyond it are refused with Retry-After."""
SECONDS_UNTIL_IDLE = "seconds until idle"
MAX_RECOVERY_SECONDS = 10.0
"""Time after an overload in which requests may still be refused."""


@dataclass
class Phase:
    name: str
    result: TrafficResult
    extra: dict[str, Any] = field(default_factory=dict)


@contextmanager
def start_service(engine: str, documents: int) -> Iterator[tuple[Deployment, RequestMix]]:
    """Start the service on an index of docstrings."""
    with tempfile.TemporaryDirectory() as folder, _start_engine(engine, Path(folder)) as address:
        with open_engine(address) as opened:
            build_index(islice(read_docstrings(), documents), opened, INDEX)
            reader = opened.open_reader(INDEX)
            analysed = list(reader.scan())
        ids = [one.document.id for one in analysed]
        phrases = sorted({salient.phrase.replace("@@", " ") for one in analysed for salient in one.salient[:5]})
        with Deployment(Path(folder), address, settings={"max_queue": MAX_QUEUE, "concurrency": 1}) as deployment:
            yield deployment, RequestMix(INDEX, ids[:1000], phrases)


@contextmanager
def _start_engine(kind: str, folder: Path) -> Iterator[str]:
    if kind == "embedded":
        yield str(folder / "engine")
        return
    from deploy.elasticsearch.node import Node

    with Node() as node:
        yield node.url


def run_phases(deployment: Deployment, mix: RequestMix, rate: float, seconds: float) -> list[Phase]:
    with Client(deployment.url, timeout=60) as client:
        for request in mix.cached_requests:
            client.compare(INDEX, request.body["a"], request.body["b"])
    _print_progress("warming up")
    send_traffic(deployment.url, mix, rate or INITIAL_RATE, WARM_UP_SECONDS)
    wait_until_idle(deployment)
    rate = rate or _find_rate(deployment, mix)
    _print_progress(f"holding {rate:.1f} a second for {seconds / 60:.1f} minutes")
    with MemorySampler(deployment) as memory:
        held = Phase("held", send_traffic(deployment.url, mix, rate, seconds))
    held.extra = {"memory growth": round(memory.compute_growth(), 4), "megabytes": memory.last_megabytes()}
    held.extra |= _read_job_stats(deployment)
    _print_progress(f"twice as much for {min(seconds, 60):.0f} s")
    twice = Phase("twice as much", send_traffic(deployment.url, mix, 2 * rate, min(seconds, 60)))
    again = Phase("the same again", send_traffic(deployment.url, mix, rate, 3 * MAX_RECOVERY_SECONDS))
    again.extra = {"refused until second": round(again.result.refused_until, 1)} | _read_job_stats(deployment)
    return [held, twice, again]


def _find_rate(deployment: Deployment, mix: RequestMix) -> float:
    """Return nine tenths of the last sustained rate; a rate that fails is tried twice."""
    rate, chances = INITIAL_RATE, 2
    while chances:
        result = send_traffic(deployment.url, mix, rate, STEP_SECONDS)
        sustained = is_sustained(result, wait_until_idle(deployment))
        _print_progress(
            f"{rate:6.1f} a second {'is held    ' if sustained else 'is too much'}{_format_tally(result.total)}"
        )
        if sustained:
            rate, chances = rate * RATE_FACTOR, 2
        else:
            chances -= 1
    return 0.9 * rate / RATE_FACTOR


def is_sustained(result: TrafficResult, backlog_seconds: float) -> bool:
    """Return whether the rate was sustained; ``backlog_seconds``: time it took to finish the jobs left at the end."""
    total = result.total
    return (
        not total.wrong
        and not total.outcomes[REFUSED]
        and total.outcomes[LATER] <= MAX_LATER_SHARE * total.request_count
        and backlog_seconds <= MAX_BACKLOG_SECONDS
    )


def _read_job_stats(deployment: Deployment) -> dict[str, Any]:
    return {
        SECONDS_UNTIL_IDLE: round(wait_until_idle(deployment), 1),
        "failed jobs": int(read_metric(deployment, "phrasecom_jobs_ended_total", state="failed")),
    }


def list_problems(phases: list[Phase]) -> list[str]:
    """Return what must not be: errors, refusals, growth of memory, failed jobs."""
    held, twice, again = phases
    problems = [f"{phase.name}: {what} ({n} times)" for phase in phases for what, n in phase.result.total.wrong.items()]
    if not is_sustained(held.result, held.extra[SECONDS_UNTIL_IDLE]):
        problems.append("held: it was too much; give a lower --rate")
    if held.extra["memory growth"] > MAX_MEMORY_GROWTH:
        problems.append(f"held: memory grew by {held.extra['memory growth']:.1%}")
    if not twice.result.total.outcomes[REFUSED]:
        problems.append("twice as much: nothing was refused, so it was not too much; give a higher --rate")
    if again.result.refused_until > MAX_RECOVERY_SECONDS:
        problems.append(f"the same again: requests were refused for {again.result.refused_until:.0f} s")
    if failed := again.extra["failed jobs"]:
        problems.append(f"{failed} jobs failed")
    return problems


def format_table(phases: list[Phase]) -> str:
    head = "".join(f"{name:>9}" for name in (ANSWERED, LATER, "429", "503", "wrong"))
    head += "".join(f"{name:>9}" for name in ("p50 ms", "p95 ms", "p99 ms", "max ms"))
    lines = [f"{'':16}{'kind':8}{'asked':>9}{head}"]
    for phase in phases:
        rows = {**phase.result.by_kind, "all": phase.result.total}
        lines += [
            f"{phase.name if kind == KINDS[0] else '':16}{kind:8}{_format_tally(tally)}" for kind, tally in rows.items()
        ]
        more = {"a second": round(phase.result.rate, 1), **phase.extra}
        lines.append("  " + ", ".join(f"{name} {value}" for name, value in more.items()))
    return "\n".join(lines)


def _format_tally(tally: Tally) -> str:
    counts = [
        tally.request_count,
        tally.outcomes[ANSWERED],
        tally.outcomes[LATER],
        tally.statuses[429],
        tally.statuses[503],
    ]
    times = [1000 * tally.compute_quantile(share) for share in (0.5, 0.95, 0.99, 1.0)]
    return "".join(f"{n:9}" for n in (*counts, tally.wrong.total())) + "".join(f"{t:9.0f}" for t in times)


def to_dict(phases: list[Phase], problems: list[str]) -> dict[str, Any]:
    return {
        "phases": [
            {
                "name": phase.name,
                "rate": phase.result.rate,
                "seconds": phase.result.seconds,
                "kinds": {
                    kind: _tally_to_dict(t) for kind, t in {**phase.result.by_kind, "all": phase.result.total}.items()
                },
                **phase.extra,
            }
            for phase in phases
        ],
        "complaints": problems,
    }


def _tally_to_dict(tally: Tally) -> dict[str, Any]:
    return {
        "ends": dict(tally.outcomes),
        "statuses": {str(status): n for status, n in sorted(tally.statuses.items())},
        "wrong": dict(tally.wrong),
        **{f"p{share}_ms": round(1000 * tally.compute_quantile(share / 100), 1) for share in (50, 95, 99, 100)},
    }


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rate", type=float, default=0.0, help="requests per second; default: measured")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--engine", choices=["elasticsearch", "embedded"], default="elasticsearch")
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--json", type=Path, metavar="FILE", help="the table as JSON as well")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    with start_service(arguments.engine, arguments.documents) as (deployment, mix):
        phases = run_phases(deployment, mix, arguments.rate, 60 * arguments.minutes)
    problems = list_problems(phases)
    print(format_table(phases))
    for problem in problems:
        print("NOT WELL:", problem)
    if arguments.json:
        arguments.json.write_text(json.dumps(to_dict(phases, problems), indent=1) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
