"""Features of a pair: two resolved sides and their graph become the problem that a method sorts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.model.phrase_model import PhraseModel
from indexer.model.word_vectors import WORD_VECTOR_LANGUAGE, load_word_vectors
from worker.explain.neighbourhood import LocalGraph, SidePair
from worker.explain.phrase_evidence import measure_pair_noise
from worker.explain.phrase_places import measure_places
from worker.explain.resolved_side import ResolvedSide
from worker.explain.split_phrases import SplitPhrases
from worker.methods.base import PairProblem, SideFeatures
from worker.solver.parameters import Parameters
from worker.solver.seeds import SeedSide
from worker.solver.subgraph import Flags, Floats, Indices

_MIN_CENTROID_LENGTH = 1e-6
"""A topic centroid below this length is none: no word of the side has a topic vector, or they cancel out."""
_NO_COLUMNS: Indices = np.zeros(0, dtype=np.int64)


def build_problem(
    pairs: Sequence[SidePair],
    graph: LocalGraph | None,
    parameters: Parameters,
    *,
    unit_weights: bool = False,
    with_counts: bool = False,
    with_word_bm25: bool = False,
    neighbour_texts: Sequence[Sequence[str]] = (),
) -> PairProblem:
    """Build the feature table of one pair on its graph, or of several pairs of texts, stacked, without a graph (None).

    The rows are the graph's phrases, the candidates first; further phrases (of the full graph) have features of 0.
    ``unit_weights`` gives each document of a set a g0 of 1 instead of its share of 1. Without ``with_counts`` the count
    of a phrase in a set is 1 where it occurs at all; without ``with_word_bm25`` that feature is 0.
    """
    pair, model = pairs[0], pairs[0].a.reader.model
    phrases_by_pair = [pair.candidates.phrases for pair in pairs]
    phrases = graph.phrases if graph else tuple(chain.from_iterable(phrases_by_pair))
    ids = np.concatenate([pair.candidates.phrase_ids for pair in pairs])
    words_by_pair = list(map(SplitPhrases, phrases_by_pair))

    padding = len(phrases) - len(ids)

    def pad_with_zeros(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([values, np.zeros(padding, dtype=values.dtype)]) if padding else values

    def stack(arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return pad_with_zeros(np.concatenate(list(arrays)))

    def build_side_features(
        sides: Sequence[ResolvedSide],
        salient: Sequence[Sequence[str]],
        edges: Sequence[Floats],
        topic_cosines: Sequence[Floats],
        columns: Indices,
    ) -> SideFeatures:
        rows = list(zip(sides, phrases_by_pair, strict=True))
        counts = [_count_occurrences(side, own, with_counts) for side, own in rows]
        places = [measure_places(*row) for row in zip(sides, words_by_pair, counts, strict=True)]
        weights = np.concatenate(edges)
        return SideFeatures(
            is_salient=stack(map(_flag_members, phrases_by_pair, salient)),
            salience=pad_with_zeros(np.array([side.salience.get(phrase, 0.0) for side, own in rows for phrase in own])),
            count=stack(counts),
            document_count=pad_with_zeros(np.count_nonzero(weights, axis=1)),
            bm25=pad_with_zeros(weights.sum(axis=1)),
            word_bm25=stack(side.text.compute_word_bm25(own) for side, own in rows) if with_word_bm25 else np.zeros(0),
            partial_match=stack(
                compute_partial_matches(side, own, count) if graph or side.is_ad_hoc else (count > 0).astype(np.float64)
                for (side, own), count in zip(rows, counts, strict=True)
            ),
            topic_cosine=stack(topic_cosines),
            whole_share=stack(one.whole_share for one in places),
            never_whole=stack(one.never_whole for one in places),
            earliness=stack(one.earliness for one in places),
            title_share=stack(one.title_share for one in places),
            word_count=stack(one.word_count for one in places),
            text_length=pad_with_zeros(
                np.repeat([side.encoded_text.word_count for side in sides], list(map(len, phrases_by_pair)))
            ),
            tokens=sides[0].encoded_text.words if graph else (),
            seed=_build_seed_side(columns, unit_weights),
        )

    columns_a, columns_b = (graph.columns_a, graph.columns_b) if graph else (_NO_COLUMNS, _NO_COLUMNS)
    tables = [pair.candidates for pair in pairs]
    cosines_a, cosines_b = zip(*_compute_topic_cosines(pairs, ids), strict=True)
    return PairProblem(
        phrases=phrases,
        is_stacked=graph is None,
        a=build_side_features(
            [pair.a for pair in pairs], [t.salient_a for t in tables], [t.edges_a for t in tables], cosines_a, columns_a
        ),
        b=build_side_features(
            [pair.b for pair in pairs], [t.salient_b for t in tables], [t.edges_b for t in tables], cosines_b, columns_b
        ),
        parameters=parameters,
        graph=graph.subgraph if graph else None,
        background=pad_with_zeros(_take_model_rows(model.background, ids)),
        document_frequency=pad_with_zeros(_take_model_rows(model.document_frequency, ids)),
        quality=pad_with_zeros(_take_model_rows(model.quality, ids)),
        specificity=stack(measure_phrase_specificity(model, words) for words in words_by_pair),
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


def compute_partial_matches(side: ResolvedSide, phrases: Sequence[str], occurrence_counts: Indices) -> Floats:
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


def measure_phrase_specificity(model: PhraseModel, phrases: SplitPhrases) -> Floats:
    """Return how specific the words of each phrase are in general, their mean, (P,); 0 in a language without vectors
    of words."""
    if model.settings.get("language", "en") != WORD_VECTOR_LANGUAGE:
        return np.zeros(len(phrases.phrases))
    return phrases.compute_means(load_word_vectors().measure_specificity(phrases.words))


def _flag_members(phrases: Sequence[str], members: Sequence[str]) -> Flags:
    """Return which phrases are among the members, (P,)."""
    chosen = set(members)
    return np.array([phrase in chosen for phrase in phrases], dtype=bool)


def _build_seed_side(columns: Indices, unit_weights: bool) -> SeedSide:
    """Return a side with its g0: 1 in all, shared out among the documents of a set, or 1 for each."""
    size = len(columns)
    return SeedSide(columns.tolist(), [1.0 if unit_weights else 1.0 / max(size, 1)] * size)


def _compute_topic_cosines(pairs: Sequence[SidePair], phrase_ids: Indices) -> Iterator[tuple[Floats, Floats]]:
    """Yield, for each pair, the cosine of either side's topic centroid with the other documents that contain each
    phrase, (P,) each; ``phrase_ids`` are those of all pairs.

    The documents of both sides do not count among those: that one side contains the phrase says nothing
    about the other.
    """
    model = pairs[0].a.reader.model
    if model.pair_topic_space.dimensions == 0 or not len(phrase_ids):
        yield from [(np.zeros(len(pair.candidates.phrases)),) * 2 for pair in pairs]
        return
    frequency = _take_model_rows(model.document_frequency, phrase_ids).astype(np.float64)
    sums = model.phrase_topic_vectors[phrase_ids].astype(np.float64) * frequency[:, None]
    others = frequency.copy()
    parts = split_rows(pairs)
    for pair, rows in zip(pairs, parts, strict=True):
        subtracted: set[str] = set()
        for side, edges in ((pair.a, pair.candidates.edges_a), (pair.b, pair.candidates.edges_b)):
            if side.is_ad_hoc:
                continue
            new = [i for i, id in enumerate(side.ids) if id not in subtracted]
            subtracted.update(side.ids)
            holds = (edges[:, new] > 0).astype(np.float64)
            sums[rows] -= holds @ side.topic_vectors[new]
            others[rows] -= holds.sum(axis=1)
    # mean vectors are stored in half precision: the difference of many must be more than their rounding
    lengths = np.linalg.norm(sums, axis=1)
    known = (phrase_ids >= 0) & (others > 0.5) & (lengths > 1e-3 * frequency)
    for pair, rows in zip(pairs, parts, strict=True):
        a, b = (_compute_cosines_with_side(side, sums[rows], lengths[rows], known[rows]) for side in (pair.a, pair.b))
        yield a, b


def split_rows(pairs: Sequence[SidePair]) -> list[slice]:
    """Return the rows of each pair where the candidates of all are stacked."""
    ends = list(accumulate((len(pair.candidates.phrases) for pair in pairs), initial=0))
    return [slice(start, end) for start, end in pairwise(ends)]


def _compute_cosines_with_side(side: ResolvedSide, vectors: Floats, vector_lengths: Floats, is_known: Flags) -> Floats:
    """Return the cosine of a side's topic centroid with vectors (P, D) of these lengths (P,); 0 where not known."""
    centroid, length = side.topic_centroid
    if length <= _MIN_CENTROID_LENGTH:
        return np.zeros(len(vectors))
    return np.asarray(
        np.divide(vectors @ centroid, vector_lengths * length, out=np.zeros(len(vectors)), where=is_known)
    )
