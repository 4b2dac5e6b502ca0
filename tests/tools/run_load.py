"""``make load``: how much this machine holds, for how long, and what happens beyond.

    python -m tests.tools.run_load [--rate N] [--minutes 10] [--engine elasticsearch|embedded] [--json FILE]

Everything is on this machine, the senders too: Elasticsearch (or the embedded engine), Valkey, two workers, one web
server. Without ``--rate`` the rate is looked for: the traffic grows until the service falls behind, and nine tenths of
what it last held is taken. That is held for the given time; then comes twice as much, then the first rate again.
Exit status 1 when something is not as it must be: an error, memory that grows, a refusal without Retry-After, no
recovery.
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
from tests.support.faults.deployment import House
from tests.support.load.process_stats import Memory, measured, seconds_until_idle
from tests.support.load.traffic import ANSWERED, KINDS, LATER, REFUSED, Outcome, Questions, Tally, send
from webapi.client import Client

INDEX = "load"
FIRST_RATE, FACTOR, STEP = 2.0, 1.4, 15.0
WARM = 20.0
"""Seconds of traffic before anything is measured."""
PUT_OFF, BEHIND = 0.1, 2.0
"""A rate is held if nothing is refused, no more than this share is told to come back later, and the work that is left
at its end is done within so many seconds."""
MOST_GROWTH = 0.05
QUEUE = 30
"""max_queue: a few seconds of work. Who comes when that much is waiting is told to come back."""
IDLE = "seconds until idle"
RECOVERY = 10.0
"""Seconds after which nothing may be refused any more once there is no longer too much."""


@dataclass
class Phase:
    name: str
    outcome: Outcome
    more: dict[str, Any] = field(default_factory=dict)


@contextmanager
def serving(engine: str, documents: int) -> Iterator[tuple[House, Questions]]:
    with tempfile.TemporaryDirectory() as made, _engine(engine, Path(made)) as address:
        with open_engine(address) as opened:
            build_index(islice(read_docstrings(), documents), opened, INDEX)
            reader = opened.open_reader(INDEX)
            found = list(reader.scan())
        ids = [one.document.id for one in found]
        phrases = sorted({salient.phrase.replace("@@", " ") for one in found for salient in one.salient[:5]})
        with House(Path(made), address, settings={"max_queue": QUEUE, "concurrency": 1}) as house:
            yield house, Questions(INDEX, ids[:1000], phrases)


@contextmanager
def _engine(kind: str, folder: Path) -> Iterator[str]:
    if kind == "embedded":
        yield str(folder / "engine")
        return
    from deploy.elasticsearch.node import Node

    with Node() as node:
        yield node.url


def run(house: House, questions: Questions, rate: float, seconds: float) -> list[Phase]:
    with Client(house.url, timeout=60) as client:
        for known in questions.known:
            client.compare(INDEX, known.body["a"], known.body["b"])
    _say("warming up")
    send(house.url, questions, rate or FIRST_RATE, WARM)
    seconds_until_idle(house)
    rate = rate or _found(house, questions)
    _say(f"holding {rate:.1f} a second for {seconds / 60:.1f} minutes")
    with Memory(house) as memory:
        held = Phase("held", send(house.url, questions, rate, seconds))
    held.more = {"memory growth": round(memory.growth(), 4), "megabytes": memory.megabytes()}
    held.more |= _jobs(house)
    _say(f"twice as much for {min(seconds, 60):.0f} s")
    twice = Phase("twice as much", send(house.url, questions, 2 * rate, min(seconds, 60)))
    again = Phase("the same again", send(house.url, questions, rate, 3 * RECOVERY))
    again.more = {"refused until second": round(again.outcome.refused_until, 1)} | _jobs(house)
    return [held, twice, again]


def _found(house: House, questions: Questions) -> float:
    """Nine tenths of the last rate that was held; one that is not gets a second chance."""
    rate, chances = FIRST_RATE, 2
    while chances:
        outcome = send(house.url, questions, rate, STEP)
        good = holds(outcome, seconds_until_idle(house))
        _say(f"{rate:6.1f} a second {'is held    ' if good else 'is too much'}{_line(outcome.all)}")
        if good:
            rate, chances = rate * FACTOR, 2
        else:
            chances -= 1
    return 0.9 * rate / FACTOR


def holds(outcome: Outcome, left: float) -> bool:
    """``left``: seconds it took to finish what was left."""
    whole = outcome.all
    return not whole.wrong and not whole.ends[REFUSED] and whole.ends[LATER] <= PUT_OFF * whole.asked and left <= BEHIND


def _jobs(house: House) -> dict[str, Any]:
    return {
        IDLE: round(seconds_until_idle(house), 1),
        "failed jobs": int(measured(house, "phrasecom_jobs_ended_total", state="failed")),
    }


def complaints(phases: list[Phase]) -> list[str]:
    """What is not as it must be."""
    held, twice, again = phases
    found = [f"{phase.name}: {what} ({n} times)" for phase in phases for what, n in phase.outcome.all.wrong.items()]
    if not holds(held.outcome, held.more[IDLE]):
        found.append("held: it was too much; give a lower --rate")
    if held.more["memory growth"] > MOST_GROWTH:
        found.append(f"held: memory grew by {held.more['memory growth']:.1%}")
    if not twice.outcome.all.ends[REFUSED]:
        found.append("twice as much: nothing was refused, so it was not too much; give a higher --rate")
    if again.outcome.refused_until > RECOVERY:
        found.append(f"the same again: requests were refused for {again.outcome.refused_until:.0f} s")
    if failed := again.more["failed jobs"]:
        found.append(f"{failed} jobs failed")
    return found


def table(phases: list[Phase]) -> str:
    head = "".join(f"{name:>9}" for name in (ANSWERED, LATER, "429", "503", "wrong"))
    head += "".join(f"{name:>9}" for name in ("p50 ms", "p95 ms", "p99 ms", "max ms"))
    lines = [f"{'':16}{'kind':8}{'asked':>9}{head}"]
    for phase in phases:
        rows = {**phase.outcome.by_kind, "all": phase.outcome.all}
        lines += [f"{phase.name if kind == KINDS[0] else '':16}{kind:8}{_line(tally)}" for kind, tally in rows.items()]
        more = {"a second": round(phase.outcome.rate, 1), **phase.more}
        lines.append("  " + ", ".join(f"{name} {value}" for name, value in more.items()))
    return "\n".join(lines)


def _line(tally: Tally) -> str:
    counts = [tally.asked, tally.ends[ANSWERED], tally.ends[LATER], tally.statuses[429], tally.statuses[503]]
    times = [1000 * tally.quantile(share) for share in (0.5, 0.95, 0.99, 1.0)]
    return "".join(f"{n:9}" for n in (*counts, tally.wrong.total())) + "".join(f"{t:9.0f}" for t in times)


def to_dict(phases: list[Phase], found: list[str]) -> dict[str, Any]:
    return {
        "phases": [
            {
                "name": phase.name,
                "rate": phase.outcome.rate,
                "seconds": phase.outcome.seconds,
                "kinds": {kind: _numbers(t) for kind, t in {**phase.outcome.by_kind, "all": phase.outcome.all}.items()},
                **phase.more,
            }
            for phase in phases
        ],
        "complaints": found,
    }


def _numbers(tally: Tally) -> dict[str, Any]:
    return {
        "ends": dict(tally.ends),
        "statuses": {str(status): n for status, n in sorted(tally.statuses.items())},
        "wrong": dict(tally.wrong),
        **{f"p{share}_ms": round(1000 * tally.quantile(share / 100), 1) for share in (50, 95, 99, 100)},
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; default: looked for")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--engine", choices=["elasticsearch", "embedded"], default="elasticsearch")
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--json", type=Path, metavar="FILE", help="the table as JSON as well")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    with serving(given.engine, given.documents) as (house, questions):
        phases = run(house, questions, given.rate, 60 * given.minutes)
    found = complaints(phases)
    print(table(phases))
    for what in found:
        print("NOT WELL:", what)
    if given.json:
        given.json.write_text(json.dumps(to_dict(phases, found), indent=1) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
