"""The last pass of mining: frequencies, degrees, pairs and spellings of the phrases, into a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR
from indexer.phrases.acronyms import as_lines
from indexer.phrases.corpus import Corpus, Progress, batch_tokens, batches, document_of_tokens
from indexer.phrases.heap import give_back
from indexer.phrases.mining import Mined
from indexer.phrases.model import PhraseModel
from indexer.phrases.packed import pack
from indexer.phrases.pairs import close_pairs
from indexer.phrases.phraseset import PhraseSet, gains
from indexer.phrases.processes import beside, in_order
from indexer.phrases.reading import Reading, edges_of, weights_of
from indexer.phrases.spelling import spellings
from indexer.phrases.topics import PhrasePlaces, Placed, Topics, learn_topics, placed

PAIR_QUALITY = 0.25
"""Both members of a pair are phrases of at least this quality."""


def build_model(
    corpus: Corpus, mined: Mined, settings: Mapping[str, object], progress: Progress, processes: int = 1
) -> PhraseModel:
    """Readings of the coded corpus: one for spellings, one to find the pairs, one to weigh all edges."""
    phrases = mined.phrases
    names = [" ".join(corpus.lemmas[w] for w in phrases.spelled(p)) for p in range(phrases.size)]
    with beside(partial(_topics, corpus, mined), processes) as topics:
        displays = spellings(corpus, phrases, processes)
        found = _pairs(corpus, phrases, names, processes)
    pairs = sorted(found, key=lambda pair: (names[pair[0]], names[pair[1]]))
    give_back()
    draft = _draft(corpus, mined, settings, names, displays, pairs)
    return _weighed(corpus, draft, topics(), progress, processes)


def _topics(corpus: Corpus, mined: Mined) -> Topics:
    held, average = _size(corpus)
    frequency = mined.document_frequency
    return learn_topics(corpus.words, corpus.offsets, frequency, documents=held, average_length=average)


def _size(corpus: Corpus) -> tuple[int, float]:
    """Documents that hold any token, and their mean length."""
    held = int((np.diff(corpus.offsets) > 0).sum())
    return held, corpus.tokens / held if held else 0.0


def _pairs(corpus: Corpus, phrases: PhraseSet, names: list[str], processes: int) -> set[tuple[int, int]]:
    matcher = phrases.matcher(len(corpus.lemmas))
    good = phrases.quality >= PAIR_QUALITY

    def read(batch: tuple[int, int]) -> set[tuple[int, int]]:
        words, marks = batch_tokens(corpus, *batch)
        document = document_of_tokens(corpus, *batch)
        found = matcher.all(words, marks)
        found = found.where(matcher.segments(len(words), found))
        _, one, other, _ = close_pairs(document[found.position], found.position, found.phrase)
        return {
            (a, b)
            for a, b in zip(one.tolist(), other.tolist(), strict=True)
            if good[a] and good[b] and _worth(names[a], names[b])
        }

    return {pair for _, found in in_order(read, batches(corpus), processes) for pair in found}


def _worth(one: str, other: str) -> bool:
    """Says a pair more than its members? Not when one holds the other, nor two bare words."""
    return (" " in one or " " in other) and f" {one} " not in f" {other} " and f" {other} " not in f" {one} "


def _draft(
    corpus: Corpus,
    mined: Mined,
    settings: Mapping[str, object],
    names: list[str],
    displays: list[str],
    pairs: list[tuple[int, int]],
) -> PhraseModel:
    """The model before frequencies and degrees are known."""
    phrases = mined.phrases
    spelled = [np.concatenate([phrases.spelled(a), phrases.spelled(b)]) for a, b in pairs]
    lengths = np.concatenate([phrases.lengths, [len(words) for words in spelled]]).astype(np.int64)
    size = phrases.size + len(pairs)
    pair_quality = np.array([np.sqrt(phrases.quality[a] * phrases.quality[b]) for a, b in pairs], dtype=np.float32)
    held, average_length = _size(corpus)
    return PhraseModel(
        settings=settings,
        documents=held,
        average_length=average_length,
        phrases=names + [f"{names[a]}{PAIR}{names[b]}" for a, b in pairs],
        displays=displays + [f"{displays[a]} + {displays[b]}" for a, b in pairs],
        frequency=np.zeros(size, dtype=np.int32),
        quality=np.concatenate([phrases.quality, pair_quality]).astype(np.float32),
        degree=np.zeros(size),
        background=np.zeros(size),
        words=corpus.lemmas,
        word_frequency=mined.document_frequency,
        extra={
            "starts": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            "phrase_words": np.concatenate([phrases.words, *spelled]).astype(np.int32),
            "gain": gains(phrases.quality, phrases.lengths).astype(np.float32),
            "nested": phrases.nested,
            "members": np.array(pairs, dtype=np.int32).reshape(-1, 2),
            "acronyms": pack(as_lines(mined.acronyms)),
        },
    )


class _Weighed(NamedTuple):
    """What a batch adds to each phrase."""

    frequency: NDArray[np.int64]
    degree: NDArray[np.float64]
    spread: NDArray[np.float64]
    edges: int
    places: Placed


def _weighed(corpus: Corpus, draft: PhraseModel, topics: Topics, progress: Progress, processes: int) -> PhraseModel:
    """Frequencies, degrees and background of all phrases."""
    reading = Reading(draft)
    size = len(draft.phrases)

    def weigh(batch: tuple[int, int]) -> _Weighed:
        words, marks = batch_tokens(corpus, *batch)
        document, lengths = document_of_tokens(corpus, *batch), np.diff(corpus.offsets[batch[0] : batch[1] + 1])
        found = reading.matcher.all(words, marks)
        chosen = reading.matcher.segments(len(words), found)
        here = edges_of(reading, found, chosen, document, marks)
        weight = weights_of(reading, here, words, document, lengths)
        share = weight / np.sqrt(np.bincount(here.document, weight, minlength=len(lengths)))[here.document]
        return _Weighed(
            np.bincount(here.phrase, minlength=size),
            np.bincount(here.phrase, weight, minlength=size).astype(np.float64, copy=False),
            np.bincount(here.phrase, share, minlength=size).astype(np.float64, copy=False),
            len(here.phrase),
            placed(topics, words, document, lengths, here.document, here.phrase),
        )

    frequency, degree, spread = np.zeros(size, np.int64), np.zeros(size), np.zeros(size)
    edges = 0
    places = PhrasePlaces(topics, size)
    for (_, last), found in in_order(weigh, batches(corpus), processes):
        frequency += found.frequency
        degree += found.degree
        spread += found.spread
        edges += found.edges
        places.add(found.places)
        progress("weigh", last, corpus.documents)
    background = np.divide(spread, np.sqrt(degree), out=np.zeros(size), where=degree > 0)
    return replace(
        draft,
        frequency=frequency.astype(np.int32),
        degree=degree,
        background=background,
        settings={**draft.settings, "edges": edges},
        extra={**draft.extra, **_topic_arrays(topics), "places": places.means(frequency)},
    )


def _topic_arrays(topics: Topics) -> dict[str, NDArray[np.generic]]:
    return {
        "topic_words": np.flatnonzero(topics.words >= 0).astype(np.int32),
        "topic_vectors": topics.vectors.astype(np.float16),
        "topic_middle": topics.middle,
    }
