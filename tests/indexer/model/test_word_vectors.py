"""The table of word vectors: meanings, look-up, what it costs to load, and what it says of its sources."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import BadInput
from indexer.model.word_vectors import (
    CODES_FILE,
    TABLE_FOLDER,
    WordVectors,
    load_word_vectors,
    quantize_vectors,
    read_provenance,
    read_word_vectors,
)
from tests.support.paths import ROOT

TABLE = load_word_vectors()


def compute_cosine(a: str, b: str) -> float:
    first, second = TABLE.get_vectors(TABLE.find_rows([a, b]))
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


@pytest.mark.parametrize(
    ("word", "related", "unrelated"),
    [
        ("telescope", "astronomy", "lyric"),
        ("physician", "hospital", "keyboard"),
        ("dataset", "database", "sausage"),
        ("convolution", "filter", "bishop"),
        ("inflation", "price", "guitar"),
    ],
)
def test_a_word_is_nearer_to_a_related_word(word: str, related: str, unrelated: str) -> None:
    assert compute_cosine(word, related) > compute_cosine(word, unrelated) + 0.1


def test_a_lemma_that_is_no_word_has_the_vector_of_its_forms() -> None:
    """simplemma's lemma of "developed" is "develope", that of "mixed", "mixing" and "mixes" is "mixe"."""
    assert compute_cosine("develope", "developed") > 0.99
    assert compute_cosine("mixe", "mixing") > compute_cosine("mixe", "separate") + 0.3


@pytest.mark.parametrize("word", ["", "xqzjv", "Telescope", "telescope\0", "tele scope", "naïve", "\ud800", "a" * 500])
def test_a_word_that_is_not_in_the_table_has_no_row_and_no_direction(word: str) -> None:
    rows = TABLE.find_rows([word, "telescope"])
    assert rows.dtype == np.int32 and rows[0] == -1 and rows[1] >= 0
    vectors = TABLE.get_vectors(rows)
    assert not vectors[0].any() and vectors[1].any()


def test_general_words_are_less_specific_and_unknown_ones_average() -> None:
    table = load_word_vectors()
    words = ["main", "gelatin", "zzyzx", "number", "gelatin"]
    general, specific, unknown, other, again = table.measure_specificity(words).tolist()
    assert max(general, other) < -0.05 < unknown == 0.0 < specific == again
    assert table.measure_specificity(words).tolist() == [general, specific, unknown, other, again]


def test_words_are_measured_alike_once_no_more_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_word_vectors(TABLE_FOLDER)
    expected = table.measure_specificity(["main", "gelatin"]).tolist()
    monkeypatch.setattr("indexer.model.word_vectors._MAX_CACHED_WORDS", 0)
    assert read_word_vectors(TABLE_FOLDER).measure_specificity(["main", "gelatin"]).tolist() == expected


def test_nothing_is_found_for_no_words() -> None:
    rows = TABLE.find_rows([])
    assert rows.shape == (0,) and rows.dtype == np.int32
    assert TABLE.get_vectors(rows).shape == (0, TABLE.dimensions)


@given(st.lists(st.integers(0, len(TABLE) - 1), max_size=50))
def test_the_words_of_rows_are_found_in_these_rows(rows: list[int]) -> None:
    words = [TABLE.words[row].decode() for row in rows]
    np.testing.assert_array_equal(TABLE.find_rows(words), np.array(rows, dtype=np.int32))


@given(st.lists(st.text(max_size=30), max_size=20))
def test_a_row_is_found_only_for_the_very_word(words: list[str]) -> None:
    for word, row in zip(words, TABLE.find_rows(words), strict=True):
        assert row == -1 or TABLE.words[row].decode() == word


def test_words_ascend_and_vectors_are_finite_with_the_promised_size() -> None:
    assert (TABLE.words[:-1] < TABLE.words[1:]).all()
    vectors = TABLE.get_vectors(np.arange(len(TABLE)))
    assert vectors.shape == (len(TABLE), TABLE.dimensions) and vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert abs(float((vectors**2).sum(axis=1).mean()) - 1) < 0.05


def test_vectors_are_the_same_at_every_load() -> None:
    again = read_word_vectors(TABLE_FOLDER)
    rows = np.arange(0, len(TABLE), 97)
    np.testing.assert_array_equal(again.get_vectors(rows), TABLE.get_vectors(rows))
    assert load_word_vectors() is TABLE


def test_4_bits_keep_the_directions_of_vectors(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(500, 64)).astype(np.float32)
    words = np.array(sorted(f"w{number}" for number in range(500)), dtype="S8")
    quantize_vectors(words, vectors, 0.335).save(tmp_path)
    stored = read_word_vectors(tmp_path).get_vectors(np.arange(500))
    cosines = (stored * vectors).sum(axis=1) / np.linalg.norm(stored, axis=1) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() > 0.97


def test_files_that_are_no_table_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no word vectors in"):
        read_word_vectors(tmp_path)
    WordVectors(TABLE.words[:5], TABLE.codes[:5], TABLE.steps).save(tmp_path)
    np.save(tmp_path / CODES_FILE, np.zeros((4, TABLE.dimensions // 2), dtype=np.uint8))
    with pytest.raises(BadInput, match="do not belong together"):
        read_word_vectors(tmp_path)


def test_importing_the_module_opens_no_file_and_loading_is_quick() -> None:
    code = "import time, indexer.model.word_vectors as module\n"
    code += "assert module.load_word_vectors.cache_info().currsize == 0\n"
    code += "start = time.perf_counter(); module.load_word_vectors(); print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert float(done.stdout) < 0.05


@pytest.mark.slow
def test_100_000_words_are_looked_up_in_less_than_a_second() -> None:
    words = [word.decode() for word in TABLE.words[:50_000]] + [f"unknown{number}" for number in range(50_000)]
    start = time.perf_counter()
    assert (TABLE.find_rows(words) >= 0).sum() == 50_000
    assert time.perf_counter() - start < 1


def test_the_table_names_its_model_its_words_and_their_licences() -> None:
    provenance = read_provenance()
    assert "all-MiniLM-L6-v2" in provenance["model"]["name"] and provenance["model"]["licence"] == "Apache-2.0"
    assert len(provenance["model"]["sha256"]) == 64
    sources = {source["name"]: source["licence"] for source in provenance["vocabulary"]}
    assert [name.split()[0] for name in sources] == ["WordPiece", "WordNet", "SCOWL"] and all(sources.values())
    assert (provenance["words"], provenance["dimensions"]) == (len(TABLE), TABLE.dimensions)
    notice = (TABLE_FOLDER / "NOTICE").read_text()
    for owner in ("Apache License", "Princeton University", "Kevin Atkinson", "Geoff Kuenning"):
        assert owner in notice
    page = (ROOT / "docs" / "word_vectors.md").read_text()
    assert all(name in page for name in ("all-MiniLM-L6-v2", "WordNet", "SCOWL", "NOTICE"))


def test_the_files_of_the_table_take_at_most_8_mb() -> None:
    assert sum(path.stat().st_size for path in TABLE_FOLDER.iterdir()) < 8e6
