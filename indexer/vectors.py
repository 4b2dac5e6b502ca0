"""Vectors of documents: checked when they are read, then kept as bytes of little-endian float32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

MAX_DIMENSIONS = 4096
"""Numbers of the longest vector; Elasticsearch has the same limit."""
VECTOR_SETTING = "vector_dimensions"
"""Name, among the settings of an index, of the number of dimensions of its vectors; missing without vectors."""
TEXT_VECTOR_SETTING = "text_vector_dimensions"
"""The same for vectors that were made from the texts of the documents; missing where there are none."""
_NUMBER_BYTES = 4
_HALF_STEP = np.uint32(1 << 12)
"""Half of the step that ``round_vector`` rounds the bits of a number to: 10 bits of its fraction are kept."""
_MIN_MEAN_LENGTH = 1e-6
"""Shortest mean of unit vectors that is more than a rounding error."""


class BadVector(ValueError):
    """A value that is no vector; the message tells why."""


def encode_vector(value: object) -> bytes:
    """Return the bytes of a list of numbers; raise BadVector unless it is one with a direction."""
    if not isinstance(value, list | tuple) or not all(map(_is_number, value)):
        raise BadVector("the vector is not a list of numbers")
    if not 1 <= len(value) <= MAX_DIMENSIONS:
        raise BadVector(f"the vector has {len(value):,} numbers; it needs 1 to {MAX_DIMENSIONS:,}")
    try:
        with np.errstate(over="ignore"):
            vector = np.array(value, dtype=np.float64).astype("<f4")
    except OverflowError:  # a whole number of more than 300 digits
        vector = np.array([np.inf], dtype="<f4")
    if not np.isfinite(vector).all():
        raise BadVector("the vector contains a number that is not finite")
    if not vector.any():
        raise BadVector("the vector is zero, which has no direction")
    return vector.tobytes()


def encode_mean_vector(values: Sequence[object]) -> bytes:
    """Return the bytes of the mean direction of several vectors, such as those of the chunks of a document.

    That is the mean of the vectors at unit length, at unit length itself. Raise BadVector unless each value is a list
    of numbers with a direction, all of one length, and their mean has a direction.
    """
    vectors = [decode_vector(encode_vector(value)).astype(np.float64) for value in values]
    if len({len(vector) for vector in vectors}) != 1:
        raise BadVector("the vectors of its parts have different lengths")
    mean = np.mean([vector / np.linalg.norm(vector) for vector in vectors], axis=0)
    length = float(np.linalg.norm(mean))
    if length < _MIN_MEAN_LENGTH:
        raise BadVector("the vectors of its parts cancel each other out, so it has no direction")
    return encode_vector((mean / length).tolist())


def decode_vector(data: bytes) -> NDArray[np.float32]:
    """Return the vector of ``encode_vector``, shape (dimensions,)."""
    return np.frombuffer(data, dtype="<f4").astype(np.float32, copy=False)


def stack_vectors(encoded: Sequence[bytes | None]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return which of some vectors of ``encode_vector`` there are, shape (n,), and these, (n, dimensions)."""
    numbers = [number for number, vector in enumerate(encoded) if vector]
    rows = [decode_vector(encoded[number] or b"") for number in numbers]
    return np.array(numbers, dtype=np.int64), np.stack(rows) if rows else np.zeros((0, 0), np.float32)


def round_vector(data: bytes) -> bytes:
    """Return a vector of ``encode_vector`` with its numbers rounded to four digits or so.

    Elasticsearch normalises vectors and multiplies them back, which changes the last digits of one that was written
    once.
    """
    bits = np.frombuffer(data, dtype="<u4")
    return ((bits + _HALF_STEP) & ~np.uint32(2 * _HALF_STEP - 1)).astype("<u4").tobytes()


def count_dimensions(data: bytes) -> int:
    """Return the number of dimensions of a vector of ``encode_vector``."""
    return len(data) // _NUMBER_BYTES


def read_dimensions(settings: Mapping[str, object]) -> int | None:
    """Return the number of dimensions of the vectors of an index by its settings; None for an index without vectors."""
    dimensions = settings.get(VECTOR_SETTING)
    return dimensions if isinstance(dimensions, int) else None


def make_text_vector_setting(dimensions: int | None) -> dict[str, object]:
    """Return what is stored among the settings of an index whose vectors were made from texts; nothing for None."""
    return {} if dimensions is None else {TEXT_VECTOR_SETTING: dimensions}


def read_text_dimensions(settings: Mapping[str, object]) -> int | None:
    """Return the number of dimensions of the vectors that were made from texts; None for an index without them."""
    dimensions = settings.get(TEXT_VECTOR_SETTING)
    return dimensions if isinstance(dimensions, int) else None


def find_dimension_fault(data: bytes | None, dimensions: int | None) -> str | None:
    """Return why a document with this vector, or none, does not fit an index; None if it does.

    ``dimensions``: of the vectors of the index; None for an index without vectors.
    """
    if data is None or count_dimensions(data) == dimensions:
        return None
    if dimensions is None:
        return "it has a vector, but the index was built without vectors; leave it out, or build the index with vectors"
    return f"its vector has {count_dimensions(data):,} numbers, those of the index {dimensions:,}; use the same model"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
