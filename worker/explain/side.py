"""One side of a comparison as the caller names it, and its notations.

On the shell: an id, or ``id:…``, ``ids:…,…``, ``search:…``, ``query:…``, ``text:…``, ``file:…``.
In JSON: ``{"id": …}``, ``{"ids": […]}``, ``{"search": …}``, ``{"query": …}``, ``{"text": …}``; the last two may have a
``vector`` of the index's vector space beside them. ``{"vector": […]}`` alone is a query without words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from indexer.dates import date_bounds_to_millis
from indexer.engines.search_types import Selection
from indexer.errors import SIDE_PREFIXES, BadParameter, BadSide, TooLarge
from indexer.identifiers import MAX_ID_BYTES, is_document_id, replace_surrogates
from indexer.vectors import BadVector, count_dimensions, decode_vector, encode_vector

SideKind = Literal["document", "set", "query", "text"]

_KIND_BY_FORM: dict[str, SideKind] = {"id": "document", "ids": "set", "search": "set", "query": "query", "text": "text"}
_FORMS_WITH_VECTOR = ("query", "text")
_DATE_PATTERN = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_MAX_FILE_BYTES = 100 * 2**20
"""A larger file is not read at all; the limit for texts is ``SideLimits``."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side as the caller names it, before any document is looked up."""

    form: str
    """One of ``id ids search query text``."""
    ids: tuple[str, ...] = ()
    words: str = ""
    """The search, the query or the text itself; empty for a query that is only a vector."""
    vector: bytes | None = field(default=None, repr=False)
    """Vector of a query or a text (``indexer.vectors.encode_vector``), in the space of the index's own vectors."""

    @property
    def kind(self) -> SideKind:
        return _KIND_BY_FORM[self.form]

    @property
    def is_only_vector(self) -> bool:
        """Whether it is a query without words."""
        return self.vector is not None and not self.words

    @classmethod
    def from_id(cls, id: str) -> Side:
        """Return a side of one document; raise BadSide if it cannot be an id."""
        return cls("id", (_check_id(id),))

    @classmethod
    def from_query(cls, words: str, vector: Sequence[float] | bytes | None = None) -> Side:
        """Return a side that is a query: what a user typed, and the vector that a model made of it.

        Parameters
        ----------
        words
            The words of the query; may be empty if there is a vector.
        vector
            Its vector, by the model that made the vectors of the index: numbers, or ``encode_vector`` of them.

        Raises
        ------
        BadSide
            If there are neither words nor a vector, or the vector is not a list of finite numbers, is zero or too long.
        """
        return cls._from_words("query", words, vector)

    @classmethod
    def from_json(cls, value: object) -> Side:
        """Parse the object of an HTTP request; a bare string is an id. Raise BadSide if it is malformed."""
        if isinstance(value, str):
            return cls.from_id(value)
        vector = value.get("vector") if isinstance(value, Mapping) else None
        named = {name: item for name, item in value.items() if name != "vector"} if isinstance(value, Mapping) else {}
        if vector is not None and not named:
            return cls._from_words("query", "", vector)
        if len(named) != 1:
            raise BadSide("a side is an object with exactly one of id, ids, search, query, text")
        form, content = next(iter(named.items()))
        if form not in _KIND_BY_FORM:
            raise BadSide(f"unknown kind of side {form!r}", fix="use one of id, ids, search, query, text")
        if vector is not None and form not in _FORMS_WITH_VECTOR:
            raise BadSide(
                f"a side with {form} takes no vector",
                fix="give a vector with a query or a text; documents have their own",
            )
        if form == "ids":
            if not isinstance(content, list) or not all(isinstance(i, str) for i in content):
                raise BadSide("ids must be a list of strings")
            return cls._from_ids(content)
        if not isinstance(content, str):
            raise BadSide(f"{form} must be a string")
        return cls.from_id(content) if form == "id" else cls._from_words(form, content, vector)

    @classmethod
    def from_text(cls, written: str) -> Side:
        """Parse a side as written on the shell. Raise BadSide if it is malformed or its file cannot be read."""
        form, colon, rest = written.partition(":")
        if not colon or form not in SIDE_PREFIXES:
            return cls.from_id(written)
        if form == "id":
            return cls.from_id(rest)
        if form == "ids":
            return cls._from_ids([part.strip() for part in rest.split(",") if part.strip()])
        if form == "file":
            return cls._from_words("text", _read_file(rest))
        return cls._from_words(form, rest)

    def to_json(self) -> dict[str, object]:
        """Return the object that ``from_json`` parses."""
        vector = {} if self.vector is None else {"vector": decode_vector(self.vector).tolist()}
        return {**self.to_json_without_vector(), **vector}

    def to_json_without_vector(self) -> dict[str, object]:
        """Return the object that ``from_json`` parses, but for its vector, which may be long."""
        if self.form == "id":
            return {"id": self.ids[0]}
        return {"ids": list(self.ids)} if self.form == "ids" else {self.form: self.words}

    def describe_for_id(self) -> dict[str, object]:
        """Return what the id of an answer depends on: the object without its vector, and a hash of that."""
        return {**self.to_json_without_vector(), **hash_vector_for_id(self.vector)}

    @classmethod
    def _from_ids(cls, ids: list[str]) -> Side:
        if not ids:
            raise BadSide("a set needs at least one id", fix="write ids:ID,ID or pass a list")
        return cls("ids", tuple(dict.fromkeys(_check_id(i) for i in ids)))

    @classmethod
    def _from_words(cls, form: str, words: str, vector: object = None) -> Side:
        if not words.strip() and (form != "query" or vector is None):
            raise BadSide(f"{form} is empty", fix="add some words")
        if form == "search":
            split_search_words_and_filters(words)  # reject an unreadable date range here, not in a worker
        encoded = None if vector is None else encode_side_vector(vector)
        return cls(form, words=replace_surrogates(words if words.strip() else ""), vector=encoded)


