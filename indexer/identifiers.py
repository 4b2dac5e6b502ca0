"""Rules for names: index names, document ids, and facet values written as one string."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from indexer.errors import BadInput, BadParameter

MAX_ID_BYTES: Final = 512
"""Longest document id in UTF-8."""
INDEX_NAME_PATTERN: Final = "[a-z0-9][a-z0-9_-]{0,99}"
"""Regular expression of a whole index name: valid as an Elasticsearch alias and as a folder."""
_CONTROL_CHARACTER: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def check_index_name(name: str) -> str:
    """Return the name; raise BadParameter if it cannot name an index."""
    if not re.fullmatch(INDEX_NAME_PATTERN, name):
        raise BadParameter(
            f"{name[:120]!r} is not a valid index name",
            fix="use up to 100 lower-case letters, digits, '-' and '_', starting with a letter or digit",
        )
    return name


def check_document_id(id: str) -> str:
    """Return the id; raise BadInput if no document can have it."""
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        raise BadInput(f"document id {id[:80]!r} is not valid Unicode", fix="give the document another id") from None
    if not 0 < size <= MAX_ID_BYTES:
        raise BadInput(f"document id {id[:80]!r} has {size} bytes", fix=f"an id has 1 to {MAX_ID_BYTES} bytes of UTF-8")
    return id


def is_document_id(id: str) -> bool:
    """Return whether a document can have this id."""
    try:
        return 0 < len(id.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False


def find_id_fault(id: str) -> str:
    """Return the rule that the id of a new document breaks, as the end of ``the id ...``; empty if it breaks none.

    Stricter than ``is_document_id``, which also fits documents stored before there was a rule about characters.
    """
    if not is_document_id(id):
        return f"must have 1 to {MAX_ID_BYTES} bytes of UTF-8"
    if not id.strip():
        return "must not be blank"
    if _CONTROL_CHARACTER.search(id):
        return "must not contain control characters or line breaks"
    return ""


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates, which no engine accepts, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def build_facet_key_prefix(facet_name: str) -> str:
    """Return the start of a facet's keys; ``=`` in the name is escaped, so that no two facets share one."""
    return replace_surrogates(facet_name).replace("%", "%25").replace("=", "%3D") + "="


def parse_facet_name(facet_key: str) -> str:
    """Return the facet's name of a ``name=value`` key."""
    return facet_key.partition("=")[0].replace("%3D", "=").replace("%25", "%")


def build_facet_keys(facets: Mapping[str, Sequence[str]]) -> list[str]:
    """Return every value of every facet as a ``name=value`` key, in order and without duplicates."""
    return list(
        dict.fromkeys(
            build_facet_key_prefix(name) + replace_surrogates(value)
            for name, values in facets.items()
            for value in values
        )
    )
