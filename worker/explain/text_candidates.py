"""Candidates that the two texts show to be phrases and that are not salient, with their features.

The model does not know most of them, as too few documents have them. What it would say of these is estimated: the topic
from their words, the frequency as none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.model.phrase_model import PhraseModel
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import compute_partial_matches, measure_phrase_specificity
from worker.explain.phrase_places import measure_places
from worker.explain.resolved_side import ResolvedSide
from worker.explain.split_phrases import SplitPhrases
from worker.methods.base import PairProblem, SideFeatures
from worker.methods.phrase_ranking import ReaderOdds
from worker.solver.subgraph import Flags, Floats, Indices

_MEASURED = (
    "is_salient", "count", "document_count", "bm25", "topic_cosine", "text_length", "whole_share", "never_whole",
    "earliness", "title_share", "word_count",
)  # fmt: skip
"""The features that ``_build_side_features`` measures."""


def build_text_problem(pair: SidePair, problem: PairProblem) -> PairProblem | None:
    """Return the features of the candidates beyond those of the problem that may be listed; None without any.

    How far the other side contains a phrase takes longest to find out and only lowers its odds, so it is measured for
    those whose odds are high enough without it; the others are candidates of no side.
    """
    if any(len(side.documents) > 1 for side in (pair.a, pair.b)):
        return None  # what sets have in common, and do not, the mined phrases say
    known = set(pair.candidates.phrases)
    phrases = [p for p in {**pair.a.text_phrases, **pair.b.text_phrases} if p not in known]
    if not phrases:
        return None
    model, words = pair.a.reader.model, SplitPhrases(phrases)
    directions = _TopicDirections(model, words)
    a, b = (_build_side_features(side, words, directions) for side in (pair.a, pair.b))
    text_problem = PairProblem(
        phrases=phrases,
        a=a,
        b=b,
        parameters=problem.parameters,
        document_frequency=_look_up_frequency(model, phrases, _is_of_document(pair, phrases)),
        specificity=measure_phrase_specificity(model, words),
        corpus_size=problem.corpus_size,
    )
    may_be_listed = _may_be_listed(text_problem)
    rows = np.flatnonzero(may_be_listed)
    kept = [phrases[i] for i in rows.tolist()]
    for side, features in ((pair.a, a), (pair.b, b)):  # filled in here: to copy and check all features takes longer
        features.is_salient[~may_be_listed] = False
        features.partial_match[rows] = compute_partial_matches(side, kept, features.count[rows])
    return text_problem if kept else None


def build_page_text_problem(pairs: Sequence[SidePair], problem: PairProblem) -> tuple[PairProblem, list[slice]] | None:
    """Return the features of the phrases of the hits' texts beyond the candidates, stacked, and the rows of each hit.

    None without any phrase. Side a of each pair is a hit, side b the query. Phrases with a word of the query set no hit
    apart, so nothing is measured of the query.
    """
    known_by_hit = [set(pair.candidates.phrases) for pair in pairs]
    words_by_hit = [
        SplitPhrases([phrase for phrase in pair.a.text_phrases if phrase not in known])
        for pair, known in zip(pairs, known_by_hit, strict=True)
    ]
    words = SplitPhrases([phrase for own in words_by_hit for phrase in own.phrases])
    if not words.phrases:
        return None
    model = pairs[0].a.reader.model
    features = [
        _build_side_features(pair.a, own, _TopicDirections(model, own))
        for pair, own in zip(pairs, words_by_hit, strict=True)
    ]
    stacked: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in features]) for name in _MEASURED}
    is_open = [_is_of_document(pair, own.phrases) for pair, own in zip(pairs, words_by_hit, strict=True)]
    ends = np.cumsum([0, *(len(own.phrases) for own in words_by_hit)]).tolist()
    text_problem = PairProblem(
        phrases=words.phrases,
        is_stacked=True,
        a=SideFeatures(**stacked),
        b=SideFeatures(is_salient=np.zeros(len(words.phrases), dtype=bool)),
        parameters=problem.parameters,
        document_frequency=_look_up_frequency(model, words.phrases, np.concatenate(is_open)),
        specificity=measure_phrase_specificity(model, words),
        corpus_size=problem.corpus_size,
    )
    return text_problem, list(map(slice, ends, ends[1:]))


def _is_of_document(pair: SidePair, phrases: Sequence[str]) -> Flags:
    """Return which phrases are of a document of the index, (P,), or of the text of a caller without limits.

    That the model knows a phrase of another text would confirm a guess.
    """
    open_phrases = {
        phrase for side in (pair.a, pair.b) if side.groups is None or not side.is_ad_hoc for phrase in side.text_phrases
    }
    return np.array([phrase in open_phrases for phrase in phrases], dtype=bool)


def _may_be_listed(problem: PairProblem) -> Flags:
    """Return which candidates a list may show, as far as their own text tells, (P,)."""
    odds, weights = ReaderOdds(problem), problem.parameters.reader_odds
    common = odds.compute_common_odds(np.zeros(len(problem.phrases), dtype=bool), np.zeros(len(problem.phrases)))
    distinct = np.maximum(
        np.where(problem.a.is_salient, odds.compute_distinct_odds_a(), -np.inf),
        np.where(problem.b.is_salient, odds.compute_distinct_odds_b(), -np.inf),
    )
    return np.where(problem.is_shared, common >= weights.common_informative, distinct >= weights.distinct_filler)


def _look_up_frequency(model: PhraseModel, phrases: Sequence[str], may_be_known: Flags) -> Indices:
    """Return the documents that contain each phrase, (P,); 0 for one that may not be looked up."""
    open_phrases = [phrase if may else "" for phrase, may in zip(phrases, may_be_known.tolist(), strict=True)]
    ids = map(model.phrase_ids.get, open_phrases)
    return np.array([0 if id is None else int(model.document_frequency[id]) for id in ids], dtype=np.int64)


class _TopicDirections:
    """Directions of the candidates in topic space."""

    def __init__(self, model: PhraseModel, words: SplitPhrases) -> None:
        self._model, self._words = model, words

    def compute_cosines(self, side: ResolvedSide) -> Floats:
        """Return the cosine of a side with the sum of the words of each phrase, (P,)."""
        if not len(self._model.topic_scales):  # an index of a former version, to which documents were added
            return np.zeros(len(self._words.phrases))
        vector = side.get_text_vector("topics")
        if not vector.any():
            return np.zeros(len(self._words.phrases))
        return np.asarray(self._directions @ vector, dtype=np.float64)

    @cached_property
    def _directions(self) -> NDArray[np.float32]:
        """Direction of each phrase, shape (P, dimensions)."""
        model, words = self._model, self._words
        known_ids, unknown_id = model.word_ids, len(model.words)
        ids = np.array([known_ids.get(word, unknown_id) for word in words.words], dtype=np.int64)
        owners = np.repeat(np.arange(len(words.phrases)), words.lengths)
        return model.topic_directions.sum_word_vectors(ids, owners, len(words.phrases))


def _build_side_features(side: ResolvedSide, words: SplitPhrases, directions: _TopicDirections) -> SideFeatures:
    """Return all features of one side but the partial match."""
    phrases = words.phrases
    counts = np.array([side.text.count(phrase) for phrase in phrases], dtype=np.int64)
    occurs = counts > 0
    places = measure_places(side, words, counts)
    return SideFeatures(
        is_salient=np.array([phrase in side.text_phrases for phrase in phrases], dtype=bool),
        count=counts,
        document_count=occurs.astype(np.int64),
        bm25=np.where(occurs, side.text.compute_word_bm25(phrases), 0.0),
        topic_cosine=directions.compute_cosines(side),
        text_length=np.full(len(phrases), side.encoded_text.word_count),
        whole_share=places.whole_share,
        never_whole=places.never_whole,
        earliness=places.earliness,
        title_share=places.title_share,
        word_count=places.word_count,
    )
