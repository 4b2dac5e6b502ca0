"""Records as readers yield them (names and values, whatever the file format), and documents made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from indexer.dates import date_to_millis, normalize_date
from indexer.documents import Document
from indexer.errors import BadParameter
from indexer.identifiers import find_id_fault
from indexer.vectors import BadVector, encode_mean_vector, encode_vector

DOCUMENT_FIELDS = ("id", "title", "text", "date", "url", "facets", "acl", "vector")
FACET_PREFIX = "facets."
NO_TEXT = "no text"
"""Why a record without a text field is rejected."""
MAX_NESTING = 100
"""Objects and lists within each other in a record; encoders of JSON have limits of their own."""
MAX_TITLE_BYTES: Final = 2**15
"""Longest title in UTF-8: every answer repeats the titles of the documents it names."""
MAX_GROUP_BYTES: Final = 512
"""Longest name of a group in an acl, in UTF-8."""


class BadRecord(Exception):
    """A record that cannot become a document; the message tells the user why and what to do."""


class OversizedRecord(BadRecord):
    """A record that is valid but too large."""


class SourceRow(NamedTuple):
    """One record of a source, or the reason why it could not be read."""

    source: str
    """The file, or ``-`` for standard input."""
    line: int
    """Where the record begins, counted from 1; 0 if the source has no lines."""
    record: Mapping[str, Any] | BadRecord
    default_id: str = ""
    """Id of the document if the record has none."""
    revision: str | None = None
    """Revision of the document in an attached source, if it is known."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Names in a record that the fields of a document come from: ``title=headline``, ``facets.topic=category``.

    A field that is not named comes from the column of its own name. A source may be a path into
    nested objects, ``meta.headline``; an empty one (``date=``) leaves the field out. The path of a vector may lead
    through a list of objects: ``vector=chunks.vector``.
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

    def get_source_path(self, document_field: str) -> str:
        """Return the name or path in a record that a field of the document comes from."""
        return self.sources.get(document_field, document_field)

    def get_facet_sources(self) -> dict[str, str]:
        """Return facet name -> name or path in a record, of the facets that are mapped one by one."""
        return {
            name.removeprefix(FACET_PREFIX): source
            for name, source in self.sources.items()
            if name.startswith(FACET_PREFIX)
        }


def make_document(record: Mapping[str, Any], fields: FieldMap, default_id: str, max_bytes: int) -> Document:
    """Return the document of a record; raise BadRecord if a field cannot be read or ``check_document`` refuses it."""
    values = {name: _get_value(record, fields.get_source_path(name)) for name in DOCUMENT_FIELDS}
    text = _to_string(values["text"], "text")
    if not text.strip():
        raise BadRecord(NO_TEXT if values["text"] is None else "the text is empty")
    _check_acl_spelling(record, fields)
    facets = _to_facets(values["facets"])
    for name, source in fields.get_facet_sources().items():
        facets |= _to_facets({name: _get_value(record, source)})
    used_columns = {fields.get_source_path(name).partition(".")[0] for name in DOCUMENT_FIELDS}
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
        vector=_find_vector(record, fields.get_source_path("vector")),
    )
    check_document(document, max_bytes)
    return document


def _check_acl_spelling(record: Mapping[str, Any], fields: FieldMap) -> None:
    """Raise BadRecord for a field like ``ACL`` or ``acls`` in the place of ``acl``, which would make the document
    public; not if --map says where the groups are, or that there are none."""
    if "acl" in fields.sources or "acl" in record:
        return
    for name, value in record.items():
        letters = "".join(filter(str.isalpha, name)).lower()
        if letters in ("acl", "acls") and value not in (None, ""):
            raise BadRecord(
                f"the field {name[:40]!r} is not acl, so everybody could read the document; rename it, "
                f"or use --map acl={name[:40]} (--map acl= if it is no list of groups)"
            )


