"""Hits that share no word with their query: how they are found, told and told from random documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import BadInput
from indexer.indexing.build import build_index
from indexer.progress import no_progress
from tests.support.comparisons import INDEX
from tests.support.corpora.small_corpus import TOPICS, generate_documents
from tests.support.word_encoder import FieldEncoder
from worker.comparer import Comparer
from worker.evaluation.query_answers import HitAnswer, QueryRunner
from worker.evaluation.query_parts.meaning_hits import MAX_HITS, VectorHits, measure_meaning_hits
from worker.evaluation.query_quality import QuerySample, evaluate_queries, make_query_encoder
from worker.evaluation.sentence_encoder.text_vectors import VectorFile, add_vectors

ENCODER = FieldEncoder([f"{' '.join(TOPICS['bees'])} apiary", " ".join(TOPICS["boats"])])


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine with many documents about boats and bread, and a few about bees."""
    folder = tmp_path_factory.mktemp("vectors")
    with open_engine(str(folder / "engine")) as engine:
        documents = [*generate_documents(360, topics=("boats", "bread")), *generate_documents(12, topics=("bees",))]
        with_vectors = add_vectors(documents, VectorFile(folder / "vectors.npz", ENCODER))
        build_index(with_vectors, engine, "topics", processes=1)
        yield engine


@pytest.fixture
def runner(engine: Engine) -> QueryRunner:
    return QueryRunner(Comparer(engine), "topics", make_query_encoder(ENCODER))


def make_answer(query: str, hit: str, *scores: float) -> HitAnswer:
    entries = [{"phrase": "hive", "display": "hive", "score": score, "kind": "meaning"} for score in scores]
    return HitAnswer(query, hit, [], entries)


def test_hits_are_the_nearest_documents_without_a_word_of_the_query(runner: QueryRunner) -> None:
    hits = VectorHits(runner)
    found = hits.find("apiary", 10)
    assert len(found) == MAX_HITS
    assert all(hit.startswith("bees-") for hit in found)
    held = TOPICS["bees"][0].split()[0]
    assert hits.find(f"apiary {held}s", 1) == []


def test_documents_without_vectors_are_refused(embedded_comparer: Comparer) -> None:
    with pytest.raises(BadInput, match=f"the documents of {INDEX} have no vectors"):
        VectorHits(QueryRunner(embedded_comparer, INDEX, make_query_encoder(ENCODER)))


def test_figures_count_hits_with_an_entry_and_its_score_against_random_documents(
    runner: QueryRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores: dict[str, tuple[float, ...]] = {"a": (0.9, 0.1), "b": (0.4,), "c": ()}
    monkeypatch.setattr(
        runner, "explain", lambda query, ids: [make_answer(query, id, *scores.get(id, ())) for id in ids]
    )
    unrelated = [make_answer("q", "x", 0.5), make_answer("q", "y"), make_answer("q", "a", 0.9), make_answer("z", "w")]
    answers: list[HitAnswer] = []
    result = measure_meaning_hits(runner, {"q": ["a", "b"], "r": ["c"]}, unrelated, 1, answers, no_progress)
    assert [answer.hit for answer in answers] == ["a", "b", "c"]
    assert result["figures"]["meaning_told"] == pytest.approx(2 / 3)
    assert result["figures"]["meaning_auc"] == pytest.approx((2 + 1 + 0.5) / 6)
    assert result["of"] == {"meaning_told": 3, "meaning_auc": 5}
    assert result["misses"] == [{"query": "r", "hit": "c"}]
    assert set(result["intervals"]) == {"meaning_told", "meaning_auc"}


def test_queries_without_hits_have_no_figures(runner: QueryRunner) -> None:
    result = measure_meaning_hits(runner, {"q": []}, [], 1, [], no_progress)
    assert result["figures"] == {"meaning_told": None, "meaning_auc": None}


def test_an_evaluation_with_an_encoder_has_both_parts_and_names_its_spaces(engine: Engine) -> None:
    sample = QuerySample(title_queries=2, unrelated=5, forms=5)

    def evaluate(*names: Any) -> dict[str, Any]:
        comparer = Comparer(engine, space_names=names)
        return evaluate_queries(comparer, "topics", sample, queries=["apiary"], encoder=ENCODER, only_by_space=True)

    by_vectors, by_nothing = evaluate("vectors"), evaluate()
    assert (by_vectors["spaces"], by_nothing["spaces"]) == (["vectors"], [])
    assert "complete" not in by_vectors
    assert by_vectors["meaning"]["figures"]["meaning_told"] == 1
    assert by_vectors["faithful"]["of"]["faithful"] + sum(by_vectors["faithful"]["left_out"].values()) == MAX_HITS
    assert by_nothing["meaning"]["figures"]["meaning_told"] == 0
    assert by_nothing["faithful"]["left_out"] == {"no reason": MAX_HITS}
