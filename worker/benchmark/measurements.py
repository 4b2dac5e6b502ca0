"""Table of all measurements: the rows of each, their goals, and the function that measures them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import BadParameter
from worker.benchmark import (
    measure_compare,
    measure_http,
    measure_index,
    measure_search,
    measure_solve,
    measure_worker,
)
from worker.benchmark.environment import ELASTICSEARCH, EMBEDDED, BenchEnvironment, Unmeasured
from worker.benchmark.rows import BenchRow, MeasuredFigures, RatioForm, RowSpec, SpeedGoal
from worker.benchmark.vectors import measure_vectors

COLD_COMPARISON = "cold comparison"
BOTH_ENGINES = (EMBEDDED, ELASTICSEARCH)


@dataclass(frozen=True)
class Measurement:
    """Rows that one function measures together."""

    row_specs: tuple[RowSpec, ...]
    engine_kinds: tuple[str | None, ...]
    """Engines to measure on, one after another; None if it needs none."""
    run: Callable[[BenchEnvironment, str], MeasuredFigures | Sequence[MeasuredFigures]]
    """Takes the environment and the engine kind; returns figures for each row."""


def at_most(value: float) -> SpeedGoal:
    return SpeedGoal("<=", value)


def at_least(value: float) -> SpeedGoal:
    return SpeedGoal(">=", value)


def build_page_specs(cold_goal: SpeedGoal, cached_goal: SpeedGoal) -> tuple[RowSpec, ...]:
    """Return the rows of a results page; its goals depend on the engine, as a search takes longer on a server."""
    return (
        RowSpec("page", "10 hits of a new query with reasons", "the same search without", cold_goal),
        RowSpec("page-cached", "the same query again", "the same search without", cached_goal),
    )


FASTER: RatioForm = "against/ours"
MEASUREMENTS = (
    Measurement(
        (RowSpec("own-requests", COLD_COMPARISON, "its own requests", at_most(1.5)),),
        (ELASTICSEARCH,),
        measure_compare.measure_own_requests,
    ),
    Measurement(
        (RowSpec("more-like-this", COLD_COMPARISON, "more_like_this, 10 hits", at_most(5)),),
        (ELASTICSEARCH,),
        measure_compare.measure_more_like_this,
    ),
    Measurement(
        (RowSpec("yake", COLD_COMPARISON, "YAKE on the same two texts", at_least(2), ratio_form=FASTER),),
        (EMBEDDED,),
        measure_compare.measure_yake,
    ),
    Measurement(
        (RowSpec("tfidf", COLD_COMPARISON, "TF-IDF differences (scikit-learn)", None, ratio_form=FASTER),),
        (EMBEDDED,),
        measure_compare.measure_tfidf,
    ),
    Measurement(
        (RowSpec("solve", "the solve", "the solve on the full graph", at_least(100), ratio_form=FASTER),),
        (EMBEDDED,),
        measure_solve.measure_solve,
    ),
    Measurement(
        (
            RowSpec(
                "paper", COLD_COMPARISON, "the paper's algorithm on the full graph", at_least(10), ratio_form=FASTER
            ),
        ),
        (EMBEDDED,),
        measure_solve.measure_paper_problems,
    ),
    Measurement(
        (RowSpec("growth", COLD_COMPARISON, "itself on the small corpus", at_most(1.5)),),
        BOTH_ENGINES,
        measure_compare.measure_growth,
    ),
    Measurement(build_page_specs(at_most(8), at_most(1.3)), (EMBEDDED,), measure_search.measure_search_pages),
    Measurement(build_page_specs(at_most(10), at_most(1.5)), (ELASTICSEARCH,), measure_search.measure_search_pages),
    Measurement(
        (RowSpec("sets", "comparison of two sets", "one pair", at_most(20)),),
        BOTH_ENGINES,
        measure_compare.measure_set_comparison,
    ),
    Measurement(
        (
            RowSpec("throughput", "cold comparisons a second", "", at_least(20), "1/s"),
            RowSpec("worker-memory", "peak memory of a worker above imports", "", at_most(250), "MB"),
        ),
        BOTH_ENGINES,
        measure_worker.measure_comparison_throughput,
    ),
    Measurement(
        (
            RowSpec("http", "cached look-up by id", "a bare Flask app", at_least(0.8), "1/s"),
            RowSpec("http-question", "cached look-up by request body", "a bare Flask app", at_least(0.8), "1/s"),
            RowSpec("http-rate", "cached look-ups a second", "", at_least(1000), "1/s"),
        ),
        (None,),
        measure_http.measure_cached_lookups,
    ),
    Measurement(
        (
            RowSpec("patterns", "frequent patterns and features", "", at_least(1_000_000), "tokens/s"),
            RowSpec("mining", "the whole of mining", "", at_least(300_000), "tokens/s"),
            RowSpec("mining-memory", "memory of mining above imports", "the size of the text", at_most(4), "MB"),
        ),
        (None,),
        measure_index.measure_mining,
    ),
    Measurement(
        (RowSpec("indexing", "indexing, the whole pipeline", "parallel_bulk of the raw text", at_most(4), "s"),),
        (ELASTICSEARCH,),
        measure_index.measure_indexing,
    ),
    Measurement(
        (
            RowSpec("vectors-size", "a document of an index with vectors", "without vectors", None, "bytes"),
            RowSpec("vectors-build", "a build with vectors", "without vectors", None, "s"),
        ),
        (EMBEDDED,),
        measure_vectors.measure_index_growth,
    ),
    Measurement(
        (
            RowSpec("vectors-page", "10 hits with reasons by words and a vector", "by words alone", None),
            RowSpec("vectors-page-cached", "the same query again", "by words alone", None),
        ),
        (EMBEDDED,),
        measure_vectors.measure_vector_pages,
    ),
    Measurement(
        (
            RowSpec("million-memory", "memory of a million phrases in vector space", "", None, "MB"),
            RowSpec("million-page", "10 hits of 30 phrases in that space", "", None),
            RowSpec("million-random", "the random documents in that space", "", None),
        ),
        (None,),
        measure_vectors.measure_large_model,
    ),
)
ROW_NAMES = tuple(dict.fromkeys(spec.name for measurement in MEASUREMENTS for spec in measurement.row_specs))


def check_row_names(names: Sequence[str]) -> None:
    """Raise BadParameter if there is no row of one of the names."""
    for name in names:
        if name not in ROW_NAMES:
            raise BadParameter(f"no row named {name!r}", fix=f"use one of {', '.join(ROW_NAMES)}")


def measure_rows(
    environment: BenchEnvironment, names: Sequence[str], on_start: Callable[[str], None]
) -> Iterator[BenchRow]:
    """Yield the named rows (all if none is named) as they are measured; ``on_start`` gets the name of each first."""
    for measurement in MEASUREMENTS:
        specs = [spec for spec in measurement.row_specs if not names or spec.name in names]
        for kind in measurement.engine_kinds if specs else ():
            on_start(f"{specs[0].name} {kind or ''}".strip())
            yield from (
                row for row in _run_measurement(measurement, environment, kind) if not names or row.name in names
            )


def _run_measurement(
    measurement: Measurement, environment: BenchEnvironment, engine_kind: str | None
) -> list[BenchRow]:
    try:
        if engine_kind is not None and engine_kind not in environment.engines:
            raise Unmeasured(f"no {engine_kind} was given")
        figures = measurement.run(environment, engine_kind or "")
    except Unmeasured as reason:
        return [spec.build_unmeasured_row(engine_kind, str(reason)) for spec in measurement.row_specs]
    row_figures = [figures] if isinstance(figures, MeasuredFigures) else figures
    return [spec.build_row(each, engine_kind) for spec, each in zip(measurement.row_specs, row_figures, strict=True)]
