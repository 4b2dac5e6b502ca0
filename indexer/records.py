"""From a record (names and values, whatever the file was) to a Document, or a reason why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.dates import normal_date
from indexer.documents import Document
from indexer.errors import BadParameter

FIELDS = ("id", "title", "text", "date", "url", "facets", "acl")
FACET = "facets."
MAX_ID_BYTES = 512
NO_TEXT = "no text"
"""Why a record is left out that has no field of that name."""


class BadRecord(Exception):
    """This record cannot be taken; the message says why, in words for a user."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Where each field of a document comes from: ``title=headline``, ``facets.topic=category``.

    A field that is not named comes from the column of its own name. A source may be a path into
    nested objects, ``meta.headline``; an empty one (``date=``) leaves the field out.
    """

    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, written: Sequence[str]) -> FieldMap:
        sources: dict[str, str] = {}
        for pair in written:
            target, equals, source = pair.partition("=")
            if not equals or not (target in FIELDS or (target.startswith(FACET) and target != FACET)):
                raise BadParameter(
                    f"cannot read --map {pair!r}",
                    fix=f"write FIELD=NAME, where FIELD is one of {', '.join(FIELDS)} or {FACET}NAME",
                )
            sources[target] = source
        return cls(sources)

    def source(self, target: str) -> str:
        return self.sources.get(target, target)

    def facet_sources(self) -> dict[str, str]:
        return {name[len(FACET) :]: source for name, source in self.sources.items() if name.startswith(FACET)}


def make_document(record: Mapping[str, Any], fields: FieldMap, default_id: str, max_bytes: int) -> Document:
    """The document a record describes; raises BadRecord when it describes none."""
    taken = {name: _look_up(record, fields.source(name)) for name in FIELDS}
    text = _string(taken["text"], "text")
    if not text.strip():
        raise BadRecord(NO_TEXT if taken["text"] is None else "the text is empty")
    facets = _facets(taken["facets"])
    for name, source in fields.facet_sources().items():
        facets |= _facets({name: _look_up(record, source)})
    used = {fields.source(name).partition(".")[0] for name in FIELDS}
    used |= {source.partition(".")[0] for source in fields.facet_sources().values()}
    document = Document(
        id=_id(taken["id"], default_id),
        title=_string(taken["title"], "title").strip(),
        text=text,
        date=_date(taken["date"]),
        url=_string(taken["url"], "url") or None,
        facets=facets,
        acl=tuple(_strings(taken["acl"], "acl")),
        extra={name: value for name, value in record.items() if name not in used and value not in (None, "")},
    )
    _check_text(document, max_bytes)
    return document


def _look_up(record: Mapping[str, Any], source: str) -> Any:
    """The value under this name, or under this path into nested objects."""
    if not source or source in record:
        return record.get(source)
    value: Any = record
    for part in source.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _string(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise BadRecord(f"{name} is not text")


def _id(value: Any, default: str) -> str:
    name = _string(value, "id").strip() or default
    if len(name.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
        raise BadRecord(f"the id is longer than {MAX_ID_BYTES} bytes")
    if not name.isprintable():
        raise BadRecord("the id holds control characters")
    return name


def _date(value: Any) -> str | None:
    if value is None or value == "":
        return None
    try:
        return normal_date(value)
    except ValueError:
        raise BadRecord(f"cannot read the date {str(value)[:40]!r}") from None


def _strings(value: Any, name: str) -> list[str]:
    """A list of strings, or one string with ``;`` between them (as in a CSV cell)."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(";") if part.strip()]
    parts = value if isinstance(value, list) else [value]
    return [_string(part, name) for part in parts]


def _facets(value: Any) -> dict[str, tuple[str, ...]]:
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise BadRecord("facets is not an object of names and values")
    found = {str(name): tuple(_strings(values, f"facet {name}")) for name, values in value.items()}
    return {name: values for name, values in found.items() if values}


def _check_text(document: Document, max_bytes: int) -> None:
    small = [document.url or "", *document.acl, *document.facets]
    small += [value for values in document.facets.values() for value in values]
    whole = "".join([document.title, document.text, *small])
    if "\0" in whole:
        raise BadRecord("it holds NUL bytes")
    try:
        size = len(whole.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadRecord("it is not valid UTF-8") from None
    if size > max_bytes:
        raise BadRecord(f"it has {size:,} bytes, more than max_document_bytes ({max_bytes:,})")