def check_document(document: Document, max_bytes: int) -> None:
    """Raise BadRecord unless the document can be stored and read back unchanged; the same rules for files and HTTP.

    Raise OversizedRecord for a document of more than ``max_bytes`` of UTF-8: title, text, extra and all the rest.
    """
    fault = find_id_fault(document.id)
    if fault:
        raise BadRecord(f"the id {fault}")
    if document.date is not None and date_to_millis(document.date) is None:
        raise BadRecord(f"there is no date {document.date[:40]!r}; write it as 2011-03-11 or 2011-03-11T09:00:00")
    _check_nesting(document.extra)
    size = _measure_strings(document) + _measure_extra(document.extra) + len(document.vector or b"")
    title_size = len(document.title.encode())
    if title_size > MAX_TITLE_BYTES:
        raise OversizedRecord(
            f"the title has {title_size:,} bytes, more than {MAX_TITLE_BYTES:,}; put the rest into the text"
        )
    if size > max_bytes:
        raise OversizedRecord(f"it has {size:,} bytes, more than max_document_bytes ({max_bytes:,}); split it")


def _measure_strings(document: Document) -> int:
    """Return the bytes of all fields but extra; raise BadRecord for text that no engine can store."""
    for group in document.acl:
        if len(group.encode("utf-8", "surrogatepass")) > MAX_GROUP_BYTES:
            raise BadRecord(f"a group in acl is longer than {MAX_GROUP_BYTES} bytes; give it a shorter name")
    short_texts = [document.url or "", *document.acl, *document.facets]
    short_texts += [value for values in document.facets.values() for value in values]
    content = "".join([document.title, document.text, *short_texts])
    if "\0" in content:
        raise BadRecord("it contains NUL bytes; remove them")
    try:
        return len(content.encode())
    except UnicodeEncodeError:
        raise BadRecord("it is not valid UTF-8; remove unpaired surrogates") from None


def _measure_extra(extra: Mapping[str, Any]) -> int:
    """Return the bytes of extra as JSON; raise BadRecord for a value that would be read back as another one."""
    if not extra:
        return 0
    try:
        stored = orjson.dumps(extra)
    except TypeError:
        stored = b""
    if not stored or orjson.loads(stored) != extra:
        raise BadRecord(
            "extra contains a value that JSON cannot store unchanged, such as a whole number of more than 64 bits; "
            "write it as a string"
        )
    return len(stored)


def _get_value(record: Mapping[str, Any], source: str) -> Any:
    """Return the value under a name, or under a path into nested objects."""
    if not source:
        return None
    if source in record:
        return record[source]
    value: Any = record
    for part in source.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _collect_values(node: Any, path: Sequence[str]) -> list[Any]:
    """Return all values under a path that leads through objects and lists of objects."""
    if not path:
        return [] if node is None else [node]
    items = node if isinstance(node, list) else [node]
    return [
        value for item in items if isinstance(item, Mapping) for value in _collect_values(item.get(path[0]), path[1:])
    ]


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
    return _to_string(value, "id").strip() or default


def _to_date(value: Any) -> str | None:
    if value is None or value == "":
        return None
    try:
        return normalize_date(value)
    except ValueError:
        raise BadRecord(f"cannot read the date {str(value)[:40]!r}") from None


def _find_vector(record: Mapping[str, Any], source: str) -> bytes | None:
    """Return the bytes of the vector under a name or path; a string is JSON (as in a CSV cell).

    If the path leads through a list, such as the chunks of a text, it is the mean direction of all vectors in it.
    """
    value = _get_value(record, source)
    if not source or value == "":
        return None
    try:
        if value is not None:
            return encode_vector(orjson.loads(value) if isinstance(value, str) else value)
        parts = _collect_values(record, source.split("."))
        return encode_mean_vector(parts) if parts else None
    except orjson.JSONDecodeError:
        raise BadRecord("the vector is not a list of numbers; --map vector= leaves it out") from None
    except BadVector as error:
        raise BadRecord(f"{error}; --map vector= leaves it out") from None


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


def _check_nesting(value: Any) -> None:
    """Raise BadRecord if a value has more than ``MAX_NESTING`` objects and lists within each other."""
    level = [value]
    for _ in range(MAX_NESTING):
        containers = [one for one in level if isinstance(one, Mapping | list)]
        if not containers:
            return
        level = [item for one in containers for item in (one.values() if isinstance(one, Mapping) else one)]
    raise BadRecord(f"its fields are nested more than {MAX_NESTING} levels deep")
