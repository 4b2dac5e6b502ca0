"""The neighbourhood computed slowly, to the letter of its definition, and random requests to compare it with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from indexer.documents import AnalysedDocument
from indexer.engines.search_types import Neighbourhood, NeighbourhoodRequest
from tests.support.corpora.engine_corpus import PHRASE_PAIR, PHRASES


@dataclass(frozen=True)
class ExpectedNeighbourhood:
    ids: list[str]
    totals: dict[str, float]
    """Id -> sum of the boosts of its phrases, of every document reached from both sides."""
    edges: dict[tuple[str, str], float]
    """(phrase, id) -> weight."""
    reached_count: int


def make_random_request(rng: random.Random, ids: Sequence[str]) -> NeighbourhoodRequest:
    """Return a request with random phrases, boosts, groups and limit that includes two of ``ids``."""
    phrases = [*PHRASES, PHRASE_PAIR, "no such phrase"]
    sides = [{phrase: rng.uniform(0.1, 3.0) for phrase in rng.sample(phrases, rng.randint(1, 9))} for _ in "ab"]
    groups = rng.choice([None, None, frozenset({"staff"}), frozenset[str]()])
    included = tuple(rng.sample(list(ids), 2))
    return NeighbourhoodRequest(sides[0], sides[1], included, rng.choice([1, 3, 10, 1000]), groups)


def is_readable(analysed: AnalysedDocument, groups: frozenset[str] | None) -> bool:
    acl = set(analysed.document.acl)
    return groups is None or not acl or bool(acl & groups)


def compute_neighbourhood(
    documents: Sequence[AnalysedDocument], request: NeighbourhoodRequest
) -> ExpectedNeighbourhood:
    visible = {d.document.id: d for d in documents if is_readable(d, request.groups)}
    weights = {id: dict(zip(d.phrases, d.weights, strict=True)) for id, d in visible.items()}
    totals = {}
    for id, own in weights.items():
        if any(phrase in own for phrase in request.boosts_a) and any(phrase in own for phrase in request.boosts_b):
            totals[id] = sum(
                boost
                for boosts in (request.boosts_a, request.boosts_b)
                for phrase, boost in boosts.items()
                if phrase in own
            )
    ranked = sorted(totals, key=lambda id: (-totals[id], id))[: request.limit]
    included = [id for id in dict.fromkeys(request.include) if id in visible]
    ids = included + [id for id in ranked if id not in included]
    requested = {*request.boosts_a, *request.boosts_b}
    edges = {(phrase, id): w for id in ids for phrase, w in weights[id].items() if phrase in requested}
    return ExpectedNeighbourhood(ids, totals, edges, len(totals))


def collect_edges(neighbourhood: Neighbourhood) -> dict[tuple[str, str], float]:
    """Return (phrase, id) -> weight; fail if an edge is listed twice."""
    columns = (neighbourhood.rows, neighbourhood.columns, neighbourhood.weights)
    edges = {
        (neighbourhood.phrases[row], neighbourhood.ids[column]): weight
        for row, column, weight in zip(*(array.tolist() for array in columns), strict=True)
    }
    assert len(edges) == len(neighbourhood.rows), "an edge came twice"
    return edges


def assert_same_order(actual: list[str], expected: list[str], totals: dict[str, float], included: int) -> None:
    """Require equal ids, except that documents whose totals agree to single precision may change places.

    The first ``included`` ids are those the request named; their order is fixed.
    """
    assert actual[:included] == expected[:included] and len(actual) == len(expected)
    for actual_id, expected_id in zip(actual[included:], expected[included:], strict=True):
        assert actual_id == expected_id or totals[actual_id] == pytest.approx(totals[expected_id], rel=1e-5)
