"""Quality of candidates, learned from lists of well-known phrases by bagged forests (SegPhrase).

Positive examples are candidates that are listed; negative ones are drawn from the other candidates. Some of those are
good phrases that no list contains, so every forest gets its own draw, and no single wrong label decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from indexer.mining.encoded_corpus import EncodedCorpus, get_lemma_ids_and_marks, iterate_document_ranges
from indexer.mining.features import (
    INNER_FUNCTION_WORDS,
    KL_DIVERGENCE,
    LAST_WORD,
    NOUN,
    PMI,
    PatternCandidates,
    compute_form_factor,
    compute_mean_title_share,
)
from indexer.runtime.process_pool import map_in_order
from indexer.segmentation.matcher import mark_uncut
from indexer.segmentation.phrase_set import PhraseSet
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_text

KNOWN_PHRASE_LISTS = ("science", "news", "software")
DRAWS = 8
"""Forests, each with its own negative examples."""
TREES = 16
"""Trees of a forest."""
NEGATIVES = 3000
"""Negative examples of a forest."""
MIN_POSITIVES, MIN_NEGATIVES = 3, 10
"""With fewer examples the prior alone decides."""
HALF_TRUST_EXAMPLES = 10
"""With this many positive examples the forests and the prior count equally."""
SEED = 20150811
MIN_SEGMENTED_VOTE = 0.05
"""Candidates with a lower vote take no part in the segmentation that looks for fragments."""
FULL_SEGMENT_SHARE = 0.2
"""A candidate that is a segment in a smaller share of its occurrences is likely a fragment."""

Scores = NDArray[np.float32]


def load_known_phrases() -> list[str]:
    """Return the phrases of the shipped lists, sorted."""
    folder = files("indexer.mining") / "known_phrases"
    texts = [(folder / f"{name}.txt").read_text("utf-8") for name in KNOWN_PHRASE_LISTS]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return sorted({line for line in lines if line and not line.startswith("#")})


def encode_known_phrases(
    phrases: Iterable[str], lemmatizer: Lemmatizer, word_ids: dict[str, int]
) -> set[tuple[int, ...]]:
    """Return the phrases as lemma ids, without those that have a word the corpus lacks."""
    known = set()
    for phrase in phrases:
        words = lemmatize_text(phrase, lemmatizer).split()
        if words and all(word in word_ids for word in words):
            known.add(tuple(word_ids[word] for word in words))
    return known


def score_phrase_candidates(
    corpus: EncodedCorpus, candidates: PatternCandidates, is_known: NDArray[np.bool_], processes: int = 1
) -> Scores:
    """Return the quality of multi-word candidates, shape (candidates,).

    It is the vote of the forests times the form factor, less for what the best segmentation takes for a fragment.
    """
    may_be_negative = np.ones(len(is_known), np.bool_)
    prior = compute_phrase_prior(candidates)
    vote = score_by_forests(candidates.features, is_known, may_be_negative, prior, processes=processes)
    vote = vote * compute_form_factor(candidates.features, compute_mean_title_share(candidates))
    is_segmented = vote >= MIN_SEGMENTED_VOTE
    segments = np.zeros(len(vote))
    segments[is_segmented] = count_segments(
        corpus, candidates.to_phrase_set(corpus, vote).select(is_segmented), include_divided=True, processes=processes
    )
    wholeness = np.minimum(segments / np.maximum(FULL_SEGMENT_SHARE * candidates.count, 1), 1)
    return np.asarray(vote * wholeness, dtype=np.float32)


def score_by_forests(
    features: Scores,
    is_positive: NDArray[np.bool_],
    may_be_negative: NDArray[np.bool_],
    prior: Scores,
    draws: int = DRAWS,
    processes: int = 1,
) -> Scores:
    """Return scores in [0, 1], shape (candidates,): the mean vote of ``draws`` forests and the prior.

    The prior counts the more the fewer positive examples there are.
    """
    positives, others = np.flatnonzero(is_positive), np.flatnonzero(may_be_negative & ~is_positive)
    if len(positives) < MIN_POSITIVES or len(others) < MIN_NEGATIVES:
        return prior
    from sklearn.ensemble import ExtraTreesClassifier

    def vote(draw: tuple[int, NDArray[np.int64]]) -> NDArray[np.float64]:
        seed, negatives = draw
        forest = ExtraTreesClassifier(TREES, min_samples_leaf=3, class_weight="balanced", random_state=seed)
        labels = np.repeat([1, 0], [len(positives), len(negatives)])
        forest.fit(features[np.concatenate([positives, negatives])], labels)
        return np.asarray(forest.predict_proba(features)[:, 1])

    random = np.random.default_rng(SEED)
    samples = [random.choice(others, size=min(len(others), NEGATIVES), replace=False) for _ in range(draws)]
    votes = sum(vote for _, vote in map_in_order(vote, enumerate(samples), processes)) / draws
    trust = len(positives) / (len(positives) + HALF_TRUST_EXAMPLES)
    return np.asarray(trust * votes + (1 - trust) * prior, dtype=np.float32)


def compute_phrase_prior(candidates: PatternCandidates) -> Scores:
    """Guess the quality from concordance, titles, capitals and the lack of inner function words."""
    features = candidates.features
    return average_weighted_ranks(
        [
            (features[:, PMI], 2.0),
            (features[:, KL_DIVERGENCE], 1.0),
            (features[:, INNER_FUNCTION_WORDS], -1.5),
            (features[:, LAST_WORD + NOUN], 1.0),
            (candidates.get_signal_share("title"), 1.0),
            (candidates.get_signal_share("right_boundary"), 0.5),
            (candidates.get_signal_share("capital"), 0.5),
            (candidates.get_signal_share("hyphen"), 0.5),
            (candidates.get_signal_share("first_ed"), -1.0),
            (candidates.get_signal_share("last_ed"), -1.0),
        ]
    )


def average_weighted_ranks(weighted_signals: Sequence[tuple[Scores, float]]) -> Scores:
    """Return the weighted mean of the ranks of each signal, in [0, 1]; a negative weight reverses the ranks."""
    size = len(weighted_signals[0][0])
    total = np.zeros(size)
    for values, weight in weighted_signals:
        _, rank, counts = np.unique(values, return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2)[rank] / max(size, 1)
        total += abs(weight) * (middle if weight > 0 else 1 - middle)
    return np.asarray(total / sum(abs(weight) for _, weight in weighted_signals), dtype=np.float32)


def count_segments(
    corpus: EncodedCorpus, phrases: PhraseSet, *, include_divided: bool = False, processes: int = 1
) -> NDArray[np.int64]:
    """Count how often each phrase is a segment of the best segmentation, shape (phrases,).

    ``include_divided``: also count an occurrence that is divided into whole segments, only not one that a segment
    cuts. A part of a longer name is a fragment; a name that contains a shorter one ("offline reinforcement
    learning") is none.
    """
    matcher = phrases.build_matcher(len(corpus.lemmas))

    def count_batch(batch: tuple[int, int]) -> NDArray[np.int64]:
        words, marks = get_lemma_ids_and_marks(corpus, *batch)
        occurrences = matcher.find_all(words, marks)
        is_counted = matcher.mark_segments(len(words), occurrences)
        if include_divided:
            is_counted = mark_uncut(len(words), occurrences, is_counted)
        return np.bincount(occurrences.phrase[is_counted], minlength=phrases.size)

    total = np.zeros(phrases.size, dtype=np.int64)
    for _, counts in map_in_order(count_batch, iterate_document_ranges(corpus), processes):
        total += counts
    return total
