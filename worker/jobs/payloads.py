"""Questions as they are asked: plain values that travel to a worker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from indexer.engines.base import Groups
from worker.explain.side import Side
from worker.explain.spec import ALGORITHM, Question, ask


@dataclass(frozen=True, slots=True)
class Asked:
    """One comparison, as a caller with these groups asks for it."""

    index: str
    a: Side
    b: Side
    method: str = "cda"
    preset: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: Groups = None

    def question(self) -> Question:
        """Validated, with its parameters resolved."""
        return ask(
            self.index, self.a, self.b, method=self.method, preset=self.preset, options=self.options, groups=self.groups
        )

    def to_json(self) -> str:
        return json.dumps(
            {
                "index": self.index,
                "a": self.a.to_json(),
                "b": self.b.to_json(),
                "method": self.method,
                "preset": self.preset,
                "options": dict(self.options),
                "groups": None if self.groups is None else sorted(self.groups),
                "algorithm": ALGORITHM,
            }
        )

    @classmethod
    def from_json(cls, written: str) -> Asked:
        value = json.loads(written)
        groups = None if value["groups"] is None else frozenset(value["groups"])
        return cls(
            value["index"],
            Side.from_json(value["a"]),
            Side.from_json(value["b"]),
            value["method"],
            value["preset"],
            value["options"],
            groups,
        )


Against = Literal["query", "page", "document", "above"]


@dataclass(frozen=True, slots=True)
class AskedPage:
    """A whole results page: each hit against the query, the rest of the page, a document or the hit above it."""

    index: str
    hits: tuple[str, ...]
    against: Against
    query: str | None = None
    document: str | None = None
    groups: Groups = None

    def pairs(self) -> list[tuple[str, Asked]]:
        """Each hit (side a) with the comparison that explains it; the first hit has none above it."""
        out = []
        for position, hit in enumerate(self.hits):
            other = self._other(position)
            if other is not None:
                out.append((hit, Asked(self.index, Side.document(hit), other, groups=self.groups)))
        return out

    def _other(self, position: int) -> Side | None:
        if self.against == "query":
            return Side.from_json({"query": self.query})
        if self.against == "document":
            return Side.from_json({"id": self.document})
        if self.against == "above":
            return Side.document(self.hits[position - 1]) if position else None
        rest = [hit for at, hit in enumerate(self.hits) if at != position]
        return Side.from_json({"ids": rest}) if rest else None

    def ids(self) -> list[str]:
        return [*self.hits, self.document] if self.document is not None else list(self.hits)

    def key(self, epoch: str, versions: Mapping[str, str]) -> str:
        """The id of the answer: asking twice is one job."""
        seen = [ALGORITHM, self.to_json(), epoch, sorted(versions.items())]
        return "p" + hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:31]

    def to_json(self) -> str:
        return json.dumps(
            {
                "index": self.index,
                "hits": list(self.hits),
                "against": self.against,
                "query": self.query,
                "document": self.document,
                "groups": None if self.groups is None else sorted(self.groups),
                "algorithm": ALGORITHM,
            }
        )

    @classmethod
    def from_json(cls, written: str) -> AskedPage:
        value = json.loads(written)
        groups = None if value["groups"] is None else frozenset(value["groups"])
        return cls(value["index"], tuple(value["hits"]), value["against"], value["query"], value["document"], groups)


def algorithm_of(written: str) -> int:
    """The version of the method that a question was asked of; 0 where it does not say."""
    return int(json.loads(written).get("algorithm", 0))


def part_id(page: str, position: int) -> str:
    """The id of one hit's comparison: it can be asked for like any other."""
    return f"{page}.{position}"


def page_of(id: str) -> tuple[str, int] | None:
    """The page and the position an id names, if it names one."""
    page, dot, position = id.partition(".")
    return (page, int(position)) if dot and position.isdecimal() and len(position) < 5 else None
