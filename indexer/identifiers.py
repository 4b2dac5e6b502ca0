"""What may be called what: index names, document ids, and facet values as one string."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from indexer.errors import BadInput, BadParameter

ID_BYTES = 512
_INDEX_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")


def check_index_name(name: str) -> str:
    """A name that is an Elasticsearch alias and a folder alike."""
    if not _INDEX_NAME.fullmatch(name):
        raise BadParameter(
            f"{name[:120]!r} cannot name an index",
            fix="use up to 100 lower-case letters, digits, '-' and '_', a letter or digit first",
        )
    return name


def check_id(name: str) -> str:
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise BadInput(f"document id {name[:80]!r} is not valid Unicode", fix="give the document another id") from None
    if not 0 < size <= ID_BYTES:
        raise BadInput(f"document id {name[:80]!r} has {size} bytes", fix=f"an id has 1 to {ID_BYTES} bytes of UTF-8")
    return name


def is_id(name: str) -> bool:
    """Whether any document can have this id."""
    try:
        return 0 < len(name.encode()) <= ID_BYTES
    except UnicodeEncodeError:
        return False


def clean(text: str) -> str:
    """The text with lone surrogates, which no engine takes, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def facet_prefix(name: str) -> str:
    """What the keys of a facet start with; an ``=`` in the name is escaped so that no two facets mix."""
    return clean(name).replace("%", "%25").replace("=", "%3D") + "="


def facet_of(key: str) -> str:
    """The name in a ``name=value`` string."""
    return key.partition("=")[0].replace("%3D", "=").replace("%25", "%")


def facet_keys(facets: Mapping[str, Sequence[str]]) -> list[str]:
    """Every value of every facet as one ``name=value`` string, in order, none twice."""
    return list(dict.fromkeys(facet_prefix(name) + clean(value) for name, values in facets.items() for value in values))
