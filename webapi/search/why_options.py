"""``why`` in a search body: whether hits carry their reasons, and what they are explained by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from indexer.errors import BadParameter
from webapi.search.body import reject_unknown_names, require_text, wrap_in_list
from worker.explain.side import encode_side_vector

_NAMES = frozenset({"query", "fields", "vector"})


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """What a caller says about the reasons of the hits."""

    is_wanted: bool = True
    """Whether hits carry their reasons."""
    query: str | None = None
    """The words to explain by; None: those of the search."""
    fields: frozenset[str] | None = None
    """Only texts that are searched for in one of these fields are words to explain by; None: in any."""
    vector: bytes | None = field(default=None, repr=False)
    """The vector to explain by; None: that of the search."""

    def choose_text(self, searched: str) -> str:
        """Return the words to explain by; ``searched``: those of the search."""
        return searched if self.query is None else self.query


def parse_why(value: object) -> WhyOptions:
    """Parse ``why``: true, false, or an object with ``query`` or ``fields``, and ``vector``.

    Raise BadParameter for anything else, BadSide for what is no vector.
    """
    if isinstance(value, bool):
        return WhyOptions(value)
    if not isinstance(value, Mapping):
        raise BadParameter("why must be true, false or an object", fix='write "why": {"query": "the words to explain"}')
    reject_unknown_names(value, _NAMES, "why")
    query, fields, vector = (value.get(name) for name in ("query", "fields", "vector"))
    if query is not None and fields is not None:
        raise BadParameter("why.query replaces the words of the search, so why.fields has no use", fix="leave one out")
    names = None if fields is None else frozenset(require_text(name, "why.fields") for name in wrap_in_list(fields))
    words = None if query is None else require_text(query, "why.query").strip()
    return WhyOptions(True, words, names, None if vector is None else encode_side_vector(vector))
