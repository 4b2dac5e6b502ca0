"""The field of a source that the vectors of its documents are read from: one that the user names, or the only one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from indexer.engines.mapped_fields import MappingBody, iterate_fields
from indexer.errors import BadParameter

_VECTOR_TYPE = "dense_vector"
_OPTION = "--vectors"


@dataclass(frozen=True, slots=True)
class VectorField:
    """A field of type ``dense_vector``, perhaps inside a nested object."""

    path: str
    dimensions: tuple[int, ...] = ()
    """Of the vectors, one number unless the indices behind a name differ; none before the first vector is written."""
    has_bits: bool = False
    """Whether its vectors are bits, of which no direction can be computed."""

    def __str__(self) -> str:
        if not self.dimensions:
            return self.path
        return f"{self.path}, {' or '.join(f'{count:,}' for count in self.dimensions)} dimensions"


class VectorChoice(NamedTuple):
    """The field to read vectors from."""

    path: str
    """Empty if no vectors are read."""
    note: str = ""
    """What to tell a user who did not name a field; empty if there is nothing to tell."""


def find_vector_fields(mappings: Iterable[MappingBody]) -> list[VectorField]:
    """Return the fields with vectors by the mappings of all indices that a name covers, in the order of their paths."""
    found: dict[str, VectorField] = {}
    for mapping in mappings:
        for field in iterate_fields(mapping.get("properties", {})):
            if field.type == _VECTOR_TYPE:
                known = found.get(field.path, VectorField(field.path))
                dimensions = {*known.dimensions, *([int(field.options["dims"])] if "dims" in field.options else ())}
                has_bits = known.has_bits or field.options.get("element_type") == "bit"
                found[field.path] = VectorField(field.path, tuple(sorted(dimensions)), has_bits)
    return [found[path] for path in sorted(found)]


def choose_vector_field(fields: Sequence[VectorField]) -> VectorChoice:
    """Return the field to read if the user names none: the only one, if all of its vectors have one length."""
    usable = [field for field in fields if not field.has_bits]
    if not usable:
        return VectorChoice("")
    if len(usable) > 1:
        names = "; ".join(map(str, usable))
        return VectorChoice("", f"vectors: none, as several fields have some ({names}); {_OPTION} FIELD names one")
    (field,) = usable
    if len(field.dimensions) > 1:
        reason = f"none, as the indices of the source differ in them (field {field})"
        return VectorChoice("", f"vectors: {reason}; {_OPTION} {field.path} reads them")
    return VectorChoice(field.path, f"vectors: field {field}; {_OPTION} none leaves them out")


def make_choice_without_mapping() -> VectorChoice:
    """Return the choice for a source whose mapping may not be read, if the user names no field."""
    return VectorChoice(
        "", f"vectors: none, as the mapping of the source may not be read; {_OPTION} FIELD names their field"
    )


def check_vector_field(mappings: Mapping[str, MappingBody], path: str) -> None:
    """Raise BadParameter unless a path that the user named has vectors in one of the indices.

    ``mappings``: concrete index -> its mapping.
    """
    fields = find_vector_fields(mappings.values())
    named = next((field for field in fields if field.path == path), None)
    if named and not named.has_bits:
        return
    every_field = [field for mapping in mappings.values() for field in iterate_fields(mapping.get("properties", {}))]
    types = sorted({field.type for field in every_field if field.path == path})
    if named:
        reason = f"the vectors of the field {path!r} are bits (element_type bit), not numbers"
    elif types:
        reason = f"the field {path!r} is of type {' and '.join(types)}, not {_VECTOR_TYPE}"
    else:
        reason = f"the source has no field {path!r} with vectors"
    usable = [field.path for field in fields if not field.has_bits]
    raise BadParameter(
        reason,
        fix=f"use {_OPTION} {' or '.join([*usable, 'none'])}" if usable else f"use {_OPTION} none: no field has any",
    )