@dataclass(frozen=True, slots=True)
class SideInfo:
    """Description of a side in an answer."""

    kind: SideKind
    ids: tuple[str, ...]
    title: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "ids": list(self.ids), "title": self.title}


def encode_side_vector(value: object) -> bytes:
    """Return the bytes of a vector of a query or a text; raise BadSide unless it is one. Bytes are returned as such."""
    if isinstance(value, bytes):
        return value
    try:
        return encode_vector(value)
    except BadVector as error:
        raise BadSide(str(error), fix="send the numbers of the model that made the vectors of the index") from None


def check_vector_dimensions(vector: bytes | None, dimensions: int | None) -> None:
    """Raise BadSide for a vector of a query or a text that cannot be compared with those of an index.

    ``dimensions``: of the vectors of the index; None for an index without vectors.
    """
    if vector is None or count_dimensions(vector) == dimensions:
        return
    if dimensions is None:
        raise BadSide(
            "the index has no vectors",
            fix="leave the vector out, attach the index with --vectors, or index records with a vector",
        )
    raise BadSide(
        f"the vector has {count_dimensions(vector):,} numbers, those of the index have {dimensions:,}",
        fix="use the model that made the vectors of the index",
    )


def hash_vector_for_id(vector: bytes | None) -> dict[str, str]:
    """Return what the id of an answer depends on of a vector, as members of an object: none without a vector."""
    return {} if vector is None else {"vector": hashlib.sha256(vector).hexdigest()}


def split_search_words_and_filters(search_text: str) -> tuple[str, Selection]:
    """Split a ``search:`` side into free words and filters: ``earthquake source:BBC date:2011-03-11..2011-03-14``.

    The words are returned as written (they are lemmatised with the index's language later), the filters as a
    Selection without words. A value with spaces is quoted: ``topic:"real estate"``. Raise BadSide for a bad date.
    """
    words: list[str] = []
    facets: dict[str, list[str]] = {}
    start = end = None
    for match in re.finditer(r'(?:(\w+):)?(?:"([^"]*)"|(\S+))', search_text):
        name, quoted, bare = match.groups()
        value = quoted if quoted is not None else bare
        if name is None:
            words.append(value)
        elif name == "date":
            start, end = _parse_date_range(value)
        else:
            facets.setdefault(name, []).append(value)
    return " ".join(words), Selection(facets=facets, date_from=start, date_to=end)


def _parse_date_range(value: str) -> tuple[str | None, str | None]:
    start, dots, end = value.partition("..")
    end = end if dots else start
    fix = "write date:2011-03-11 or date:2011-03-11..2011-03-14"
    for day in (start, end):
        if day and not _DATE_PATTERN.fullmatch(day):
            raise BadSide(f"cannot read the date {day!r}", fix=fix)
    try:
        date_bounds_to_millis(start or None, end or None)
    except BadParameter as error:
        raise BadSide(error.detail, fix=fix) from None
    return start or None, end or None


def _check_id(id: str) -> str:
    if not is_document_id(id):
        raise BadSide(f"{id[:80]!r} is not a valid id", fix=f"an id has 1 to {MAX_ID_BYTES} bytes of UTF-8")
    return id


def _read_file(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadSide(f"cannot read {path!r}: {reason}", fix="name a readable text file") from None
    if len(data) > _MAX_FILE_BYTES:
        raise TooLarge(f"{path} is larger than {_MAX_FILE_BYTES} bytes", fix="compare a part of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSide(f"cannot read {path!r}: not valid UTF-8", fix="name a text file, saved as UTF-8") from None
