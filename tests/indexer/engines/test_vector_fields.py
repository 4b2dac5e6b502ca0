"""The field with the vectors of a source, chosen by its mapping."""

from __future__ import annotations

from typing import Any

import pytest

from indexer.engines.vector_fields import VectorChoice, check_vector_field, choose_vector_field, find_vector_fields
from indexer.errors import BadParameter

VECTOR = {"type": "dense_vector", "dims": 384}
BYTES = VECTOR | {"element_type": "byte"}
BITS = VECTOR | {"element_type": "bit"}
TEXT = {"type": "text"}


def map_fields(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


def choose(*mappings: dict[str, Any]) -> VectorChoice:
    return choose_vector_field(find_vector_fields(mappings))


@pytest.mark.parametrize(
    ("mapping", "path"),
    [
        (map_fields(body=TEXT, emb=VECTOR), "emb"),
        (map_fields(emb=BYTES), "emb"),
        (map_fields(meta=map_fields(emb=VECTOR)), "meta.emb"),
        (map_fields(chunks={"type": "nested"} | map_fields(text=TEXT, vector=VECTOR)), "chunks.vector"),
        (map_fields(emb=VECTOR, hashes=BITS), "emb"),
        (map_fields(emb=VECTOR, other={"type": "alias", "path": "emb"}), "emb"),
    ],
)
def test_the_only_field_with_vectors_is_chosen_and_told(mapping: dict[str, Any], path: str) -> None:
    note = f"vectors: field {path}, 384 dimensions; --vectors none leaves them out"
    assert choose(mapping) == (path, note)


def test_the_same_field_of_several_indices_is_one() -> None:
    assert choose(map_fields(emb=VECTOR), map_fields(emb=VECTOR), map_fields(body=TEXT)).path == "emb"


def test_a_field_before_its_first_vector_has_no_dimensions_yet() -> None:
    choice = choose(map_fields(emb={"type": "dense_vector"}))
    assert choice == ("emb", "vectors: field emb; --vectors none leaves them out")


@pytest.mark.parametrize("mapping", [{}, map_fields(body=TEXT, vector={"type": "float"}), map_fields(hashes=BITS)])
def test_without_a_field_with_vectors_nothing_is_chosen_or_told(mapping: dict[str, Any]) -> None:
    assert choose(mapping) == ("", "")


def test_of_several_fields_none_is_chosen_and_all_are_named() -> None:
    path, note = choose(map_fields(title=VECTOR, body=VECTOR | {"dims": 8}))
    assert not path
    assert "body, 8 dimensions; title, 384 dimensions" in note and "--vectors FIELD" in note


def test_a_field_whose_dimensions_differ_between_indices_is_not_chosen() -> None:
    path, note = choose(map_fields(emb=VECTOR), map_fields(emb=VECTOR | {"dims": 8}))
    assert not path
    assert "8 or 384 dimensions" in note and "--vectors emb" in note


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nothing", "has no field 'nothing' with vectors"),
        ("body", "'body' is of type text, not dense_vector"),
        ("chunks", "'chunks' is of type nested"),
        ("hashes", "are bits"),
    ],
)
def test_a_named_field_without_vectors_is_refused_with_those_that_have_some(path: str, reason: str) -> None:
    chunks = {"type": "nested"} | map_fields(vector=VECTOR)
    mappings = {"stories-1": map_fields(body=TEXT, emb=VECTOR, hashes=BITS, chunks=chunks)}
    check_vector_field(mappings, "chunks.vector")
    with pytest.raises(BadParameter, match=f"{reason}.*use --vectors chunks.vector or emb or none"):
        check_vector_field(mappings, path)


def test_a_named_field_is_refused_where_no_field_has_vectors() -> None:
    with pytest.raises(BadParameter, match="use --vectors none: no field has any"):
        check_vector_field({"stories-1": map_fields(body=TEXT)}, "body")
