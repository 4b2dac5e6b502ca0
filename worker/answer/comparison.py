"""The answer to a comparison: plain values, and the JSON that shell, Python and HTTP share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from worker.explain.side import Kind


@dataclass(frozen=True, slots=True)
class SideInfo:
    kind: Kind
    ids: tuple[str, ...]
    title: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "ids": list(self.ids), "title": self.title}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a phrase stands: offsets into the original field, and the words around it."""

    side: Literal["a", "b"]
    id: str
    field: str
    start: int
    end: int
    snippet: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "side": self.side,
            "id": self.id,
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "snippet": self.snippet,
        }


@dataclass(frozen=True, slots=True)
class Bridge:
    """A third document that carries relevance from a phrase to the side that lacks it."""

    id: str
    title: str
    phrases: tuple[str, ...]
    share: float

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "phrases": list(self.phrases), "share": self.share}


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why an implied phrase belongs to the side that lacks it; the shares sum to 1."""

    own: float
    via: tuple[Bridge, ...]
    partial: float
    rest: float

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"own": self.own, "via": [bridge.to_dict() for bridge in self.via], "rest": self.rest}
        if self.partial:
            out["partial"] = self.partial
        return out


@dataclass(frozen=True, slots=True)
class Entry:
    """One phrase of one list."""

    phrase: str
    display: str
    score: float
    kind: Literal["shared", "implied", "distinct"]
    count_a: int
    count_b: int
    relevance_a: float
    relevance_b: float
    evidence: tuple[Place, ...] = ()
    also: tuple[str, ...] = ()
    reasons: Reasons | None = None

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"phrase": self.phrase, "display": self.display, "score": self.score, "kind": self.kind}
        out["a"] = {"count": self.count_a, "relevance": self.relevance_a}
        out["b"] = {"count": self.count_b, "relevance": self.relevance_b}
        out["evidence"] = [place.to_dict() for place in self.evidence]
        if self.also:
            out["also"] = list(self.also)
        if self.reasons is not None:
            out |= self.reasons.to_dict()
        return out


@dataclass(frozen=True, slots=True)
class Candidate:
    """One salient phrase of a side, and how far above or below the cut for ``common`` it is."""

    phrase: str
    salience: float
    margin: float

    def to_dict(self) -> dict[str, Any]:
        return {"phrase": self.phrase, "salience": self.salience, "margin": self.margin}


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """Why an answer is empty."""

    code: str
    detail: str

    def to_dict(self) -> dict[str, str]:
        return {"code": self.code, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Stats:
    phrases: int = 0
    documents: int = 0
    edges: int = 0
    iterations: int = 0
    """Steps of the longest inner loop."""
    rounds: int = 0
    """Rounds of the longest outer loop."""
    ms: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reached: int = 0
    """Documents reached from both sides in the whole index."""
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
    candidates: dict[str, tuple[Candidate, ...]] | None = None
    graph: dict[str, Any] | None = None

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
            "common": [entry.to_dict() for entry in self.common],
            "distinct_a": [entry.to_dict() for entry in self.distinct_a],
            "distinct_b": [entry.to_dict() for entry in self.distinct_b],
            "stats": self.stats.to_dict(),
            "no_evidence": self.no_evidence.to_dict() if self.no_evidence else None,
        }
        if self.candidates is not None:
            out["candidates"] = {side: [c.to_dict() for c in found] for side, found in self.candidates.items()}
        if self.graph is not None:
            out["graph"] = self.graph
        return out
