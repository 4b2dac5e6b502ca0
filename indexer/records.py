"""Records as readers yield them (names and values, whatever the file format), and documents made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from indexer.dates import normalize_date
from indexer.documents import Document
from indexer.errors import BadParameter
from indexer.identifiers import MAX_ID_BYTES

DOCUMENT_FIELDS = ("id", "title", "text", "date", "url", "facets", "acl")
FACET_PREFIX = "facets."
NO_TEXT = "no text"
"""Why a record without a text field is rejected."""
MAX_NESTING = 100
"""Objects and lists within each other in a record; encoders of JSON have limits of their own."""


class BadRecord(Exception):
    """A record that cannot become a document; the message tells the user why."""


class SourceRow(NamedTuple):
    """One record of a source, or the reason why it could not be read."""

    source: str
    """The file, or ``-`` for standard input."""
    line: int
    """Where the record begins, counted from 1; 0 if the source has no lines."""
    record: Mapping[str, Any] | BadRecord
    default_id: str = ""
    """Id of the document if the record has none."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Names in a record that the fields of a document come from: ``title=headline``, ``facets.topic=category``.

    A field that is not named comes from the column of its own name. A source may be a path into
    nested objects, ``meta.headline``; an empty one (``date=``) leaves the field out.
    """

    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, assignments: Sequence[str]) -> FieldMap:
        """Parse the values of ``--map``, each ``FIELD=NAME``; raise BadParameter if one of them is not."""
        sources: dict[str, str] = {}
        for assignment in assignments:
            target, equals, source = assignment.partition("=")
            is_facet = target.startswith(FACET_PREFIX) and target != FACET_PREFIX
            if not equals or not (target in DOCUMENT_FIELDS or is_facet):
                raise BadParameter(
                    f"cannot read --map {assignment!r}",
                    fix=f"write FIELD=NAME, where FIELD is one of {', '.join(DOCUMENT_FIELDS)} or {FACET_PREFIX}NAME",
                )
            sources[target] = source
        return cls(sources)

    def get_source(self, target: str) -> str:
        """Return the name or path in a record that a field of the document comes from."""
        return self.sources.get(target, target)

    def get_facet_sources(self) -> dict[str, str]:
        """Return facet name -> name or path in a record, of the facets that are mapped one by one."""
        return {
            name.removeprefix(FACET_PREFIX): source
            for name, source in self.sources.items()
            if name.startswith(FACET_PREFIX)
        }


def make_document(record: Mapping[str, Any], fields: FieldMap, default_id: str, max_bytes: int) -> Document:
    """Return the document of a record; raise BadRecord if it is not valid or longer than ``max_bytes`` of UTF-8."""
    values = {name: _get_value(record, fields.get_source(name)) for name in DOCUMENT_FIELDS}
    text = _to_string(values["text"], "text")
    if not text.strip():
        raise BadRecord(NO_TEXT if values["text"] is None else "the text is empty")
    facets = _to_facets(values["facets"])
    for name, source in fields.get_facet_sources().items():
        facets |= _to_facets({name: _get_value(record, source)})
    used_columns = {fields.get_source(name).partition(".")[0] for name in DOCUMENT_FIELDS}
    used_columns |= {source.partition(".")[0] for source in fields.get_facet_sources().values()}
    document = Document(
        id=_to_id(values["id"], default_id),
        title=_to_string(values["title"], "title").strip(),
        text=text,
        date=_to_date(values["date"]),
        url=_to_string(values["url"], "url") or None,
        facets=facets,
        acl=tuple(_to_strings(values["acl"], "acl")),
        extra={name: value for name, value in record.items() if name not in used_columns and value not in (None, "")},
    )
    _check_encoding_and_size(document, max_bytes)
    _check_nesting(document.extra)
    return document


def _get_value(record: Mapping[str, Any], source: str) -> Any:
    """Return the value under a name, or under a path into nested objects."""
    if not source or source in record:
        return record.get(source)
    value: Any = record
    for part in source.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _to_string(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise BadRecord(f"{name} is not text")


def _to_id(value: Any, default: str) -> str:
    name = _to_string(value, "id").strip() or default
    if len(name.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
        raise BadRecord(f"the id is longer than {MAX_ID_BYTES} bytes")
    if not name.isprintable():
        raise BadRecord("the id contains control characters")
    return name


def _to_date(value: Any) -> str | None:
    if value is None or value == "":
        return None
    try:
        return normalize_date(value)
    except ValueError:
        raise BadRecord(f"cannot read the date {str(value)[:40]!r}") from None


def _to_strings(value: Any, name: str) -> list[str]:
    """Return a list of strings; one string is split at ``;`` (as in a CSV cell)."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(";") if part.strip()]
    parts = value if isinstance(value, list) else [value]
    return [_to_string(part, name) for part in parts]


def _to_facets(value: Any) -> dict[str, tuple[str, ...]]:
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise BadRecord("facets is not an object of names and values")
    facets = {str(name): tuple(_to_strings(values, f"facet {name}")) for name, values in value.items()}
    return {name: values for name, values in facets.items() if values}


def _check_encoding_and_size(document: Document, max_bytes: int) -> None:
    short_texts = [document.url or "", *document.acl, *document.facets]
    short_texts += [value for values in document.facets.values() for value in values]
    content = "".join([document.title, document.text, *short_texts])
    if "\0" in content:
        raise BadRecord("it contains NUL bytes")
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadRecord("it is not valid UTF-8") from None
    if size > max_bytes:
        raise BadRecord(f"it has {size:,} bytes, more than max_document_bytes ({max_bytes:,})")


def _check_nesting(value: Any) -> None:
    """Raise BadRecord if a value has more than ``MAX_NESTING`` objects and lists within each other."""
    level = [value]
    for _ in range(MAX_NESTING):
        containers = [one for one in level if isinstance(one, Mapping | list)]
        if not containers:
            return
        level = [item for one in containers for item in (one.values() if isinstance(one, Mapping) else one)]
    raise BadRecord(f"its fields are nested more than {MAX_NESTING} levels deep")
