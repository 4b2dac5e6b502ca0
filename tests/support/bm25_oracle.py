"""The neighbourhood, slow and to the letter of its definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.documents import AnalysedDocument
from indexer.engines.search_types import Neighbourhood, NeighbourhoodRequest


@dataclass(frozen=True)
class Expected:
    ids: list[str]
    totals: dict[str, float]
    edges: dict[tuple[str, str], float]
    """(phrase, id) -> weight."""
    reached: int


def readable(analysed: AnalysedDocument, groups: frozenset[str] | None) -> bool:
    acl = set(analysed.document.acl)
    return groups is None or not acl or bool(acl & groups)


def expected(documents: Sequence[AnalysedDocument], request: NeighbourhoodRequest) -> Expected:
    visible = {d.document.id: d for d in documents if readable(d, request.groups)}
    weights = {name: dict(zip(d.phrases, d.weights, strict=True)) for name, d in visible.items()}
    totals = {}
    for name, held in weights.items():
        if any(phrase in held for phrase in request.boosts_a) and any(phrase in held for phrase in request.boosts_b):
            totals[name] = sum(
                boost * held[phrase]
                for side in (request.boosts_a, request.boosts_b)
                for phrase, boost in side.items()
                if phrase in held
            )
    ranked = sorted(totals, key=lambda name: (-totals[name], name))[: request.limit]
    included = [name for name in dict.fromkeys(request.include) if name in visible]
    ids = included + [name for name in ranked if name not in included]
    asked = {*request.boosts_a, *request.boosts_b}
    edges = {(phrase, name): w for name in ids for phrase, w in weights[name].items() if phrase in asked}
    return Expected(ids, totals, edges, len(totals))


def edges_of(found: Neighbourhood) -> dict[tuple[str, str], float]:
    rows, columns, weights = found.rows.tolist(), found.columns.tolist(), found.weights.tolist()
    edges = {(found.phrases[r], found.ids[c]): w for r, c, w in zip(rows, columns, weights, strict=True)}
    assert len(edges) == len(rows), "an edge came twice"
    return edges
