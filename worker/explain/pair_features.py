"""Two resolved sides and their graph, posed as the problem a method sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.explain.candidates import Candidates
from worker.explain.neighbourhood import LocalGraph, Pair
from worker.explain.resolver import Resolved
from worker.methods.base import Problem
from worker.solver.parameters import Parameters
from worker.solver.seeds import Side as Seed

_NOWHERE = 1e-6
"""Length of the mean place of a side whose texts hold no word with a place, or whose places cancel out."""
_FEW = 30
"""Words: what a text of fewer is about, its topics hardly tell."""


def pose(
    pair: Pair,
    graph: LocalGraph,
    parameters: Parameters,
    *,
    whole_members: bool = False,
    counted: bool = False,
    weighed: bool = False,
) -> Problem:
    """The candidates stand first in the graph; of its other phrases (full graph) nothing needs to be known.

    ``whole_members`` gives each document of a set a g0 of 1 instead of its share of 1. Unless occurrences are to be
    ``counted``, of a set it is only said whether there are any; unless words are to be ``weighed``, ``partial_a`` and
    ``partial_b`` are left out.
    """
    a, b, found = pair.a, pair.b, pair.candidates
    model = a.reader.model
    numbers = found.numbers
    values = {
        **_of_side("a", a, found, found.edges_a, counted, weighed),
        **_of_side("b", b, found, found.edges_b, counted, weighed),
        **_topics(a, b, found),
        "frequency": _of_model(model.frequency, numbers),
        "quality": _of_model(model.quality, numbers),
        "background": _of_model(model.background, numbers),
        "in_a": _members(found.phrases, found.of_a),
        "in_b": _members(found.phrases, found.of_b),
    }
    more = len(graph.phrases) - len(found.phrases)
    arrays: dict[str, Any] = {
        name: np.concatenate([array, np.zeros(more, dtype=array.dtype)]) if more else array
        for name, array in values.items()
    }
    return Problem(
        phrases=graph.phrases,
        parameters=parameters,
        graph=graph.graph,
        side_a=_seed(graph.own_a, whole_members),
        side_b=_seed(graph.own_b, whole_members),
        tokens_a=a.coded.words,
        tokens_b=b.coded.words,
        documents=model.documents,
        nearness=_nearness(a, b),
        word_frequency=lambda word: int(model.word_frequency[model.word_ids[word]]) if word in model.word_ids else 0,
        **arrays,
    )


def _of_side(
    letter: str, side: Resolved, found: Candidates, edges: NDArray[np.float64], counted: bool, weighed: bool
) -> dict[str, NDArray[Any]]:
    """What is known of each phrase on one side."""
    seen = side.wording.count if counted or len(side.documents) == 1 else side.wording.holds
    occurs = np.array([seen(p) for p in found.phrases], dtype=np.int64)
    worded = np.ones(len(occurs))
    lacking = np.flatnonzero(occurs == 0)
    worded[lacking] = side.wording.partial([found.phrases[i] for i in lacking])
    values = {
        "salience": np.array([side.salience.get(p, 0.0) for p in found.phrases]),
        "occurs": occurs,
        "edge": edges.sum(axis=1),
        "held": np.count_nonzero(edges, axis=1),
        "worded": worded,
    }
    if weighed:
        values["partial"] = side.wording.weights(found.phrases)
    return {f"{name}_{letter}": array for name, array in values.items()}


def _of_model(array: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Rows of a model's array; 0 for a phrase it does not know."""
    return np.where(numbers >= 0, array[numbers], 0) if len(array) else np.zeros(len(numbers), dtype=array.dtype)


def _members(phrases: Sequence[str], side: Sequence[str]) -> NDArray[np.bool_]:
    chosen = set(side)
    return np.array([p in chosen for p in phrases], dtype=bool)


def _seed(columns: NDArray[np.int64], whole: bool) -> Seed:
    """g0 of a side: 1 for one document, shared out among the documents of a set."""
    size = len(columns)
    return Seed(columns.tolist(), [1.0 if whole else 1.0 / size] * size)


def _nearness(a: Resolved, b: Resolved) -> float:
    """Cosine of where two texts stand among the topics. 1 where that is not known: of a few words, and of sets, which
    are about much (of two halves of a corpus one stands opposite the other, however alike they are)."""
    (one, length), (other, size) = a.middle, b.middle
    vague = any(len(side.documents) > 1 or len(side.coded.words) < _FEW for side in (a, b))
    return 1.0 if vague or min(length, size) <= _NOWHERE else float(one @ other) / (length * size)


def _topics(a: Resolved, b: Resolved, found: Candidates) -> dict[str, NDArray[np.float64]]:
    """Cosine of each side's place with that of the documents that hold each phrase, shape (phrases,).

    The documents of both sides do not count among those: that one side holds the phrase says nothing
    about the other.
    """
    model = a.reader.model
    if model.topics.dimensions == 0 or not len(found.phrases):
        return {}
    frequency = _of_model(model.frequency, found.numbers).astype(np.float64)
    sums = model.places[found.numbers].astype(np.float64) * frequency[:, None]
    others = frequency.copy()
    taken: set[str] = set()
    for side, edges in ((a, found.edges_a), (b, found.edges_b)):
        if side.guest:
            continue
        new = [i for i, id in enumerate(side.ids) if id not in taken]
        taken.update(side.ids)
        holds = (edges[:, new] > 0).astype(np.float64)
        sums -= holds @ side.places[new]
        others -= holds.sum(axis=1)
    # mean places are kept in half precision: what is left of many must be more than their rounding
    size = np.linalg.norm(sums, axis=1)
    known = (found.numbers >= 0) & (others > 0.5) & (size > 1e-3 * frequency)
    return {f"topic_{letter}": _cosines(side, sums, size, known) for letter, side in (("a", a), ("b", b))}


def _cosines(
    side: Resolved, sums: NDArray[np.float64], size: NDArray[np.float64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    middle, length = side.middle
    if length <= _NOWHERE:
        return np.zeros(len(sums))
    return np.asarray(np.divide(sums @ middle, size * length, out=np.zeros(len(sums)), where=known))
