"""The default preset on a corpus with planted phrases, intact and with one part broken on purpose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.corpora.quality_corpus import QualityCorpus
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun, evaluate_keywords
from worker.evaluation.gold import GoldPair
from worker.solver import parameters
from worker.solver.parameters import DEFAULT

INDEX = "planted"
ComparedCorpus = tuple[Comparer, list[GoldPair]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComparedCorpus]:
    planted = QualityCorpus()
    with open_engine(str(tmp_path_factory.mktemp("planted"))) as engine:
        build_index(planted.documents, engine, INDEX, processes=1)
        yield Comparer(engine), planted.make_gold_pairs(60)


@pytest.fixture(scope="module")
def intact(corpus: ComparedCorpus) -> dict[str, float]:
    return compute_figures(corpus)


def compute_figures(corpus: ComparedCorpus, method: str = "cda", preset: str = "default") -> dict[str, float]:
    comparer, pairs = corpus
    report = evaluate_keywords(comparer, INDEX, pairs, [MethodRun(method, preset)], resamples=2)
    row: dict[str, float] = report["rows"][0]["figures"]
    return row


def test_the_default_finds_what_was_planted(intact: dict[str, float]) -> None:
    assert intact["surface_recall"] >= 0.98
    assert intact["semantic_f1"] >= 0.7
    assert intact["distinct_f1"] >= 0.92
    assert intact["auc"] >= 0.93


def test_the_default_is_ahead_of_containment_and_of_the_papers_settings(
    corpus: ComparedCorpus, intact: dict[str, float]
) -> None:
    assert intact["macro_f1"] > compute_figures(corpus, "containment")["macro_f1"] + 0.1
    assert intact["macro_f1"] > compute_figures(corpus, "cda", "paper")["macro_f1"] + 0.1


@pytest.mark.parametrize(
    ("broken", "figure", "min_loss"),
    [
        ({"cut": 5.0}, "semantic_f1", 0.3),
        ({"cut": -5.0}, "distinct_f1", 0.3),
        ({"topic_weight": 0.0}, "auc", 0.03),
        ({"word_weight": 0.0}, "semantic_f1", 0.005),
        ({"lambda": 1.0}, "semantic_f1", 0.05),
    ],
)
def test_breaking_a_part_lowers_its_figure(
    corpus: ComparedCorpus,
    intact: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
    broken: dict[str, float],
    figure: str,
    min_loss: float,
) -> None:
    monkeypatch.setitem(parameters.PRESETS, "default", DEFAULT.with_options(**broken))
    assert compute_figures(corpus)[figure] < intact[figure] - min_loss
