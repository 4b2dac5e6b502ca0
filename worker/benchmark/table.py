"""Every row there is, and how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import BadParameter
from worker.benchmark import measure_compare, measure_http, measure_index, measure_solve, measure_worker
from worker.benchmark.environment import ELASTICSEARCH, EMBEDDED, Setting, Unmeasured
from worker.benchmark.rows import Better, Figures, Goal, Line, Row

COLD = "cold comparison"
EACH = (EMBEDDED, ELASTICSEARCH)
Measured = Figures | Sequence[Figures]


@dataclass(frozen=True)
class Measurement:
    """Rows that are measured in one go, on each of some engines (None: on none)."""

    lines: tuple[Line, ...]
    kinds: tuple[str | None, ...]
    run: Callable[[Setting, str], Measured]


def at_most(value: float) -> Goal:
    return Goal("<=", value)


def at_least(value: float) -> Goal:
    return Goal(">=", value)


FASTER: Better = "against/ours"
TABLE = (
    Measurement(
        (Line("own-requests", COLD, "its own requests", at_most(1.5)),), (ELASTICSEARCH,), measure_compare.own_requests
    ),
    Measurement(
        (Line("more-like-this", COLD, "more_like_this, 10 hits", at_most(5)),),
        (ELASTICSEARCH,),
        measure_compare.like_this,
    ),
    Measurement(
        (Line("yake", COLD, "YAKE on the same two texts", at_least(2), better=FASTER),),
        (EMBEDDED,),
        measure_compare.yake_keywords,
    ),
    Measurement(
        (Line("tfidf", COLD, "TF-IDF differences (scikit-learn)", None, better=FASTER),),
        (EMBEDDED,),
        measure_compare.tfidf_difference,
    ),
    Measurement(
        (Line("solve", "the solve", "the solve on the full graph", at_least(100), better=FASTER),),
        (EMBEDDED,),
        measure_solve.solve,
    ),
    Measurement(
        (Line("paper", COLD, "the paper's algorithm on the full graph", at_least(10), better=FASTER),),
        (EMBEDDED,),
        measure_solve.paper,
    ),
    Measurement((Line("growth", COLD, "itself on the small corpus", at_most(1.5)),), EACH, measure_compare.growth),
    Measurement(
        (Line("page", "a page of 10 hits in one request", "one comparison", at_most(5)),), EACH, measure_compare.page
    ),
    Measurement(
        (Line("sets", "comparison of two sets", "one pair", at_most(20)),), EACH, measure_compare.set_comparison
    ),
    Measurement(
        (
            Line("throughput", "cold comparisons a second", "", at_least(20), "1/s"),
            Line("worker-memory", "peak memory of a worker above imports", "", at_most(250), "MB"),
        ),
        EACH,
        measure_worker.throughput,
    ),
    Measurement(
        (
            Line("http", "cached look-up by id", "a bare Flask app", at_least(0.8), "1/s"),
            Line("http-question", "cached look-up by question", "a bare Flask app", at_least(0.8), "1/s"),
            Line("http-rate", "cached look-ups a second", "", at_least(1000), "1/s"),
        ),
        (None,),
        measure_http.cached,
    ),
    Measurement(
        (
            Line("patterns", "frequent patterns and features", "", at_least(1_000_000), "tokens/s"),
            Line("mining", "the whole of mining", "", at_least(300_000), "tokens/s"),
            Line("mining-memory", "memory of mining above imports", "the size of the text", at_most(4), "MB"),
        ),
        (None,),
        measure_index.mining,
    ),
    Measurement(
        (Line("indexing", "indexing, the whole pipeline", "parallel_bulk of the raw text", at_most(4), "s"),),
        (ELASTICSEARCH,),
        measure_index.whole_pipeline,
    ),
)
NAMES = tuple(line.name for measurement in TABLE for line in measurement.lines)


def check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in NAMES:
            raise BadParameter(f"no row named {name!r}", fix=f"use some of {', '.join(NAMES)}")


def measure(setting: Setting, names: Sequence[str], telling: Callable[[str], None]) -> Iterator[Row]:
    """The rows one after another; all of them when none is named."""
    for measurement in TABLE:
        lines = [line for line in measurement.lines if not names or line.name in names]
        for kind in measurement.kinds if lines else ():
            telling(f"{lines[0].name} {kind or ''}".strip())
            yield from (row for row in _rows(measurement, setting, kind) if not names or row.name in names)


def _rows(measurement: Measurement, setting: Setting, kind: str | None) -> list[Row]:
    try:
        if kind is not None and kind not in setting.engines:
            raise Unmeasured(f"no {kind} was given")
        found = measurement.run(setting, kind or "")
    except Unmeasured as reason:
        return [line.unmeasured(kind, str(reason)) for line in measurement.lines]
    each = [found] if isinstance(found, Figures) else found
    return [line.judged(figures, kind) for line, figures in zip(measurement.lines, each, strict=True)]
