"""How figures come about: turns, percentiles, ratios and goals."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from tests.bench.conftest import INDEX
from worker.benchmark.chart import Point, draw
from worker.benchmark.corpus import Corpus
from worker.benchmark.environment import EMBEDDED, Setting
from worker.benchmark.generated_corpus import generated
from worker.benchmark.probe import timed
from worker.benchmark.replay import more_like_this, recording
from worker.benchmark.rows import Figures, Goal, Line
from worker.benchmark.table import TABLE, measure
from worker.benchmark.timing import LEAST, interleaved, percentile
from worker.benchmark.workload import Pair
from worker.comparer import Comparer


def test_steps_take_turns_and_another_one_comes_first_each_time() -> None:
    done: list[tuple[str, int]] = []
    steps = {name: (lambda case, name=name: done.append((name, case))) for name in "ab"}
    times = interleaved(steps, 3, budget=60, warm=0)  # type: ignore[arg-type]
    assert done == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert len(times["a"]) == len(times["b"]) == 3


def test_a_row_ends_when_its_time_is_over_but_not_before_a_few_cases() -> None:
    done: list[int] = []
    interleaved({"only": done.append}, 1000, budget=0, warm=0)
    assert len(done) == LEAST


@pytest.mark.parametrize(("share", "value"), [(0.95, 95), (0.5, 50), (1.0, 100), (0.0, 1)])
def test_a_percentile_is_one_of_the_values(share: float, value: int) -> None:
    assert percentile(range(100, 0, -1), share) == value


def test_a_share_and_a_speed_up_are_judged_by_their_own_goals() -> None:
    share = Line("x", "x", "y", Goal("<=", 1.5)).judged(Figures(3.0, 2.0), "embedded")
    assert (share.ratio, share.met, share.goal) == (1.5, True, "<= 1.5")
    faster = Line("x", "x", "y", Goal(">=", 2), better="against/ours").judged(Figures(3.0, 4.5), "embedded")
    assert (faster.ratio, faster.met) == (1.5, False)


def test_a_figure_with_nothing_to_measure_against_is_judged_itself() -> None:
    row = Line("x", "x", "", Goal(">=", 20), "1/s").judged(Figures(21.0), None)
    assert (row.ours, row.ratio, row.met) == (21.0, None, True)


def test_a_row_that_cannot_be_measured_says_why_and_is_not_judged(tmp_path: Path) -> None:
    setting = Setting(Corpus.of(tmp_path, (), 10), {})
    (row,) = measure(setting, ["more-like-this"], lambda _: None)
    assert (row.ours, row.met, row.note) == (None, None, "no elasticsearch was given")


def test_every_row_has_a_name_of_its_own_and_engines_it_is_measured_on() -> None:
    names = [line.name for measurement in TABLE for line in measurement.lines]
    assert len(set(names)) == len(names)
    assert all(measurement.kinds for measurement in TABLE)
    assert EMBEDDED in {kind for measurement in TABLE for kind in measurement.kinds}


def test_a_smaller_corpus_on_disk_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    corpus = Corpus.of(tmp_path, (), 20)
    assert list(corpus.read(5)) == list(generated(5))
    assert [corpus.small, corpus.sizes[-1]] == [5, 20]


def test_time_inside_functions_is_told_and_they_are_put_back() -> None:
    import statistics

    kept = statistics.median
    with timed(statistics, "median") as seconds:
        assert statistics.median([1, 2, 3]) == 2
    assert len(seconds) == 1
    assert statistics.median is kept


def test_a_recording_sends_the_same_requests_again(remote: ElasticsearchEngine, pairs: list[Pair]) -> None:
    comparer = Comparer(remote)
    question = pairs[0].question(comparer, INDEX)
    comparer.compare(question)
    with recording(remote) as first:
        comparer.compare(question)
    with recording(remote) as second:
        comparer.compare(question)
    assert len(first.requests) == 2
    assert first.requests == second.requests
    first.replay()


def test_documents_like_one_are_found_with_their_titles(remote: ElasticsearchEngine, pairs: list[Pair]) -> None:
    found = more_like_this(remote, INDEX, pairs[0].a)()
    hits = found["hits"]["hits"]  # type: ignore[index]
    assert len(hits) == 10
    assert all("card" in hit["fields"] for hit in hits)


def test_the_plot_is_whole_and_shows_every_point() -> None:
    points = [Point(kind, size, 10.0, 20.0) for kind in ("embedded", "elasticsearch") for size in (10, 100, 1000)]
    picture = ElementTree.fromstring(draw(points))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(points)
    words = {text.text for text in picture.findall("{http://www.w3.org/2000/svg}text")}
    assert {"10", "100", "1,000", "embedded 10.0", "elasticsearch 10.0"} <= words
