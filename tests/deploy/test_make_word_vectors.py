"""Making the table of word vectors: which words it takes, and how their vectors are reduced."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deploy.make_word_vectors import (
    DIMENSIONS,
    choose_words,
    merge_forms,
    normalise,
    read_scowl_sizes,
    read_wordnet_lemmas,
    reduce_dimensions,
)
from indexer.errors import BadInput
from indexer.text.lemmatizer import Lemmatizer


def test_rare_words_and_inflected_forms_of_the_lists_are_left_out() -> None:
    sizes = {"telescope": 35, "telescopes": 35, "dataset": 60, "variational": 70, "sagittal": 70, "aalii": 80}
    lemmas = {"telescope", "sagittal", "aalii", "abecedarianly"}
    chosen = choose_words({"mixed", "mp3", "a"}, lemmas, sizes, Lemmatizer("en"))
    assert chosen == ["dataset", "mixed", "mp3", "sagittal", "telescope"]


def test_lists_are_read_by_their_smallest_size_and_without_compounds(tmp_path: Path) -> None:
    (tmp_path / "english-words.70").write_text("telescope\nnaïve\n", encoding="latin-1")
    (tmp_path / "american-words.35").write_text("Telescope\ncat's\n", encoding="latin-1")
    (tmp_path / "canadian-words.10").write_text("toque\n")
    assert read_scowl_sizes(tmp_path) == {"telescope": 35}
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"index.{part}").write_text("  1 licence\ndark_horse n 1\ntelescope n 1 3\n")
    assert read_wordnet_lemmas(tmp_path) == {"telescope"}


def test_missing_lists_are_reported_with_the_package_that_has_them(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="apt-get install wordnet-base"):
        read_wordnet_lemmas(tmp_path)
    with pytest.raises(BadInput, match="apt-get install scowl"):
        read_scowl_sizes(tmp_path)


def test_a_lemma_stands_for_its_forms() -> None:
    vectors = np.eye(3, dtype=np.float32)
    words, merged = merge_forms(["cat", "cats", "mixed"], vectors, ["cats", "mixed"], Lemmatizer("en"))
    assert words == ["cat", "cats", "mixe", "mixed"]
    np.testing.assert_allclose(merged[0], normalise(vectors[:1] + vectors[1:2])[0])
    np.testing.assert_allclose(merged[2], vectors[2])


def test_reduced_vectors_are_centred_at_frequent_words_and_keep_no_sign_of_chance() -> None:
    vectors = normalise(np.random.default_rng(0).normal(size=(1000, 384)) + 1)
    is_frequent = np.arange(1000) < 700
    reduced = reduce_dimensions(vectors, is_frequent)
    assert reduced.shape == (1000, DIMENSIONS)
    np.testing.assert_allclose(reduced[is_frequent].mean(axis=0), 0, atol=1e-6)
    assert (reduced**2).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)
    np.testing.assert_array_equal(reduced, reduce_dimensions(vectors.copy(), is_frequent))
