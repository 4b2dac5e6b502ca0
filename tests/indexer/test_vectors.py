"""Vectors of documents: checked, encoded, read from records, part of a document's version."""

from __future__ import annotations

import math

import numpy as np
import pytest

from indexer.documents import Document
from indexer.readers.jsonl import format_json_line
from indexer.records import BadRecord, FieldMap, make_document
from indexer.vectors import (
    BadVector,
    count_dimensions,
    decode_vector,
    encode_mean_vector,
    encode_vector,
    find_dimension_fault,
)
from worker.explain.side import Side

MAX_BYTES = 100_000


def test_a_vector_keeps_its_numbers_in_single_precision() -> None:
    encoded = encode_vector([0.5, -1, 1e-3])
    assert count_dimensions(encoded) == 3
    np.testing.assert_allclose(decode_vector(encoded), [0.5, -1.0, 1e-3], rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("abc", "not a list of numbers"),
        ({"a": 1}, "not a list of numbers"),
        ([1, "2"], "not a list of numbers"),
        ([True, False], "not a list of numbers"),
        ([], "0 numbers"),
        ([1.0] * 4097, "4,097 numbers"),
        ([1.0, math.nan], "not finite"),
        ([1.0, 1e300], "not finite"),
        ([0.0, 0.0], "no direction"),
    ],
)
def test_what_is_no_vector_is_refused_with_the_reason(value: object, reason: str) -> None:
    with pytest.raises(BadVector, match=reason):
        encode_vector(value)


@pytest.mark.parametrize("value", [[1, 2.5], "[1, 2.5]"])
def test_a_record_has_a_vector_as_a_list_or_as_json(value: object) -> None:
    document = make_document({"text": "a b", "emb": value}, FieldMap({"vector": "emb"}), "1", MAX_BYTES)
    assert document.vector == encode_vector([1, 2.5])
    assert "emb" not in document.extra


@pytest.mark.parametrize("value", ["soon", [1, None], [0, 0], {"x": 1}])
def test_a_record_with_a_bad_vector_is_rejected_and_told_how_to_leave_it_out(value: object) -> None:
    with pytest.raises(BadRecord, match="--map vector= leaves it out"):
        make_document({"text": "a b", "vector": value}, FieldMap({}), "1", MAX_BYTES)


def make_chunked(chunks: object) -> Document:
    return make_document({"text": "a b", "chunks": chunks}, FieldMap({"vector": "chunks.vector"}), "1", MAX_BYTES)


def test_the_vector_of_a_document_in_chunks_is_their_mean_direction() -> None:
    document = make_chunked([{"vector": [2, 0]}, {"vector": [0, 0.5]}, {"text": "not embedded"}, {"vector": None}])
    assert document.vector is not None
    np.testing.assert_allclose(decode_vector(document.vector), [math.sqrt(0.5)] * 2, rtol=1e-6)
    assert "chunks" not in document.extra


@pytest.mark.parametrize("chunks", [None, [], {}, [{}], [{"vector": None}], ["text"], "text", [[{"vector": [1]}]]])
def test_a_document_whose_chunks_have_no_vectors_has_none(chunks: object) -> None:
    assert make_chunked(chunks).vector is None


def test_vectors_in_lists_of_lists_of_chunks_are_found() -> None:
    sections = [{"chunks": [{"v": [1, 0]}]}, {"chunks": [{"v": [0, 1]}, {"v": [0, 1]}]}]
    record = {"text": "a b", "sections": sections}
    document = make_document(record, FieldMap({"vector": "sections.chunks.v"}), "1", MAX_BYTES)
    assert document.vector == encode_mean_vector([[1, 0], [0, 1], [0, 1]])


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        ([[1, 2], [1, 2, 3]], "different lengths"),
        ([[1, 2], [-1, -2]], "cancel each other out"),
        ([[1, 2], [0, 0]], "no direction"),
        ([[1, 2], "soon"], "not a list of numbers"),
    ],
)
def test_chunks_without_a_common_direction_are_rejected(vectors: list[object], reason: str) -> None:
    with pytest.raises(BadRecord, match=f"{reason}.*--map vector= leaves it out"):
        make_chunked([{"vector": vector} for vector in vectors])


def test_a_vector_that_is_left_out_is_not_taken_from_a_column_without_a_name() -> None:
    record = {"text": "a b", "": "7", "vector": [1, 2]}
    assert make_document(record, FieldMap({"vector": "", "date": ""}), "1", MAX_BYTES).vector is None


def test_a_document_keeps_its_vector_through_json_and_its_version_covers_it() -> None:
    document = make_document({"text": "a b", "vector": [1, 2]}, FieldMap({}), "1", MAX_BYTES)
    assert Document.from_dict(document.to_dict()) == document
    again = make_document({"text": "a b", "vector": [1, 3]}, FieldMap({}), "1", MAX_BYTES)
    without = make_document({"text": "a b"}, FieldMap({}), "1", MAX_BYTES)
    assert len({d.compute_version() for d in (document, again, without)}) == 3
    assert b'"vector":[1.0,2.0]' in format_json_line(document)


def test_a_vector_must_have_the_dimensions_of_its_index() -> None:
    vector = encode_vector([1, 2])
    assert find_dimension_fault(vector, 2) is None
    assert find_dimension_fault(None, 2) is None
    assert "those of the index 3" in str(find_dimension_fault(vector, 3))
    assert "without vectors" in str(find_dimension_fault(vector, None))


def test_a_query_side_has_a_vector() -> None:
    side = Side.from_json({"query": "stars", "vector": [0.25, 1]})
    assert side.vector == encode_vector([0.25, 1])
    assert Side.from_json(side.to_json()) == side


def test_the_last_digits_of_a_vector_do_not_change_the_version() -> None:
    vector = decode_vector(encode_vector([0.1, -0.2, 3e-9, 1e30]))
    again = (vector * np.float32(1 + 1e-7)).astype("<f4").tobytes()
    assert again != vector.tobytes()
    other = (vector * np.float32(1.01)).astype("<f4").tobytes()
    versions = [Document(id="1", text="a", vector=data).compute_version() for data in (vector.tobytes(), again, other)]
    assert versions[0] == versions[1] != versions[2]
