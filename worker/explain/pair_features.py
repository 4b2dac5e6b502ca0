"""Features of a pair: two resolved sides and their graph become the problem that a method sorts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.model.phrase_model import PhraseModel
from worker.explain.candidates import PairCandidates
from worker.explain.neighbourhood import LocalGraph, SidePair
from worker.explain.resolved_side import ResolvedSide
from worker.explain.topic_evidence import measure_pair_noise
from worker.methods.base import PairProblem, SideFeatures
from worker.solver.parameters import Parameters
from worker.solver.seeds import SeedSide
from worker.solver.subgraph import Flags, Floats, Indices

_MIN_CENTROID_LENGTH = 1e-6
"""A topic centroid below this length is none: no word of the side has a topic vector, or they cancel out."""
_NO_COLUMNS: Indices = np.zeros(0, dtype=np.int64)
_MIN_WORDS_FOR_TOPIC = 30
"""Words below which the topics of a text hardly show what it is about."""


def build_pair_problem(
    pair: SidePair,
    graph: LocalGraph | None,
    parameters: Parameters,
    *,
    unit_weights: bool = False,
    with_counts: bool = False,
    with_word_bm25: bool = False,
    neighbour_texts: Sequence[Sequence[str]] = (),
) -> PairProblem:
    """Build the feature table of a pair, on its graph if the method needs one.

    The rows are the graph's phrases, the candidates first; further phrases (of the full graph) have features of 0.
    ``unit_weights`` gives each document of a set a g0 of 1 instead of its share of 1. Without ``with_counts`` the count
    of a phrase in a set is 1 where it occurs at all; without ``with_word_bm25`` that feature is 0.
    """
    candidates, model = pair.candidates, pair.a.reader.model
    phrases, ids = candidates.phrases, candidates.phrase_ids
    padding = len(graph.phrases) - len(phrases) if graph else 0

    def pad_with_zeros(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([values, np.zeros(padding, dtype=values.dtype)]) if padding else values

    def build_side_features(
        side: ResolvedSide, salient: Sequence[str], edges: Floats, topic_cosine: Floats, columns: Indices
    ) -> SideFeatures:
        count = _count_occurrences(side, phrases, with_counts)
        return SideFeatures(
            is_salient=pad_with_zeros(_flag_members(phrases, salient)),
            salience=pad_with_zeros(np.array([side.salience.get(phrase, 0.0) for phrase in phrases])),
            count=pad_with_zeros(count),
            document_count=pad_with_zeros(np.count_nonzero(edges, axis=1)),
            bm25=pad_with_zeros(edges.sum(axis=1)),
            word_bm25=pad_with_zeros(side.text.compute_word_bm25(phrases)) if with_word_bm25 else np.zeros(0),
            partial_match=pad_with_zeros(_compute_partial_matches(side, phrases, count)),
            topic_cosine=pad_with_zeros(topic_cosine),
            tokens=side.encoded_text.words,
            seed=_build_seed_side(columns, unit_weights),
        )

    columns_a, columns_b = (graph.columns_a, graph.columns_b) if graph else (_NO_COLUMNS, _NO_COLUMNS)
    cosine_a, cosine_b = _compute_topic_cosines(pair.a, pair.b, candidates)
    return PairProblem(
        phrases=graph.phrases if graph else phrases,
        a=build_side_features(pair.a, candidates.salient_a, candidates.edges_a, cosine_a, columns_a),
        b=build_side_features(pair.b, candidates.salient_b, candidates.edges_b, cosine_b, columns_b),
        parameters=parameters,
        graph=graph.subgraph if graph else None,
        background=pad_with_zeros(_take_model_rows(model.background, ids)),
        document_frequency=pad_with_zeros(_take_model_rows(model.document_frequency, ids)),
        quality=pad_with_zeros(_take_model_rows(model.quality, ids)),
        topic_similarity=_compute_topic_similarity(pair.a, pair.b),
        neighbour_texts=neighbour_texts,
        corpus_size=model.document_count,
        word_document_frequency=_make_word_frequency(pair, model),
        measure_noise=partial(measure_pair_noise, pair.a, pair.b),
    )


def _make_word_frequency(pair: SidePair, model: PhraseModel) -> Callable[[str], int]:
    """Return the function from a word to the documents that contain it; 0 for a word that counts as unknown."""
    unreadable = pair.a.unreadable_words | pair.b.unreadable_words
    for side in (pair.a, pair.b):
        if unreadable and not side.is_ad_hoc:
            unreadable -= frozenset(side.text.word_counts)

    def get_frequency(word: str) -> int:
        return 0 if word in unreadable else model.get_word_frequency(word)

    return get_frequency


def _count_occurrences(side: ResolvedSide, phrases: Sequence[str], with_counts: bool) -> Indices:
    """Return the occurrences of each phrase in a side's text, (P,); in a set 1 for any, unless counts are needed."""
    count = side.text.count if with_counts or len(side.documents) == 1 else side.text.contains
    return np.array([count(phrase) for phrase in phrases], dtype=np.int64)


