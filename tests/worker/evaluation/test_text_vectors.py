"""Vectors of texts that are kept on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.vectors import decode_vector, read_dimensions
from tests.support.corpora.small_corpus import generate_documents, write_jsonl
from tests.support.word_encoder import FieldEncoder
from worker.evaluation.datasets import QueryDataset, ensure_query_index
from worker.evaluation.sentence_encoder.text_vectors import VectorFile, join_title_and_text


def test_a_text_is_encoded_once(tmp_path: Path) -> None:
    encoder = FieldEncoder(["honey"])
    first = list(VectorFile(tmp_path / "vectors.npz", encoder).encode_all(["honey", "wax", "honey"]))
    assert encoder.encoded == ["honey", "wax"]
    second = list(VectorFile(tmp_path / "vectors.npz", encoder).encode_all(["wax", "rain"]))
    assert encoder.encoded == ["honey", "wax", "rain"]
    assert (first[0] == first[2]).all() and (first[1] == second[0]).all()


def test_a_corpus_is_indexed_with_vectors_beside_the_index_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHRASECOM_CACHE", str(tmp_path / "cache"))
    write_jsonl(tmp_path / "news.jsonl", generate_documents(60))
    encoder, dataset = FieldEncoder(["honey", "bread"]), QueryDataset("news", "news.jsonl")
    with open_engine(str(tmp_path / "engine")) as engine:
        plain = ensure_query_index(engine, dataset, tmp_path)
        name = ensure_query_index(engine, dataset, tmp_path, encoder=encoder)
        assert name == f"{plain}-fields"
        assert read_dimensions(engine.get_info(plain).settings) is None
        assert read_dimensions(engine.get_info(name).settings) == 3
        analysed = next(engine.open_reader(name).scan())
        assert analysed.document.vector is not None
        expected = encoder.encode([join_title_and_text(analysed.document)])[0]
        assert decode_vector(analysed.document.vector) == pytest.approx(expected)
        encoder.encoded.clear()
        engine.delete_index(name)
        assert ensure_query_index(engine, dataset, tmp_path, encoder=encoder) == name
        assert encoder.encoded == []
