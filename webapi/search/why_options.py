"""``why`` in a search body: whether hits carry their reasons, and which words they are explained by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexer.errors import BadParameter
from webapi.search.body import reject_unknown_names, require_text, wrap_in_list

_NAMES = frozenset({"query", "fields"})


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """What a caller says about the reasons of the hits."""

    is_wanted: bool = True
    """Whether hits carry their reasons."""
    query: str | None = None
    """The words to explain by; None: those of the search."""
    fields: frozenset[str] | None = None
    """Only texts that are searched for in one of these fields are words to explain by; None: in any."""

    def choose_text(self, searched: str) -> str:
        """Return the words to explain by; ``searched``: those of the search."""
        return searched if self.query is None else self.query


def parse_why(value: object) -> WhyOptions:
    """Parse ``why``: true, false, or an object with ``query`` or ``fields``; raise BadParameter for anything else."""
    if isinstance(value, bool):
        return WhyOptions(value)
    if not isinstance(value, Mapping):
        raise BadParameter("why must be true, false or an object", fix='write "why": {"query": "the words to explain"}')
    if "vector" in value:
        raise BadParameter(
            "why.vector is not allowed: the index keeps no vectors", fix='explain by words: "why": {"query": "..."}'
        )
    reject_unknown_names(value, _NAMES, "why")
    query, fields = value.get("query"), value.get("fields")
    if query is not None and fields is not None:
        raise BadParameter("why.query replaces the words of the search, so why.fields has no use", fix="leave one out")
    names = None if fields is None else frozenset(require_text(name, "why.fields") for name in wrap_in_list(fields))
    return WhyOptions(True, None if query is None else require_text(query, "why.query").strip(), names)
