"""Vectors of the benchmark, and the probe of a large vector space."""

from __future__ import annotations

import numpy as np
import pytest

from worker.benchmark.generated_corpus import generate_documents
from worker.benchmark.probe import probe_vector_space
from worker.benchmark.vectors.word_projection import DIMENSIONS, WordProjection


def compute_cosine(a: list[float], b: list[float]) -> float:
    return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))


def test_texts_with_words_in_common_are_near_each_other() -> None:
    projection = WordProjection()
    first, alike, other = (projection.project(text) for text in ("red honey bee", "honey bee hive", "long sail boat"))
    assert compute_cosine(first, alike) == pytest.approx(2 / 3, abs=0.15)
    assert abs(compute_cosine(first, other)) < 0.2
    assert WordProjection().project("red honey bee") == first


def test_every_document_gets_a_vector() -> None:
    documents = list(WordProjection().add_vectors(generate_documents(3)))
    assert [len(document.vector or b"") for document in documents] == [4 * DIMENSIONS] * 3
    assert all(any(WordProjection().project(text)) for text in ("", " "))


def test_the_probe_of_a_vector_space_measures_memory_and_every_page() -> None:
    result = probe_vector_space({"phrases": 20_000})
    assert result["memory"] > 20_000 * result["dimensions"] / 2
    assert len(result["page"]) == len(result["random"]) == 100
    assert min(result["page"]) > 0
