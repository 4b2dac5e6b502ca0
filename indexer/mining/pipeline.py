"""From a coded corpus to a set of phrases: patterns, features, quality, and what segmentation says of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import LOW, distinct
from indexer.mining.acronyms import readings
from indexer.mining.encoded_corpus import Corpus, Progress, batch_tokens, batches, no_progress
from indexer.mining.features import (
    Candidates,
    column,
    joined,
    phrase_candidates,
    plain_features,
    soundness,
    usual_titles,
)
from indexer.mining.frequent_patterns import MAX_LENGTH, frequent_patterns, support_for
from indexer.mining.initials import expansions, explained
from indexer.mining.pattern_statistics import SUMS, Evidence
from indexer.mining.phrase_quality import judged, known_phrases, rank_prior
from indexer.mining.rare_phrases import RareJudge, rare_phrases
from indexer.mining.word_quality import WordScores, judge_words
from indexer.runtime.memory import give_back
from indexer.runtime.process_pool import in_order
from indexer.segmentation.matcher import uncut
from indexer.segmentation.phrase_set import PhraseSet
from indexer.text.lemmatizer import Lemmas
from indexer.text.stopwords import stop_words

SEEN = 0.05
"""Candidates below this take no part in the segmentation that looks for fragments."""
WHOLE = 0.2
"""A candidate that is a segment of its own in a smaller share of its occurrences is likely a fragment."""


@dataclass(frozen=True)
class Thresholds:
    """From which quality on a candidate is a phrase."""

    phrase: float = 0.13
    word: float = 0.15
    rare: float = 0.22
    nested: float = 0.15
    alone: float = 0.05
    """Least share of its occurrences in which a phrase is a segment of its own (the non-segmented ratio)."""


@dataclass(frozen=True)
class Mined:
    """The phrases and what was learnt on the way."""

    phrases: PhraseSet
    candidates: PhraseSet
    """Every frequent multi-word candidate, accepted or not."""
    document_frequency: NDArray[np.int32]
    """Documents of each word, shape (words,)."""
    support: int
    known: int
    """Listed titles found among the candidates."""
    acronyms: dict[str, list[str]]
    """Short form -> long forms."""


def mine_phrases(
    corpus: Corpus,
    lemmas: Lemmas,
    titles: list[str],
    frequency: NDArray[np.int32],
    thresholds: Thresholds = Thresholds(),  # noqa: B008
    min_support: int | None = None,
    max_length: int = MAX_LENGTH,
    progress: Progress = no_progress,
    processes: int = 1,
) -> Mined:
    """Patterns -> quality -> segmentation -> the phrases that stand on their own.

    ``frequency``: documents of each word.
    """
    steps = 6
    support = min_support or support_for(corpus.tokens)
    stop = stop_words(corpus.lemmas, frequency, corpus.documents, lemmas.language)
    word_ids = {word: i for i, word in enumerate(corpus.lemmas)}
    good = known_phrases(titles, lemmas, word_ids)
    evidence = Evidence(corpus, _lettered(corpus.lemmas) & ~stop, good)
    patterns = frequent_patterns(corpus.words, corpus.marks, len(corpus.lemmas), support, max_length, evidence.visit)
    progress("phrases", 1, steps)
    acronyms = expansions(corpus)
    heads = np.union1d(explained(acronyms, word_ids, corpus.lemmas), [name[-1] for name in good]).astype(np.int64)
    modifiers = np.unique([name[0] for name in good if len(name) > 1]).astype(np.int64)
    words = judge_words(corpus, patterns, evidence, stop, frequency, heads, modifiers, support, processes)
    scores = words.table()
    progress("phrases", 2, steps)
    several = joined(phrase_candidates(patterns, evidence, scores))
    singles = word_set(corpus, words, patterns.count[: len(corpus.lemmas)], thresholds.word)
    evidence.levels.clear()
    del patterns, word_ids
    give_back()
    positive = np.fromiter((name in good for name in spelled(corpus, several)), np.bool_, len(several.rows))
    quality = phrase_quality(corpus, several, positive, processes)
    progress("phrases", 3, steps)
    candidates = phrase_set(corpus, several, quality)
    judge = RareJudge(several.features[:, : plain_features(scores)], quality, processes)
    del several
    give_back()
    rare = rare_phrases(evidence, support, scores, judge, thresholds.rare)
    progress("phrases", 4, steps)
    chosen = PhraseSet.joined(
        [
            singles,
            candidates.where(quality >= thresholds.phrase),
            *(phrase_set(corpus, found, found.features[:, 0]) for found in rare),
        ]
    )
    kept = without_fragments(corpus, chosen, thresholds.alone, processes)
    progress("phrases", 5, steps)
    known = int(positive.sum())
    found = readings(acronyms, corpus.lemmas)
    return Mined(kept.nesting(thresholds.nested), candidates, frequency, support, known, found)


def document_frequency(corpus: Corpus) -> NDArray[np.int32]:
    """In how many documents each word occurs, shape (words,)."""
    frequency = np.zeros(len(corpus.lemmas), dtype=np.int32)
    for first, last in batches(corpus):
        words = corpus.words[corpus.offsets[first] : corpus.offsets[last]].astype(np.int64)
        document = np.repeat(np.arange(last - first), np.diff(corpus.offsets[first : last + 1]))
        keys = distinct(document << 32 | words)
        frequency += np.bincount(keys & LOW, minlength=len(frequency)).astype(np.int32)
    return frequency


def _lettered(lemmas: list[str]) -> NDArray[np.bool_]:
    return np.fromiter((any(map(str.isalpha, lemma)) for lemma in lemmas), np.bool_, len(lemmas))


def spelled(corpus: Corpus, candidates: Candidates) -> list[tuple[int, ...]]:
    """Word numbers of each candidate."""
    words = corpus.words
    places = zip(candidates.example.tolist(), candidates.length.tolist(), strict=True)
    return [tuple(words[at : at + n].tolist()) for at, n in places]


def phrase_set(corpus: Corpus, candidates: Candidates, quality: NDArray[np.float32]) -> PhraseSet:
    lengths = candidates.length.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    words = corpus.words[np.repeat(candidates.example, lengths) + within]
    return PhraseSet(starts, words, quality, candidates.count, np.zeros(len(quality), np.bool_))


def word_set(corpus: Corpus, scores: WordScores, count: NDArray[np.int32], least: float) -> PhraseSet:
    """Words that are phrases by themselves: of two characters or more, met more than once."""
    long = np.fromiter((len(lemma) > 1 for lemma in corpus.lemmas), np.bool_, len(corpus.lemmas))
    rows = np.flatnonzero((scores.quality >= least) & long & (count > 1))
    return PhraseSet(
        starts=np.arange(len(rows) + 1, dtype=np.int64),
        words=rows.astype(np.int32),
        quality=scores.quality[rows].astype(np.float32),
        count=count[rows],
        nested=np.zeros(len(rows), np.bool_),
    )


def phrase_quality(
    corpus: Corpus, several: Candidates, positive: NDArray[np.bool_], processes: int = 1
) -> NDArray[np.float32]:
    """Quality of the candidates, shape (candidates,): the forests' vote, less where something speaks against it."""
    features = several.features
    vote = judged(features, positive, np.ones(len(positive), np.bool_), phrase_prior(several), processes=processes)
    vote = vote * soundness(features, usual_titles(features, several.count))
    seen = vote >= SEEN
    alone = np.zeros(len(vote))
    alone[seen] = segment_counts(
        corpus, phrase_set(corpus, several, vote).where(seen), parted=True, processes=processes
    )
    whole = np.minimum(alone / np.maximum(WHOLE * several.count, 1), 1)
    return np.asarray(vote * whole, dtype=np.float32)


