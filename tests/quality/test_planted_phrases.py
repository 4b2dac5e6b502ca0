"""The default preset on a corpus with planted truth, and the same figures with a part broken on purpose."""

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
Corpus = tuple[Comparer, list[GoldPair]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    planted = QualityCorpus()
    with open_engine(str(tmp_path_factory.mktemp("planted"))) as engine:
        build_index(planted.documents, engine, INDEX, processes=1)
        yield Comparer(engine), planted.make_gold_pairs(60)


@pytest.fixture(scope="module")
def whole(corpus: Corpus) -> dict[str, float]:
    return figures(corpus)


def figures(corpus: Corpus, method: str = "cda", preset: str = "default") -> dict[str, float]:
    comparer, pairs = corpus
    found = evaluate_keywords(comparer, INDEX, pairs, [MethodRun(method, preset)], resamples=2)
    row: dict[str, float] = found["rows"][0]["figures"]
    return row


def test_the_default_finds_what_was_planted(whole: dict[str, float]) -> None:
    assert whole["surface_recall"] >= 0.98
    assert whole["semantic_f1"] >= 0.7
    assert whole["distinct_f1"] >= 0.92
    assert whole["auc"] >= 0.93


def test_the_default_is_ahead_of_containment_and_of_the_papers_settings(
    corpus: Corpus, whole: dict[str, float]
) -> None:
    assert whole["macro_f1"] > figures(corpus, "containment")["macro_f1"] + 0.1
    assert whole["macro_f1"] > figures(corpus, "cda", "paper")["macro_f1"] + 0.1


@pytest.mark.parametrize(
    ("broken", "suffers", "least"),
    [
        ({"cut": 5.0}, "semantic_f1", 0.3),
        ({"cut": -5.0}, "distinct_f1", 0.3),
        ({"topic_weight": 0.0}, "auc", 0.03),
        ({"word_weight": 0.0}, "semantic_f1", 0.005),
        ({"lambda": 1.0}, "semantic_f1", 0.05),
    ],
)
def test_a_broken_part_shows(
    corpus: Corpus,
    whole: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
    broken: dict[str, float],
    suffers: str,
    least: float,
) -> None:
    monkeypatch.setitem(parameters.PRESETS, "default", DEFAULT.with_options(**broken))
    assert figures(corpus)[suffers] < whole[suffers] - least
