"""The fields of an Elasticsearch index, read off its mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MappingBody = Mapping[str, Any]
"""A part of a mapping, as Elasticsearch returns it."""


class MappedField(NamedTuple):
    """A field, object or subfield of a mapping."""

    path: str
    options: MappingBody
    is_nested: bool
    """Whether it is inside a nested object, whose fields a query of the document does not see."""

    @property
    def type(self) -> str:
        return str(self.options.get("type", "object"))

    def list_copies(self) -> list[str]:
        """Return the fields that its values are copied to."""
        targets = self.options.get("copy_to", [])
        return [targets] if isinstance(targets, str) else list(targets)


def iterate_fields(properties: MappingBody, prefix: str = "", is_nested: bool = False) -> Iterator[MappedField]:
    """Yield every field, object and subfield of the ``properties`` of a mapping."""
    for name, options in properties.items():
        field = MappedField(prefix + name, options, is_nested)
        yield field
        yield from iterate_fields(options.get("properties", {}), f"{field.path}.", is_nested or field.type == "nested")
        yield from iterate_fields(options.get("fields", {}), f"{field.path}.", is_nested)
