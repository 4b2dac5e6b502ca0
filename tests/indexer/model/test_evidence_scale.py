"""Evidence of several sources beside that for random documents."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.model.evidence_scale import MAX_NOISE, EvidenceScale, Scores, Source

DOCUMENTS, PHRASES = 1000, 20
STARTS = np.arange(DOCUMENTS) * PHRASES


def draw_evidence(seed: int = 5) -> dict[Source, Scores]:
    """Return the evidence for the phrases of random documents: that of the words reaches three times as far."""
    rng = np.random.default_rng(seed)
    count = DOCUMENTS * PHRASES
    closeness = np.repeat(rng.standard_normal(DOCUMENTS), PHRASES)
    return {
        "vectors": rng.standard_normal(count),
        "text": 3 * rng.standard_normal(count),
        "closeness": closeness,
    }


def draw_text_evidence() -> dict[Source, Scores]:
    return {"text": draw_evidence()["text"]}


@pytest.fixture(scope="module")
def scale() -> EvidenceScale:
    return EvidenceScale(draw_evidence(), STARTS)


def describe(vectors: float, text: float, closeness: float) -> dict[Source, Scores]:
    """Return the evidence for one phrase."""
    return {"vectors": np.array([vectors]), "text": np.array([text]), "closeness": np.array([closeness])}


def test_one_in_twenty_random_documents_has_a_reason(scale: EvidenceScale) -> None:
    is_told = (scale.compute_noise(draw_evidence()) <= MAX_NOISE).reshape(DOCUMENTS, PHRASES)
    assert is_told.any(axis=1).mean() == pytest.approx(MAX_NOISE, abs=0.005)


def test_a_floor_of_one_source_is_worth_a_floor_of_another(scale: EvidenceScale) -> None:
    by_vectors = scale.compute_strength(describe(vectors=6.0, text=0.0, closeness=0.0))
    assert by_vectors == pytest.approx(
        scale.compute_strength(describe(vectors=0.0, text=18.0, closeness=0.0)), rel=0.05
    )


def test_closeness_of_query_and_hit_is_evidence_for_their_phrases(scale: EvidenceScale) -> None:
    far, close = (describe(vectors=2.5, text=4.0, closeness=closeness) for closeness in (0.0, 4.0))
    assert scale.compute_noise(far)[0] > MAX_NOISE >= scale.compute_noise(close)[0]
    assert scale.compute_strength(far)[0] < scale.compute_strength(close)[0]


def test_a_close_hit_is_not_explained_by_a_phrase_without_evidence_of_its_own(scale: EvidenceScale) -> None:
    assert scale.compute_noise(describe(vectors=0.2, text=0.5, closeness=20.0))[0] > MAX_NOISE


def test_strength_one_of_a_single_source_is_its_noise_floor() -> None:
    evidence = draw_text_evidence()
    scale = EvidenceScale(evidence, STARTS)
    above = scale.compute_strength(evidence) >= 1
    noise = scale.compute_noise(evidence)
    assert above.any() and (noise[above] <= MAX_NOISE + 0.001).all() and (noise[~above] >= MAX_NOISE - 0.001).all()


def test_documents_without_phrases_count_as_random_documents() -> None:
    evidence = draw_text_evidence()
    whole, doubled = EvidenceScale(evidence, STARTS), EvidenceScale(evidence, STARTS, without_phrases=DOCUMENTS)
    assert doubled.compute_noise(evidence) == pytest.approx(whole.compute_noise(evidence) / 2)


def test_evidence_of_less_than_a_standard_deviation_stands_out_from_nothing() -> None:
    scale = EvidenceScale({"text": 0.001 * draw_evidence()["text"]}, STARTS)
    assert scale.compute_strength({"text": np.array([0.5])}) == pytest.approx(np.array([0.5]))
