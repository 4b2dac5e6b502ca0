"""The answer to a comparison as plain values, and its JSON, which shell, Python and HTTP share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from indexer.model.evidence_spaces import SpaceName
from worker.explain.passage import Passage
from worker.explain.query_match import QueryMatch
from worker.explain.side import SideInfo

EntryKind = Literal["shared", "implied", "meaning", "distinct"]
NOT_IN_BOTH: tuple[EntryKind, ...] = ("implied", "meaning")
"""Kinds of common phrases that one of the texts does not contain."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """An occurrence of a phrase: offsets into the original field, and the words around it."""

    side: Literal["a", "b"]
    id: str
    field: str
    start: int
    end: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "side": self.side,
            "id": self.id,
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "snippet": self.text,
        }


@dataclass(frozen=True, slots=True)
class Bridge:
    """A document of neither side that carries relevance from a phrase to the side that lacks it."""

    id: str
    title: str
    phrases: tuple[str, ...]
    share: float

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "phrases": list(self.phrases), "share": self.share}


@dataclass(frozen=True, slots=True)
class Reasons:
    """Sources of an implied phrase's relevance to the side that lacks it; the shares sum to 1."""

    own_share: float
    """From the side that contains the phrase."""
    bridges: tuple[Bridge, ...]
    word_share: float
    """From words of the phrase that the side contains."""
    other_share: float
    """From all other documents."""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "own": self.own_share,
            "via": [bridge.to_dict() for bridge in self.bridges],
            "rest": self.other_share,
        }
        if self.word_share:
            out["partial"] = self.word_share
        return out


@dataclass(frozen=True, slots=True)
class Entry:
    """One phrase of one list.

    A common phrase is ``shared`` if both texts contain it, ``implied`` if the words or the relations of the other text
    connect it to that text, and ``meaning`` if a query and a hit are both about it in the spaces of the index.
    """

    phrase: str
    display: str
    score: float
    kind: EntryKind
    count_a: int
    count_b: int
    relevance_a: float
    relevance_b: float
    evidence: tuple[Snippet, ...] = ()
    also: tuple[str, ...] = ()
    reasons: Reasons | None = None
    noise: float | None = None
    """Share of random documents that have an entry as good; None for a phrase in both texts, or if not known."""
    spaces: Mapping[SpaceName, float] | None = None
    """Of a phrase told by meaning: the z-score of each space that was measured."""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"phrase": self.phrase, "display": self.display, "score": self.score, "kind": self.kind}
        out["a"] = {"count": self.count_a, "relevance": self.relevance_a}
        out["b"] = {"count": self.count_b, "relevance": self.relevance_b}
        out["evidence"] = [place.to_dict() for place in self.evidence]
        if self.noise is not None:
            out["noise"] = self.noise
        if self.spaces is not None:
            out["spaces"] = dict(self.spaces)
        if self.also:
            out["also"] = list(self.also)
        if self.reasons is not None:
            out |= self.reasons.to_dict()
        return out


@dataclass(frozen=True, slots=True)
class Candidate:
    """One salient phrase of a side, with its distance above or below the threshold for ``common``."""

    phrase: str
    salience: float
    margin: float

    def to_dict(self) -> dict[str, Any]:
        return {"phrase": self.phrase, "salience": self.salience, "margin": self.margin}


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """The reason why an answer is empty."""

    code: str
    detail: str

    def to_dict(self) -> dict[str, str]:
        return {"code": self.code, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Stats:
    """Sizes, timings and remarks of one comparison."""

    phrases: int = 0
    documents: int = 0
    edges: int = 0
    iterations: int = 0
    """Steps of the longest inner loop."""
    rounds: int = 0
    """Rounds of the longest outer loop."""
    ms: dict[str, float] = field(default_factory=dict)
    """Milliseconds of each step."""
    notes: tuple[str, ...] = ()
    reached: int = 0
    """Documents reached from both sides in the whole index; Elasticsearch counts up to a thousand."""
    left_out: float = 0.0
    """Share of the candidates' edge weight that lies outside the neighbourhood."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "phrases": self.phrases,
            "documents": self.documents,
            "edges": self.edges,
            "reached": self.reached,
            "left_out": self.left_out,
            "iterations": self.iterations,
            "rounds": self.rounds,
            "ms": dict(self.ms),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole answer."""

    id: str
    index: str
    epoch: str
    method: str
    preset: str
    a: SideInfo
    b: SideInfo
    summary: str
    common: tuple[Entry, ...]
    distinct_a: tuple[Entry, ...]
    distinct_b: tuple[Entry, ...]
    stats: Stats
    no_evidence: NoEvidence | None = None
    match: QueryMatch | None = None
    """Words of the query that the other side contains and lacks, if one side is a query."""
    passage: Passage | None = None
    """Sentence of the other side that is nearest to the query, where its words do not explain it."""
    candidates: dict[str, tuple[Candidate, ...]] | None = None
    graph: dict[str, Any] | None = None
    holders: frozenset[str] = frozenset()
    """Documents that entitle a caller with limited groups to see the phrases of their own text; not in the JSON."""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": self.id,
            "index": self.index,
            "epoch": self.epoch,
            "method": self.method,
            "preset": self.preset,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "summary": self.summary,
            **(self.match.to_dict() if self.match is not None else {}),
            **({"passage": self.passage.to_dict()} if self.passage is not None else {}),
            "common": [entry.to_dict() for entry in self.common],
            "distinct_a": [entry.to_dict() for entry in self.distinct_a],
            "distinct_b": [entry.to_dict() for entry in self.distinct_b],
            "stats": self.stats.to_dict(),
            "no_evidence": self.no_evidence.to_dict() if self.no_evidence else None,
        }
        if self.candidates is not None:
            out["candidates"] = {side: [c.to_dict() for c in listed] for side, listed in self.candidates.items()}
        if self.graph is not None:
            out["graph"] = self.graph
        return out
