"""What goes in and what is stored: a document as read, and the same document analysed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PAIR = "@@"
"""Joins the two members of a phrase pair; people see " + " instead."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document as a reader hands it over."""

    id: str
    title: str = ""
    text: str = ""
    date: str | None = None
    """ISO 8601, a day or finer: ``2011-03-11`` or ``2011-03-11T09:00:00``."""
    url: str | None = None
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    acl: tuple[str, ...] = ()
    """Groups that may read it; empty: every caller of the index."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_plain(cls, values: Mapping[str, Any]) -> Document:
        """From what ``plain`` gave, also after a round through JSON; other values are passed over."""
        facets = {name: tuple(found) for name, found in values["facets"].items()}
        return cls(
            values["id"],
            values["title"],
            values["text"],
            values["date"],
            values["url"],
            facets,
            tuple(values["acl"]),
            values["extra"],
        )

    def plain(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return {
            "id": self.id,
            "title": self.title,
            "text": self.text,
            "date": self.date,
            "url": self.url,
            "facets": {name: list(values) for name, values in self.facets.items()},
            "acl": list(self.acl),
            "extra": dict(self.extra),
        }

    def version(self) -> str:
        """The content version: changes when what a comparison can see changes."""
        seen = "\x1f".join([self.title, self.text, self.date or "", "\x1e".join(sorted(self.acl))])
        return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(slots=True)  # never changed; but freezing makes it five times dearer to make, and a set has thousands
class Salient:
    """One of a document's salient phrases."""

    phrase: str
    salience: float
    """In (0, 1]; the list of a document is in order of selection."""
    count: int
    """How often its token sequence occurs in the text, nested occurrences included."""
    at: tuple[tuple[str, int, int], ...] = ()
    """The first occurrences: (field, start, end), offsets into the original field."""


@dataclass(frozen=True, slots=True)
class AnalysedDocument:
    """A document with all that indexing found out about it: what an engine stores."""

    document: Document
    tokens: str
    """Lemmas joined by a space, a newline where a phrase may not cross; title first."""
    phrases: tuple[str, ...]
    """The distinct phrases of the segmentation (pairs included): the edges of the graph."""
    weights: tuple[float, ...]
    """BM25 of each of ``phrases`` with the epoch's statistics, parallel to it."""
    salient: Sequence[Salient]
    degree: float
    """The sum of ``weights``."""
    version: str
