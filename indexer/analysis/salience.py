"""Salience: select the phrases of a document that are interesting and differ from each other.

Interestingness is the paper's: the count of the phrase in the document times its rarity in the corpus; for a pair, how
much more often its members are close than by chance. The default also weighs quality, title, length and how early a
phrase occurs; ``paper`` leaves that out. GenDeR then selects greedily: a phrase gains by being interesting and by
representing similar phrases, and loses by its similarity to those already selected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.defaults import DEFAULT_K, DEFAULT_MU
from indexer.int_arrays import Ints
from indexer.model.phrase_model import PhraseModel

Floats = NDArray[np.float64]

MAX_CANDIDATES = 72
"""Maximum phrases of a long document, the most interesting ones, that are compared with each other."""
EARLINESS_HALVED_AFTER = 100
"""Words before a phrase that halve its earliness; an abstract names its subjects within two or three hundred."""
_GROUP_SIZE = 32
"""Documents whose phrases are selected in parallel."""
_MAX_SCORE = 0.999
"""Score of the most interesting phrase of a document: scores stay below 1."""


@dataclass(frozen=True)
class SalienceWeights:
    """Weights of what interestingness takes into account beyond the paper's formula; all zero is the paper's."""

    quality: float = 1.0
    """Exponent of the phrase quality."""
    title: float = 0.5
    """Bonus of a phrase in the title, as a share of its score."""
    multi_word: float = 0.25
    """Bonus of a phrase of several words, as a share of its score."""
    earliness: float = 0.5
    """Exponent of the earliness of the first occurrence: a text names its subjects early."""


PAPER_WEIGHTS = SalienceWeights(quality=0.0, title=0.0, multi_word=0.0, earliness=0.0)


@dataclass(frozen=True)
class SalienceOptions:
    """How the salient phrases of a document are scored and selected."""

    k: int = DEFAULT_K
    """Most phrases selected for a document."""
    mu: float = DEFAULT_MU
    """Weight of interestingness and representation against similarity to the phrases already selected."""
    weights: SalienceWeights = SalienceWeights()

    @classmethod
    def from_model(cls, model: PhraseModel) -> SalienceOptions:
        """Return the options that the model was mined with."""
        settings = model.settings
        weights = PAPER_WEIGHTS if settings.get("salience") == "paper" else SalienceWeights()
        return cls(settings.get("k", DEFAULT_K), settings.get("mu", DEFAULT_MU), weights)


def compute_phrase_interestingness(
    count_in_document: Floats, max_count_in_document: Floats, document_frequency: Floats, document_count: int
) -> Floats:
    """Return (0.5 + 0.5 n / max n)^2 log(D / df), shape (phrases,).

    ``max_count_in_document`` is the largest count of a phrase in the document, ``document_frequency`` the documents of
    the phrase.
    """
    return (0.5 + 0.5 * count_in_document / max_count_in_document) ** 2 * compute_log_rarity(
        document_frequency, document_count
    )


def compute_earliness(words_before: Floats) -> Floats:
    """Return 1 at the start of a text, 1/2 after ``EARLINESS_HALVED_AFTER`` words, 1/3 after twice as many."""
    return EARLINESS_HALVED_AFTER / (EARLINESS_HALVED_AFTER + words_before)


def compute_phrase_pair_interestingness(
    pair_count_in_document: Floats,
    first_count_in_document: Floats,
    second_count_in_document: Floats,
    total_count_in_document: Floats,
    document_frequency: Floats,
    document_count: int,
) -> Floats:
    """Return the pointwise mutual information of the members within the document times the rarity of the pair.

    ``first_count_in_document`` and ``second_count_in_document`` are the counts of the members,
    ``total_count_in_document`` that of all phrases.
    """
    return (
        pair_count_in_document
        * total_count_in_document
        / np.maximum(first_count_in_document * second_count_in_document, 1)
        * compute_log_rarity(document_frequency, document_count)
    )


def compute_log_rarity(document_frequency: Floats, document_count: int) -> Floats:
    """Return log(D / df), kept above zero: a phrase of every document is dull, not impossible."""
    return np.log(np.maximum((document_count + 1) / np.maximum(document_frequency, 1), 1.001))


def compute_max_per_document(values: Floats, document_starts: Ints) -> Floats:
    """Return the largest value of each document, 0 for one without any, shape (documents,).

    Document d has the values ``document_starts[d]:document_starts[d + 1]``, none of them negative.
    """
    largest = np.zeros(len(document_starts) - 1)
    nonempty = np.flatnonzero(np.diff(document_starts))
    if len(nonempty):
        largest[nonempty] = np.maximum.reduceat(values, document_starts[nonempty])
    return largest


def normalize_scores_per_document(scores: Floats, document_of_score: Ints, document_starts: Ints) -> Floats:
    """Return the scores scaled into (0, 1), the largest of each document just below 1; same shape."""
    largest = compute_max_per_document(scores, document_starts)[document_of_score]
    return np.maximum(np.divide(scores, largest, out=np.zeros(len(scores)), where=largest > 0) * _MAX_SCORE, 1e-6)


def select_salient_indexes(
    phrases_by_document: Sequence[Sequence[str]],
    scores_by_document: Sequence[Floats],
    pair_members_by_document: Sequence[Mapping[int, Sequence[int]]],
    k: int = DEFAULT_K,
    mu: float = DEFAULT_MU,
) -> list[list[int]]:
    """Return, for each document, the indexes of at most ``k`` of its phrases in the order of selection.

    ``phrases_by_document[d]`` and ``scores_by_document[d]`` are the phrases of document d;
    ``pair_members_by_document[d][i]`` are the indexes of the members of pair i, which are dropped once the pair is
    selected. Documents do not influence each other.
    """
    selected: list[list[int]] = [[] for _ in phrases_by_document]
    by_size = sorted(range(len(phrases_by_document)), key=lambda d: len(phrases_by_document[d]))
    for start in range(0, len(phrases_by_document), _GROUP_SIZE):
        group = by_size[start : start + _GROUP_SIZE]
        of_group = _select_salient_in_group(
            [phrases_by_document[d] for d in group],
            [scores_by_document[d] for d in group],
            [pair_members_by_document[d] for d in group],
            k,
            mu,
        )
        for d, own in zip(group, of_group, strict=True):
            selected[d] = own
    return selected


def _select_salient_in_group(
    phrases_by_document: Sequence[Sequence[str]],
    scores_by_document: Sequence[Floats],
    pair_members_by_document: Sequence[Mapping[int, Sequence[int]]],
    k: int,
    mu: float,
) -> list[list[int]]:
    """Select phrases for documents in parallel; padded arrays of shape (documents, width[, width])."""
    max_candidates = max(MAX_CANDIDATES, 2 * k)
    orders = [np.argsort(-score, kind="stable")[:max_candidates].tolist() for score in scores_by_document]
    width = _compute_padded_width(max(map(len, orders)), max_candidates)
    r, similarity = np.zeros((len(phrases_by_document), width)), np.zeros((len(phrases_by_document), width, width))
    for d, order in enumerate(orders):
        r[d, : len(order)] = scores_by_document[d][order]
        similarity[d, : len(order), : len(order)] = _compute_name_similarities(
            [phrases_by_document[d][i] for i in order]
        )
    gain = mu * (similarity * r[:, None, :]).sum(axis=2) * r - r * r
    gain[np.arange(width) >= np.array([len(order) for order in orders])[:, None]] = -np.inf
    similarity *= 2 * r[:, :, None] * r[:, None, :]
    paired = {
        d: _pick_and_drop_pair_members(gain[d].copy(), similarity[d], orders[d], own, k)
        for d, own in enumerate(pair_members_by_document)
        if own
    }
    picks = _pick_greedily_per_document(gain, similarity, min(k, width))
    return [paired[d] if d in paired else [order[i] for i in picks[d][: len(order)]] for d, order in enumerate(orders)]


def _compute_padded_width(longest_list: int, max_candidates: int) -> int:
    """Return the width of arrays for the longest list of candidates.

    numpy sums up to 128 numbers in eight columns: zeros after them, up to a multiple of eight, change no sum, so that
    a document's result does not depend on the others of its group.
    """
    return max_candidates if max_candidates > 128 else -(-longest_list // 8) * 8


def _pick_greedily_per_document(gain: Floats, loss: NDArray[np.float64], steps: int) -> list[list[int]]:
    """Return the columns picked one after the other in each document, shape (documents, steps); changes ``gain``.

    In a document with fewer phrases than steps the last ones are meaningless.
    """
    documents = np.arange(len(gain))
    picks = np.zeros((len(gain), steps), dtype=np.int64)
    for step in range(steps):
        picks[:, step] = best = gain.argmax(axis=1)
        gain -= loss[documents, best]
        gain[documents, best] = -np.inf
    return picks.tolist()


def _pick_and_drop_pair_members(
    gain: Floats, loss: Floats, candidate_indexes: list[int], pair_members: Mapping[int, Sequence[int]], max_count: int
) -> list[int]:
    """Pick at most ``max_count`` phrases of one document with pairs: once a pair is picked, its members are dropped."""
    picked: list[int] = []
    while len(picked) < max_count:
        best = int(gain.argmax())
        if gain[best] == -np.inf:
            break
        gain -= loss[best]
        gain[best] = -np.inf
        picked.append(candidate_indexes[best])
        _drop_pair_members(pair_members.get(candidate_indexes[best], ()), candidate_indexes, gain, picked)
    return picked


def _drop_pair_members(members: Sequence[int], candidate_indexes: list[int], gain: Floats, picked: list[int]) -> None:
    """Remove the members of a picked pair from the candidates and from the picked phrases."""
    for member in members:
        if member in candidate_indexes:
            gain[candidate_indexes.index(member)] = -np.inf
        if member in picked:
            picked.remove(member)


def _compute_name_similarities(names: list[str]) -> NDArray[np.float32]:
    """Return the Levenshtein similarity of every two names, shape (names, names)."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    # A copy: given one list twice, cdist compares half the pairs but one by one instead of vectorised: twice as slow
    return np.asarray(cdist(names, names.copy(), scorer=Levenshtein.normalized_similarity, dtype=np.float32))
