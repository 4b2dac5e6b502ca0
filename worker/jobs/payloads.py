"""Payloads of jobs: the requests of callers as JSON that a worker reads."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from indexer.engines.search_types import Groups
from worker.explain.side import Side, hash_vector_for_id
from worker.explain.spec import ALGORITHM_VERSION, ComparisonSpec, make_spec

_VECTOR = "vector_base64"


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A request for one comparison, by a caller with these groups."""

    index: str
    a: Side
    b: Side
    method: str = "cda"
    preset: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: Groups = None

    def build_spec(self) -> ComparisonSpec:
        """Return the checked specification; raise what is wrong with the request."""
        return make_spec(
            self.index, self.a, self.b, method=self.method, preset=self.preset, options=self.options, groups=self.groups
        )

    def to_json(self) -> str:
        return json.dumps(
            {
                "index": self.index,
                "a": _write_side(self.a),
                "b": _write_side(self.b),
                "method": self.method,
                "preset": self.preset,
                "options": dict(self.options),
                "groups": None if self.groups is None else sorted(self.groups),
                "algorithm": ALGORITHM_VERSION,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> ComparisonRequest:
        value = json.loads(text)
        groups = None if value["groups"] is None else frozenset(value["groups"])
        return cls(
            value["index"],
            _read_side(value["a"]),
            _read_side(value["b"]),
            value["method"],
            value["preset"],
            value["options"],
            groups,
        )


def _write_side(side: Side) -> dict[str, object]:
    return {**side.to_json_without_vector(), **_write_vector(side.vector)}


def _read_side(value: Mapping[str, Any]) -> Side:
    vector = _read_vector(value)
    named = {name: content for name, content in value.items() if name != _VECTOR}
    return Side.from_json(named if vector is None else {**named, "vector": vector})


def _write_vector(vector: bytes | None) -> dict[str, object]:
    """Return a vector as a member of a payload: its bytes are a third of the size of its numbers, and exact."""
    return {} if vector is None else {_VECTOR: b64encode(vector).decode()}


def _read_vector(value: Mapping[str, Any]) -> bytes | None:
    return b64decode(value[_VECTOR]) if _VECTOR in value else None


Against = Literal["query", "page", "document", "above"]
"""What each hit of a page is compared with."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a results page: each hit against the query, the other hits, a document or the hit above it."""

    index: str
    hits: tuple[str, ...]
    against: Against
    query: str | None = None
    document: str | None = None
    groups: Groups = None
    query_vector: bytes | None = field(default=None, repr=False)
    """The vector of the query (``Side.vector``); without a query, hits are compared with the vector alone."""

    def list_comparisons(self) -> list[tuple[str, ComparisonRequest]]:
        """Return each hit (side a) with the comparison that explains it; the first hit has none above it."""
        comparisons = ((hit, self.make_comparison(n, self.against)) for n, hit in enumerate(self.hits))
        return [(hit, comparison) for hit, comparison in comparisons if comparison is not None]

    def make_comparison(self, position: int, against: Against) -> ComparisonRequest | None:
        """Return the comparison of the hit at a position, its side a; None if there is nothing to compare it with."""
        b = self._make_side_b(position, against) if position < len(self.hits) else None
        if b is None:
            return None
        return ComparisonRequest(self.index, Side.from_id(self.hits[position]), b, groups=self.groups)

    def _make_side_b(self, position: int, against: Against) -> Side | None:
        if against == "query":
            return Side.from_query(self.query or "", self.query_vector)
        if against == "document":
            return Side.from_json({"id": self.document})
        if against == "above":
            return Side.from_id(self.hits[position - 1]) if position else None
        other_hits = [hit for n, hit in enumerate(self.hits) if n != position]
        return Side.from_json({"ids": other_hits}) if other_hits else None

    def list_document_ids(self) -> list[str]:
        return [*self.hits, self.document] if self.document is not None else list(self.hits)

    def compute_answer_id(self, epoch: str, versions_by_document_id: Mapping[str, str]) -> str:
        """Return the id of the answer, which is the id of the job: equal requests make one job."""
        request = {**self._describe(), **hash_vector_for_id(self.query_vector)}
        content = [ALGORITHM_VERSION, json.dumps(request), epoch, sorted(versions_by_document_id.items())]
        return "p" + hashlib.sha256(json.dumps(content).encode()).hexdigest()[:31]

    def to_json(self) -> str:
        return json.dumps({**self._describe(), **_write_vector(self.query_vector)})

    def _describe(self) -> dict[str, object]:
        """Return all of the request but its vector."""
        return {
            "index": self.index,
            "hits": list(self.hits),
            "against": self.against,
            "query": self.query,
            "document": self.document,
            "groups": None if self.groups is None else sorted(self.groups),
            "algorithm": ALGORITHM_VERSION,
        }

    @classmethod
    def from_json(cls, text: str) -> PageRequest:
        value = json.loads(text)
        groups = None if value["groups"] is None else frozenset(value["groups"])
        return cls(
            value["index"],
            tuple(value["hits"]),
            value["against"],
            value["query"],
            value["document"],
            groups,
            _read_vector(value),
        )


@dataclass(frozen=True, slots=True)
class PageBatch:
    """Results pages that one job explains, such as those of a multi-search."""

    pages: Mapping[str, PageRequest]
    """By the id of the answer, under which each is stored when it is ready."""
    caller: str
    """The key id of the caller who submitted them first."""

    def compute_job_id(self) -> str:
        """Return the id of the job: equal pages make one job."""
        return "b" + hashlib.sha256(json.dumps(list(self.pages)).encode()).hexdigest()[:31]

    def to_json(self) -> str:
        pages = {id: page.to_json() for id, page in self.pages.items()}
        return json.dumps({"pages": pages, "caller": self.caller, "algorithm": ALGORITHM_VERSION})

    @classmethod
    def from_json(cls, text: str) -> PageBatch:
        value = json.loads(text)
        return cls({id: PageRequest.from_json(page) for id, page in value["pages"].items()}, value["caller"])


def read_algorithm_version(payload: str) -> int:
    """Return the version of the algorithm that a payload was written for; 0 if it names none."""
    return int(json.loads(payload).get("algorithm", 0))


_PART_ID = re.compile(r"(?P<page>[^.]+)\.(?P<position>[0-9]{1,4})(?P<apart>\.page)?")


def make_part_id(page_id: str, hit_position: int, *, from_page: bool = False) -> str:
    """Return the id of one hit's comparison, under which it can be fetched like any other.

    ``from_page``: the comparison with the other hits instead of what the page is compared with.
    """
    return f"{page_id}.{hit_position}{'.page' if from_page else ''}"


class PartId(NamedTuple):
    """The id of one hit's comparison, in its parts."""

    page_id: str
    hit_position: int
    from_page: bool


def parse_part_id(id: str) -> PartId | None:
    """Return the parts of the id if it is that of a hit's comparison."""
    found = _PART_ID.fullmatch(id)
    return PartId(found["page"], int(found["position"]), found["apart"] is not None) if found else None
