"""Reading the parts of a search body, each misfit told with the place it is at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.errors import BadParameter


def object_of(value: object, at: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadParameter(f"{at[:200]} must be an object")
    return value


def single(value: object, at: str) -> tuple[str, Any]:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise BadParameter(f"{at[:200]} must be an object with one name in it")
    name, content = next(iter(value.items()))
    return str(name), content


def listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def only(value: Mapping[str, Any], allowed: frozenset[str], at: str) -> None:
    unknown = sorted(set(value) - allowed)
    if unknown:
        said = f"use {', '.join(sorted(allowed))}" if allowed else "leave it empty"
        raise BadParameter(f"{at[:200]}: {unknown[0][:80]!r} is not allowed", fix=said)


def whole_number(value: object, at: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadParameter(f"{at[:200]} must be a whole number from {least} to {most}")
    return value


def text_of(value: object, at: str) -> str:
    if not isinstance(value, str):
        raise BadParameter(f"{at[:200]} must be text")
    return value


def flag(value: object, at: str) -> bool:
    if not isinstance(value, bool):
        raise BadParameter(f"{at[:200]} must be true or false")
    return value


def facet_name(written: str) -> str:
    """``facets.source`` and ``source.keyword`` are ``source``."""
    return written.removeprefix("facets.").removesuffix(".keyword")
