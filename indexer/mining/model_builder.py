"""The last passes of mining: spellings, pairs, frequencies and degrees of the phrases, into a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR
from indexer.mining.acronyms import as_lines
from indexer.mining.display_forms import Spelled, Spellings, spelled
from indexer.mining.encoded_corpus import Corpus, Progress, batch_tokens, batches, document_of_tokens
from indexer.mining.mined_batches import Arrays, Kept, packed_edges, packed_occurrences
from indexer.mining.pipeline import Mined
from indexer.model.phrase_model import PhraseModel
from indexer.model.topic_space import PhrasePlaces, Placed, Topics, learn_topics, placed
from indexer.packed import pack
from indexer.runtime.memory import give_back
from indexer.runtime.process_pool import in_order
from indexer.segmentation.batch import Reading, edges_of, weights_of
from indexer.segmentation.phrase_pairs import close_pairs, everyday_words
from indexer.segmentation.phrase_set import PhraseSet, gains

PAIR_QUALITY = 0.25
"""Both members of a pair are phrases of at least this quality."""


def build_model(
    corpus: Corpus,
    mined: Mined,
    topics: Callable[[], Topics],
    settings: Mapping[str, object],
    progress: Progress,
    processes: int = 1,
    keeping: Callable[[Kept], None] | None = None,
) -> PhraseModel:
    """Readings of the coded corpus: one for spellings and pairs, one to weigh all edges.

    ``topics`` gives them when they are needed; ``keeping`` is handed what an analysis of the same documents would
    read again.
    """
    phrases = mined.phrases
    names = [" ".join(corpus.lemmas[w] for w in phrases.spelled(p)) for p in range(phrases.size)]
    kept = Kept(corpus, list(batches(corpus)))
    telling = (phrases.quality >= PAIR_QUALITY) & ~everyday_words(phrases, mined.document_frequency, corpus.documents)
    displays, found = _written(kept, phrases, names, telling, processes)
    pairs = sorted(found, key=lambda pair: (names[pair[0]], names[pair[1]]))
    give_back()
    draft = _draft(corpus, mined, settings, names, displays, pairs)
    model = _weighed(kept, draft, topics(), progress, processes, keep=keeping is not None)
    if keeping:
        keeping(kept)
    return model


def topics_of(corpus: Corpus, frequency: NDArray[np.int32]) -> Topics:
    """``frequency``: documents of each word."""
    held, average = _size(corpus)
    return learn_topics(corpus.words, corpus.offsets, frequency, documents=held, average_length=average)


def _size(corpus: Corpus) -> tuple[int, float]:
    """Documents that hold any token, and their mean length."""
    held = int((np.diff(corpus.offsets) > 0).sum())
    return held, corpus.tokens / held if held else 0.0


class _Written(NamedTuple):
    """What a batch says of how phrases are written, and which keep close company."""

    spelled: Spelled
    pairs: set[tuple[int, int]]
    found: Arrays


def _written(
    kept: Kept, phrases: PhraseSet, names: list[str], telling: NDArray[np.bool_], processes: int
) -> tuple[list[str], set[tuple[int, int]]]:
    """The spelling of each phrase, and the pairs of ``telling`` ones; fills ``kept.found``."""
    corpus = kept.corpus
    matcher = phrases.matcher(len(corpus.lemmas))

    def read(batch: tuple[int, int]) -> _Written:
        words, marks = batch_tokens(corpus, *batch)
        document = document_of_tokens(corpus, *batch)
        found = matcher.all(words, marks)
        chosen = matcher.segments(len(words), found)
        segments = found.where(chosen)
        _, one, other, _ = close_pairs(document[segments.position], segments.position, segments.phrase)
        pairs = {
            (a, b)
            for a, b in zip(one.tolist(), other.tolist(), strict=True)
            if telling[a] and telling[b] and _worth(names[a], names[b])
        }
        return _Written(spelled(corpus, batch, found), pairs, packed_occurrences(found, chosen))

    spellings, pairs = Spellings(), set[tuple[int, int]]()
    for _, written in in_order(read, iter(kept.batches), processes):
        spellings.add(written.spelled)
        pairs |= written.pairs
        kept.found.put(written.found)
    return spellings.best(corpus, phrases.size), pairs


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
    kept: Arrays


def _weighed(
    kept: Kept, draft: PhraseModel, topics: Topics, progress: Progress, processes: int, keep: bool
) -> PhraseModel:
    """Frequencies, degrees and background of all phrases; fills ``kept.edges`` if they are to be kept."""
    corpus, reading = kept.corpus, Reading(draft)
    size = len(draft.phrases)

    def weigh(number: int) -> _Weighed:
        batch = kept.batches[number]
        words, marks = batch_tokens(corpus, *batch)
        document, lengths = document_of_tokens(corpus, *batch), np.diff(corpus.offsets[batch[0] : batch[1] + 1])
        found, chosen = kept.occurrences(number)
        here = edges_of(reading, found, chosen, document, marks)
        weight = weights_of(reading, here, words, document, lengths)
        share = weight / np.sqrt(np.bincount(here.document, weight, minlength=len(lengths)))[here.document]
        return _Weighed(
            np.bincount(here.phrase, minlength=size),
            np.bincount(here.phrase, weight, minlength=size).astype(np.float64, copy=False),
            np.bincount(here.phrase, share, minlength=size).astype(np.float64, copy=False),
            len(here.phrase),
            placed(topics, words, document, lengths, here.document, here.phrase),
            packed_edges(here, weight) if keep else (),
        )

    frequency, degree, spread = np.zeros(size, np.int64), np.zeros(size), np.zeros(size)
    edges = 0
    places = PhrasePlaces(topics, size)
    for number, found in in_order(weigh, iter(range(len(kept.batches))), processes):
        frequency += found.frequency
        degree += found.degree
        spread += found.spread
        edges += found.edges
        places.add(found.places)
        kept.edges.put(found.kept)
        progress("weigh", kept.batches[number][1], corpus.documents)
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
