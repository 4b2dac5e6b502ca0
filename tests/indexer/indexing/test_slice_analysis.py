"""What slices count is the same after it was packed, and bounded parts make the slices."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from indexer.indexing import slice_analysis
from indexer.indexing.slice_analysis import (
    SliceAnalyser,
    pack_parts,
    read_word_statistics,
    split_into_parts,
    sum_document_hashes,
    unpack_parts,
)
from indexer.mining.pipeline import mine_model
from tests.support.corpora.small_corpus import generate_documents


def test_the_hash_of_documents_depends_on_each_of_them_and_not_on_their_order() -> None:
    documents = list(generate_documents(20))
    whole = sum_document_hashes(documents)
    modulus = 1 << 8 * slice_analysis.HASH_BYTES
    assert sum_document_hashes(documents[::-1]) == whole
    assert (sum_document_hashes(documents[:7]) + sum_document_hashes(documents[7:])) % modulus == whole
    assert sum_document_hashes(documents[:-1]) != whole
    assert sum_document_hashes([*documents[:-1], replace(documents[-1], title="other")]) != whole
    assert sum_document_hashes([*documents[:-1], replace(documents[-1], vector=b"\x01\x02\x03\x04")]) != whole


def test_parts_are_bounded_in_documents_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = list(generate_documents(50))
    sizes = [slice_analysis.count_text_bytes(document) for document in documents]
    monkeypatch.setattr(slice_analysis, "PART_DOCUMENTS", 7)
    monkeypatch.setattr(slice_analysis, "PART_BYTES", 3 * max(sizes))
    for parts in (list(split_into_parts(documents)), list(split_into_parts(iter(documents)))):
        assert list(chain.from_iterable(parts)) == documents
        assert all(0 < len(part) <= 7 for part in parts)
        assert all(sum(map(slice_analysis.count_text_bytes, part)) <= 3 * max(sizes) for part in parts)
    monkeypatch.setattr(slice_analysis, "PART_BYTES", 1)
    assert [len(part) for part in split_into_parts(documents)] == [1] * 50


def test_what_was_counted_is_read_as_it_was_packed() -> None:
    documents = list(generate_documents(60))
    analyser = SliceAnalyser(mine_model(documents[:40]))
    parts = [analyser.count_words(documents[:30]), analyser.count_words(documents[30:]), analyser.count_words([])]
    unpacked = unpack_parts(pack_parts(parts))
    assert len(unpacked) == 3
    for part, again in zip(parts, unpacked, strict=True):
        assert part.keys() == again.keys()
        assert all(np.array_equal(part[name], again[name]) for name in part)
    assert sum(read_word_statistics(part).document_count for part in unpacked) == 60
    assert unpack_parts(pack_parts([])) == []
