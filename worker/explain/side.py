"""What can stand on one side of a comparison, and how it is written.

On the shell: an id, or ``id:…``, ``ids:…,…``, ``search:…``, ``query:…``, ``text:…``, ``file:…``.
In JSON: ``{"id": …}``, ``{"ids": […]}``, ``{"search": …}``, ``{"query": …}``, ``{"text": …}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexer.date_ranges import bounds
from indexer.engines.base import Selection
from indexer.errors import BadParameter, BadSide, TooLarge
from indexer.identifiers import ID_BYTES, clean, is_id

Kind = Literal["document", "set", "query", "text"]

_FORMS: dict[str, Kind] = {"id": "document", "ids": "set", "search": "set", "query": "query", "text": "text"}
_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_FILE_BYTES = 100 * 2**20
"""A larger file is not even read; how large a text may be is the comparison's to say."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side as asked for, before anything was looked up."""

    form: str
    """One of ``id ids search query text``."""
    ids: tuple[str, ...] = ()
    words: str = ""
    """The search, the query or the text itself."""

    @property
    def kind(self) -> Kind:
        return _FORMS[self.form]

    @classmethod
    def document(cls, id: str) -> Side:
        return cls("id", (_checked_id(id),))

    @classmethod
    def from_json(cls, value: object) -> Side:
        """From the object an HTTP request carries; a bare string is an id."""
        if isinstance(value, str):
            return cls.document(value)
        if not isinstance(value, Mapping) or len(value) != 1:
            raise BadSide("a side is an object with exactly one of id, ids, search, query, text")
        form, content = next(iter(value.items()))
        if form not in _FORMS:
            raise BadSide(f"unknown kind of side {form!r}", fix="use one of id, ids, search, query, text")
        if form == "ids":
            if not isinstance(content, list) or not all(isinstance(i, str) for i in content):
                raise BadSide("ids must be a list of strings")
            return cls._set(content)
        if not isinstance(content, str):
            raise BadSide(f"{form} must be a string")
        return cls.document(content) if form == "id" else cls._words(form, content)

    @classmethod
    def from_text(cls, written: str) -> Side:
        """From the way a side is written on the shell."""
        form, colon, rest = written.partition(":")
        if not colon or form not in (*_FORMS, "file"):
            return cls.document(written)
        if form == "id":
            return cls.document(rest)
        if form == "ids":
            return cls._set([part.strip() for part in rest.split(",") if part.strip()])
        if form == "file":
            return cls._words("text", _read(rest))
        return cls._words(form, rest)

    def to_json(self) -> dict[str, object]:
        if self.form == "id":
            return {"id": self.ids[0]}
        return {"ids": list(self.ids)} if self.form == "ids" else {self.form: self.words}

    @classmethod
    def _set(cls, ids: list[str]) -> Side:
        if not ids:
            raise BadSide("a set needs at least one id", fix="write ids:ID,ID or give a list of them")
        return cls("ids", tuple(dict.fromkeys(_checked_id(i) for i in ids)))

    @classmethod
    def _words(cls, form: str, words: str) -> Side:
        if not words.strip():
            raise BadSide(f"{form} is empty", fix="give it some words")
        if form == "search":
            parse_search(words)  # an unreadable date range is told at once, not from a worker
        return cls(form, words=clean(words))


def parse_search(written: str) -> tuple[str, Selection]:
    """Free words and the filters of ``search:``: ``earthquake source:BBC date:2011-03-11..2011-03-14``.

    The words come back as written (they are lemmatised with the index's language later), the
    filters as a Selection without words. A value with spaces is quoted: ``topic:"real estate"``.
    """
    words: list[str] = []
    facets: dict[str, list[str]] = {}
    start = end = None
    for match in re.finditer(r'(?:(\w+):)?(?:"([^"]*)"|(\S+))', written):
        name, quoted, bare = match.groups()
        value = quoted if quoted is not None else bare
        if name is None:
            words.append(value)
        elif name == "date":
            start, end = _date_range(value)
        else:
            facets.setdefault(name, []).append(value)
    return " ".join(words), Selection(facets=facets, date_from=start, date_to=end)


def _date_range(value: str) -> tuple[str | None, str | None]:
    start, dots, end = value.partition("..")
    end = end if dots else start
    fix = "write date:2011-03-11 or date:2011-03-11..2011-03-14"
    for day in (start, end):
        if day and not _DAY.fullmatch(day):
            raise BadSide(f"cannot read the date {day!r}", fix=fix)
    try:
        bounds(start or None, end or None)
    except BadParameter as error:
        raise BadSide(error.detail, fix=fix) from None
    return start or None, end or None


def _checked_id(id: str) -> str:
    if not is_id(id):
        raise BadSide(f"{id[:80]!r} cannot be an id", fix=f"an id has 1 to {ID_BYTES} bytes of UTF-8")
    return id


def _read(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadSide(f"cannot read {path!r}: {reason}", fix="name a readable text file") from None
    if len(data) > _FILE_BYTES:
        raise TooLarge(f"{path} is larger than {_FILE_BYTES} bytes", fix="compare a part of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSide(f"cannot read {path!r}: not valid UTF-8", fix="name a text file, saved as UTF-8") from None