def phrase_prior(several: Candidates) -> NDArray[np.float32]:
    """A guess from concordance, titles, capitals and the lack of inner function words."""
    features, plain = several.features, len(SUMS)
    concord = features.shape[1] - 6
    return rank_prior(
        [
            (features[:, concord], 2.0),
            (features[:, concord + 1], 1.0),
            (features[:, plain + 1], -1.5),
            (features[:, plain + 2 + 3], 1.0),
            (column(several, "title"), 1.0),
            (column(several, "right_boundary"), 0.5),
            (column(several, "capital"), 0.5),
            (column(several, "hyphen"), 0.5),
            (column(several, "first_ed"), -1.0),
            (column(several, "last_ed"), -1.0),
        ]
    )


def segment_counts(
    corpus: Corpus, phrases: PhraseSet, *, parted: bool = False, processes: int = 1
) -> NDArray[np.int64]:
    """How often each phrase is a segment of the best segmentation, shape (phrases,).

    ``parted``: an occurrence that was divided into segments counts too, only one that a segment cuts does not. A part
    of a longer name is a fragment; a name that has a shorter one in it ("offline reinforcement learning") is none.
    """
    matcher = phrases.matcher(len(corpus.lemmas))

    def count(batch: tuple[int, int]) -> NDArray[np.int64]:
        words, marks = batch_tokens(corpus, *batch)
        found = matcher.all(words, marks)
        chosen = matcher.segments(len(words), found)
        if parted:
            chosen = uncut(len(words), found, chosen)
        return np.bincount(found.phrase[chosen], minlength=phrases.size)

    alone = np.zeros(phrases.size, dtype=np.int64)
    for _, counts in in_order(count, batches(corpus), processes):
        alone += counts
    return alone


def without_fragments(corpus: Corpus, chosen: PhraseSet, least: float, processes: int = 1) -> PhraseSet:
    """The phrases that are a segment of their own in a fair share of their occurrences."""
    alone = segment_counts(corpus, chosen, processes=processes)
    single = chosen.lengths == 1
    return chosen.where((alone >= np.maximum(least * chosen.count, 1)) | single)
