"""How figures come about: turns, percentiles, ratios and goals."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from tests.bench.conftest import INDEX
from worker.benchmark.corpus import BenchCorpus
from worker.benchmark.environment import EMBEDDED, BenchEnvironment
from worker.benchmark.generated_corpus import generate_documents
from worker.benchmark.growth_chart import GrowthPoint, draw_growth_chart
from worker.benchmark.measurements import MEASUREMENTS, measure_rows
from worker.benchmark.probe import time_functions
from worker.benchmark.replay import build_more_like_this, record_requests
from worker.benchmark.rows import MeasuredFigures, RowSpec, SpeedGoal
from worker.benchmark.timing import MIN_CASES, compute_percentile, time_interleaved
from worker.benchmark.workload import DocumentPair
from worker.comparer import Comparer


def test_steps_take_turns_and_another_one_comes_first_each_time() -> None:
    done: list[tuple[str, int]] = []
    steps = {name: (lambda case, name=name: done.append((name, case))) for name in "ab"}
    times = time_interleaved(steps, 3, budget=60, warmup=0)  # type: ignore[arg-type]
    assert done == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert len(times["a"]) == len(times["b"]) == 3


def test_a_row_ends_when_its_time_is_over_but_not_before_a_few_cases() -> None:
    done: list[int] = []
    time_interleaved({"only": done.append}, 1000, budget=0, warmup=0)
    assert len(done) == MIN_CASES


@pytest.mark.parametrize(("share", "value"), [(0.95, 95), (0.5, 50), (1.0, 100), (0.0, 1)])
def test_a_percentile_is_one_of_the_values(share: float, value: int) -> None:
    assert compute_percentile(range(100, 0, -1), share) == value


def test_a_share_and_a_speed_up_are_judged_by_their_own_goals() -> None:
    share = RowSpec("x", "x", "y", SpeedGoal("<=", 1.5)).build_row(MeasuredFigures(3.0, 2.0), "embedded")
    assert (share.ratio, share.met, share.goal) == (1.5, True, "<= 1.5")
    faster = RowSpec("x", "x", "y", SpeedGoal(">=", 2), ratio_form="against/ours").build_row(
        MeasuredFigures(3.0, 4.5), "embedded"
    )
    assert (faster.ratio, faster.met) == (1.5, False)


def test_a_figure_with_nothing_to_measure_against_is_judged_itself() -> None:
    row = RowSpec("x", "x", "", SpeedGoal(">=", 20), "1/s").build_row(MeasuredFigures(21.0), None)
    assert (row.ours, row.ratio, row.met) == (21.0, None, True)


def test_a_row_that_cannot_be_measured_says_why_and_is_not_judged(tmp_path: Path) -> None:
    setting = BenchEnvironment(BenchCorpus.create(tmp_path, (), 10), {})
    (row,) = measure_rows(setting, ["more-like-this"], lambda _: None)
    assert (row.ours, row.met, row.note) == (None, None, "no elasticsearch was given")


def test_every_row_has_a_name_of_its_own_and_engines_it_is_measured_on() -> None:
    names = [line.name for measurement in MEASUREMENTS for line in measurement.row_specs]
    assert len(set(names)) == len(names)
    assert all(measurement.engine_kinds for measurement in MEASUREMENTS)
    assert EMBEDDED in {kind for measurement in MEASUREMENTS for kind in measurement.engine_kinds}


def test_a_smaller_corpus_on_disk_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    corpus = BenchCorpus.create(tmp_path, (), 20)
    assert list(corpus.read(5)) == list(generate_documents(5))
    assert [corpus.small_count, corpus.sizes[-1]] == [5, 20]


def test_time_inside_functions_is_told_and_they_are_put_back() -> None:
    import statistics

    kept = statistics.median
    with time_functions(statistics, "median") as seconds:
        assert statistics.median([1, 2, 3]) == 2
    assert len(seconds) == 1
    assert statistics.median is kept


def test_a_recording_sends_the_same_requests_again(remote: ElasticsearchEngine, pairs: list[DocumentPair]) -> None:
    comparer = Comparer(remote)
    question = pairs[0].build_spec(comparer, INDEX)
    comparer.compare(question)
    with record_requests(remote) as first:
        comparer.compare(question)
    with record_requests(remote) as second:
        comparer.compare(question)
    assert len(first.requests) == 2
    assert first.requests == second.requests
    first.replay()


def test_documents_like_one_are_found_with_their_titles(remote: ElasticsearchEngine, pairs: list[DocumentPair]) -> None:
    found = build_more_like_this(remote, INDEX, pairs[0].a)()
    hits = found["hits"]["hits"]  # type: ignore[index]
    assert len(hits) == 10
    assert all("card" in hit["fields"] for hit in hits)


def test_the_plot_is_whole_and_shows_every_point() -> None:
    points = [GrowthPoint(kind, size, 10.0, 20.0) for kind in ("embedded", "elasticsearch") for size in (10, 100, 1000)]
    picture = ElementTree.fromstring(draw_growth_chart(points))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(points)
    words = {text.text for text in picture.findall("{http://www.w3.org/2000/svg}text")}
    assert {"10", "100", "1,000", "embedded 10.0", "elasticsearch 10.0"} <= words
