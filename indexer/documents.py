"""A document as a reader returns it, and the analysed document that an engine stores."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from indexer.vectors import round_vector

PAIR_SEPARATOR = "@@"
"""Joins the two members of a phrase pair in its name; users see " + " instead."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document as a reader returns it."""

    id: str
    title: str = ""
    text: str = ""
    date: str | None = None
    """ISO 8601, a day or finer: ``2011-03-11`` or ``2011-03-11T09:00:00``."""
    url: str | None = None
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    acl: tuple[str, ...] = ()
    """Groups that may read it; empty if every caller of the index may."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    revision: str | None = None
    """Which write of the document to an attached source this is (``attached_source.make_revision``), if it is known."""
    vector: bytes | None = field(default=None, repr=False)
    """Of ``indexer.vectors.encode_vector``; None for a document without one."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Document:
        """Return the document of ``to_dict``, also after a round trip through JSON; other keys are ignored."""
        facets = {name: tuple(names) for name, names in values["facets"].items()}
        vector = values.get("vector")
        return cls(
            values["id"],
            values["title"],
            values["text"],
            values["date"],
            values["url"],
            facets,
            tuple(values["acl"]),
            values["extra"],
            values.get("revision"),
            None if vector is None else base64.b64decode(vector),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; ``revision`` and ``vector`` (in base64) only if there is one."""
        fields: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "text": self.text,
            "date": self.date,
            "url": self.url,
            "facets": {name: list(values) for name, values in self.facets.items()},
            "acl": list(self.acl),
            "extra": dict(self.extra),
        }
        if self.revision is not None:
            fields["revision"] = self.revision
        if self.vector is not None:
            fields["vector"] = base64.b64encode(self.vector).decode("ascii")
        return fields

    def compute_version(self) -> str:
        """Return a hash of all that a comparison can see of the document: title, text, date, acl and vector."""
        content = "\x1f".join([self.title, self.text, self.date or "", "\x1e".join(sorted(self.acl))])
        vector = b"" if self.vector is None else b"\x1f" + round_vector(self.vector)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass") + vector).hexdigest()[:16]


@dataclass(slots=True)  # never changed, but creating a frozen one takes five times as long, and a set has thousands
class SalientPhrase:
    """One of a document's salient phrases."""

    phrase: str
    salience: float
    """In (0, 1]; the phrases of a document are in order of selection."""
    count: int
    """Occurrences of its token sequence in the text, nested ones included."""
    spans: tuple[tuple[str, int, int], ...] = ()
    """The first occurrences as (field, start, end), character offsets into the original field."""


class TextPhrase(NamedTuple):
    """A phrase that the text itself shows to be one, whether or not other documents have it."""

    start: int
    """Token at which it first occurs, counted from the first of the title."""
    length: int
    """Its tokens."""
    occurrences: int
    """How often the text has it as a whole phrase, not as a part of a longer one."""


@dataclass(frozen=True, slots=True)
class AnalysedDocument:
    """A document with its tokens, phrases, weights and salient phrases: the unit that an engine stores."""

    document: Document
    tokens: str
    """Lemmas of title and text joined by a space, or by a newline where no phrase may cross."""
    phrases: tuple[str, ...]
    """The distinct phrases of the segmentation (pairs included): the edges of the graph."""
    weights: tuple[float, ...]
    """BM25 of each of ``phrases`` with the statistics of the epoch, in the same order."""
    salient: Sequence[SalientPhrase]
    degree: float
    """The sum of ``weights``."""
    version: str
    text_phrases: Sequence[TextPhrase] = ()
    """Phrases of the text itself, those that tell most about it first; none in an index of a former version."""
