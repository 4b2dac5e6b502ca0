"""Which of a document's phrases stand for it: interesting ones that differ from each other.

Interestingness is the paper's: how often the phrase occurs in the document against its rarity in the corpus, a pair
by how much more often its members meet than they would by chance. The default also weighs quality, titles, length
and how early a phrase is said; ``paper`` leaves that out. GenDeR then picks greedily: a phrase gains by being
interesting and by standing for phrases like it, and loses by its likeness to those already picked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

K = 30
MU = 3.0
MAX_CANDIDATES = 72
"""Of a long document only the most interesting phrases are compared with each other."""
EARLY = 100
"""Words: an abstract says all it is about within two or three hundred."""
_SIDE_BY_SIDE = 32
"""Documents whose phrases are picked together."""
_TOP = 0.999
"""The most interesting phrase of a document: scores stay within (0, 1)."""


@dataclass(frozen=True)
class Weighing:
    """How interestingness departs from the paper's; all zero is the paper's."""

    quality: float = 1.0
    """Power of the phrase quality."""
    title: float = 0.5
    """What standing in the title adds, as a share."""
    several: float = 0.25
    """What having several words adds, as a share."""
    late: float = 0.5
    """Power of how late it is said first: what a text is about, it says early."""


PAPER = Weighing(quality=0.0, title=0.0, several=0.0, late=0.0)


def interestingness(count: Floats, most: Floats, frequency: Floats, documents: int) -> Floats:
    """(0.5 + 0.5 n / max n)^2 log(D / df), shape (phrases,); ``most`` is the largest count in the document."""
    return (0.5 + 0.5 * count / most) ** 2 * rarity(frequency, documents)


def earliness(first: Floats) -> Floats:
    """From 1 for what a text begins with to 0: a half after ``EARLY`` words, a third after twice as many."""
    return EARLY / (EARLY + first)


def pair_interestingness(
    count: Floats, one: Floats, other: Floats, phrases: Floats, frequency: Floats, documents: int
) -> Floats:
    """Pointwise mutual information of the members within the document, times the pair's rarity."""
    return count * phrases / np.maximum(one * other, 1) * rarity(frequency, documents)


def rarity(frequency: Floats, documents: int) -> Floats:
    """log(D / df), kept above zero: a phrase of every document is dull, not impossible."""
    return np.log(np.maximum((documents + 1) / np.maximum(frequency, 1), 1.001))


def largest(values: Floats, cuts: NDArray[np.int64]) -> Floats:
    """The largest value of each document, 0 for one without any, shape (documents,); document d has values cuts[d] to
    cuts[d + 1], none of them negative."""
    top = np.zeros(len(cuts) - 1)
    some = np.flatnonzero(np.diff(cuts))
    if len(some):
        top[some] = np.maximum.reduceat(values, cuts[some])
    return top


def normalised(scores: Floats, document: NDArray[np.int64], cuts: NDArray[np.int64]) -> Floats:
    """Scores in (0, 1), the largest of each document just below 1; same shape."""
    top = largest(scores, cuts)[document]
    return np.maximum(np.divide(scores, top, out=np.zeros(len(scores)), where=top > 0) * _TOP, 1e-6)


def select(
    names: Sequence[str], scores: Floats, members: Mapping[int, Sequence[int]], k: int = K, mu: float = MU
) -> list[int]:
    """Indexes of at most k phrases of one document in the order they are picked.

    ``members[i]`` are the indexes of the members of pair i; they leave the set once the pair is in it.
    """
    return select_many([names], [scores], [members], k, mu)[0]


def select_many(
    names: Sequence[Sequence[str]],
    scores: Sequence[Floats],
    members: Sequence[Mapping[int, Sequence[int]]],
    k: int = K,
    mu: float = MU,
) -> list[list[int]]:
    """The same for many documents, step by step side by side; each gets what it would get alone."""
    picked: list[list[int]] = [[] for _ in names]
    by_size = sorted(range(len(names)), key=lambda d: len(names[d]))
    for start in range(0, len(names), _SIDE_BY_SIDE):
        some = by_size[start : start + _SIDE_BY_SIDE]
        found = _greedy([names[d] for d in some], [scores[d] for d in some], [members[d] for d in some], k, mu)
        for d, own in zip(some, found, strict=True):
            picked[d] = own
    return picked


def _greedy(
    names: Sequence[Sequence[str]],
    scores: Sequence[Floats],
    members: Sequence[Mapping[int, Sequence[int]]],
    k: int,
    mu: float,
) -> list[list[int]]:
    most = max(MAX_CANDIDATES, 2 * k)
    orders = [np.argsort(-score, kind="stable")[:most].tolist() for score in scores]
    width = _width(max(map(len, orders)), most)
    r, likeness = np.zeros((len(names), width)), np.zeros((len(names), width, width))
    for d, order in enumerate(orders):
        r[d, : len(order)] = scores[d][order]
        likeness[d, : len(order), : len(order)] = _likeness([names[d][i] for i in order])
    gain = mu * (likeness * r[:, None, :]).sum(axis=2) * r - r * r
    gain[np.arange(width) >= np.array([len(order) for order in orders])[:, None]] = -np.inf
    likeness *= 2 * r[:, :, None] * r[:, None, :]
    paired = {
        d: _pick_with_pairs(gain[d].copy(), likeness[d], orders[d], own, k) for d, own in enumerate(members) if own
    }
    picks = _pick(gain, likeness, min(k, width))
    return [
        paired[d] if d in paired else [order[at] for at in picks[d][: len(order)]] for d, order in enumerate(orders)
    ]


def _width(longest: int, most: int) -> int:
    """Of arrays that have room for so many phrases.

    numpy adds up to 128 numbers in eight columns: zeros after them, to a whole number of rows, change no sum, so that
    it does not depend on the other documents.
    """
    return most if most > 128 else -(-longest // 8) * 8


def _pick(gain: Floats, loss: NDArray[np.float64], steps: int) -> list[list[int]]:
    """Places picked one after the other in each document, shape (documents, steps); changes ``gain``.

    In a document with fewer phrases the last ones mean nothing.
    """
    every = np.arange(len(gain))
    picks = np.zeros((len(gain), steps), dtype=np.int64)
    for step in range(steps):
        picks[:, step] = best = gain.argmax(axis=1)
        gain -= loss[every, best]
        gain[every, best] = -np.inf
    return picks.tolist()


def _pick_with_pairs(
    gain: Floats, loss: Floats, order: list[int], members: Mapping[int, Sequence[int]], k: int
) -> list[int]:
    """The same of one document with pairs: when one is picked, its members leave."""
    picked: list[int] = []
    while len(picked) < k:
        best = int(gain.argmax())
        if gain[best] == -np.inf:
            break
        gain -= loss[best]
        gain[best] = -np.inf
        picked.append(order[best])
        _drop_members(members.get(order[best], ()), order, gain, picked)
    return picked


def _drop_members(members: Sequence[int], order: list[int], gain: Floats, picked: list[int]) -> None:
    """The members of a pair that was picked leave the set, whether they were picked before or not."""
    for member in members:
        if member in order:
            gain[order.index(member)] = -np.inf
        if member in picked:
            picked.remove(member)


def _likeness(names: list[str]) -> NDArray[np.float32]:
    """Levenshtein similarity of every two names, shape (names, names)."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    # A copy: of one and the same list cdist compares half the pairs, but not many at a time, and takes twice as long
    return np.asarray(cdist(names, names.copy(), scorer=Levenshtein.normalized_similarity, dtype=np.float32))