def _compute_partial_matches(side: ResolvedSide, phrases: Sequence[str], occurrence_counts: Indices) -> Floats:
    """Return the share of each phrase that a side contains in some form, (P,): 1 where it occurs."""
    match = np.ones(len(occurrence_counts))
    lacking = np.flatnonzero(occurrence_counts == 0)
    match[lacking] = side.text.compute_partial_matches([phrases[i] for i in lacking.tolist()])
    return match


def _take_model_rows(values: NDArray[Any], phrase_ids: Indices) -> NDArray[Any]:
    """Return the rows of a model's array for phrase ids (P,); 0 for a phrase that the model does not know."""
    return (
        np.where(phrase_ids >= 0, values[phrase_ids], 0)
        if len(values)
        else np.zeros(len(phrase_ids), dtype=values.dtype)
    )


def _flag_members(phrases: Sequence[str], members: Sequence[str]) -> Flags:
    """Return which phrases are among the members, (P,)."""
    chosen = set(members)
    return np.array([phrase in chosen for phrase in phrases], dtype=bool)


def _build_seed_side(columns: Indices, unit_weights: bool) -> SeedSide:
    """Return a side with its g0: 1 in all, shared out among the documents of a set, or 1 for each."""
    size = len(columns)
    return SeedSide(columns.tolist(), [1.0 if unit_weights else 1.0 / max(size, 1)] * size)


def _compute_topic_similarity(a: ResolvedSide, b: ResolvedSide) -> float:
    """Return the cosine of two texts' topic centroids; 1 where it says nothing.

    That is so for a text of a few words, and for sets, which are about many things: of two halves of a corpus one is
    opposite the other, however alike they are.
    """
    (centroid_a, length_a), (centroid_b, length_b) = a.topic_centroid, b.topic_centroid
    is_vague = any(len(side.documents) > 1 or len(side.encoded_text.words) < _MIN_WORDS_FOR_TOPIC for side in (a, b))
    if is_vague or min(length_a, length_b) <= _MIN_CENTROID_LENGTH:
        return 1.0
    return float(centroid_a @ centroid_b) / (length_a * length_b)


def _compute_topic_cosines(a: ResolvedSide, b: ResolvedSide, candidates: PairCandidates) -> tuple[Floats, Floats]:
    """Return the cosine of each side's topic centroid with the other documents that contain each phrase, (P,) each.

    The documents of both sides do not count among those: that one side contains the phrase says nothing
    about the other.
    """
    model, ids = a.reader.model, candidates.phrase_ids
    if model.pair_topic_space.dimensions == 0 or not len(candidates.phrases):
        return np.zeros(len(candidates.phrases)), np.zeros(len(candidates.phrases))
    frequency = _take_model_rows(model.document_frequency, ids).astype(np.float64)
    sums = model.phrase_topic_vectors[ids].astype(np.float64) * frequency[:, None]
    others = frequency.copy()
    subtracted: set[str] = set()
    for side, edges in ((a, candidates.edges_a), (b, candidates.edges_b)):
        if side.is_ad_hoc:
            continue
        new = [i for i, id in enumerate(side.ids) if id not in subtracted]
        subtracted.update(side.ids)
        holds = (edges[:, new] > 0).astype(np.float64)
        sums -= holds @ side.topic_vectors[new]
        others -= holds.sum(axis=1)
    # mean vectors are stored in half precision: the difference of many must be more than their rounding
    lengths = np.linalg.norm(sums, axis=1)
    known = (ids >= 0) & (others > 0.5) & (lengths > 1e-3 * frequency)
    return _compute_cosines_with_side(a, sums, lengths, known), _compute_cosines_with_side(b, sums, lengths, known)


def _compute_cosines_with_side(side: ResolvedSide, vectors: Floats, vector_lengths: Floats, is_known: Flags) -> Floats:
    """Return the cosine of a side's topic centroid with vectors (P, D) of these lengths (P,); 0 where not known."""
    centroid, length = side.topic_centroid
    if length <= _MIN_CENTROID_LENGTH:
        return np.zeros(len(vectors))
    return np.asarray(
        np.divide(vectors @ centroid, vector_lengths * length, out=np.zeros(len(vectors)), where=is_known)
    )
