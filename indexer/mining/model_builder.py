"""Building the model from mined phrases: display forms, pairs, frequencies, degrees and topic vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR_SEPARATOR
from indexer.int_arrays import csr_starts
from indexer.mining.corpus_statistics import PhraseStatistics, PhraseTotals, count_slice
from indexer.mining.encoded_corpus import (
    EncodedCorpus,
    get_lemma_ids_and_marks,
    get_token_documents,
    iterate_document_ranges,
)
from indexer.mining.mined_batches import Arrays, MinedBatches, pack_edges, pack_occurrences
from indexer.mining.spelling_counts import DisplayFormCounts, DisplayFormTotals, count_display_forms
from indexer.model.phrase_model import ModelSettings, PhraseModel
from indexer.model.topic_space import PAIR_DIMENSIONS, TopicSpace, learn_topic_space
from indexer.progress import Progress
from indexer.runtime.memory import trim_heap
from indexer.runtime.process_pool import map_in_order
from indexer.segmentation.batch import CompiledModel, build_edges, compute_edge_weights
from indexer.segmentation.phrase_pairs import count_close_pairs
from indexer.segmentation.phrase_set import PhraseSet, compute_segment_gains

MIN_PAIR_QUALITY = 0.25
"""Minimum quality of both members of a pair."""
FREQUENT_WORD_SHARE, FREQUENT_WORD_DOCUMENTS = 0.05, 12
"""A frequent word is in more than this share of the documents, and in more than this many."""

PhrasePair = tuple[int, int]
"""Ids of the two members, the smaller first."""


@dataclass(frozen=True)
class MinedPhrases:
    """The phrases of a corpus, and figures of their mining."""

    phrases: PhraseSet
    candidates: PhraseSet
    """Every frequent candidate of several words, accepted or not."""
    document_frequency: NDArray[np.int32]
    """Documents of each word, shape (words,)."""
    min_support: int
    known_phrase_count: int
    """Known phrases among the candidates."""
    acronyms: dict[str, list[str]]
    """Short form -> long forms."""


def build_model(
    corpus: EncodedCorpus,
    mined: MinedPhrases,
    get_topics: Callable[[], TopicSpace],
    settings: ModelSettings,
    progress: Progress,
    processes: int = 1,
    on_batches_mined: Callable[[MinedBatches], None] | None = None,
) -> PhraseModel:
    """Build the model in two passes over the corpus: one for display forms and pairs, one to weigh all edges.

    ``get_topics`` is called when the topic space is needed; ``on_batches_mined`` with the segmented batches at the end.
    """
    phrases = mined.phrases
    names = [" ".join(corpus.lemmas[w] for w in phrases.phrase_word_ids(p)) for p in range(phrases.size)]
    batches = MinedBatches(corpus, list(iterate_document_ranges(corpus)))
    is_frequent_word = mask_frequent_single_words(phrases, mined.document_frequency, corpus.document_count)
    may_pair = (phrases.quality >= MIN_PAIR_QUALITY) & ~is_frequent_word
    display_forms, pairs = _collect_forms_and_pairs(batches, phrases, names, may_pair, processes)
    trim_heap()
    draft = _draft_model(corpus, mined, settings, names, display_forms, pairs)
    model = _complete_model_with_edges(
        batches, draft, get_topics(), progress, processes, keep_edges=on_batches_mined is not None
    )
    if on_batches_mined:
        on_batches_mined(batches)
    return model


def mask_frequent_single_words(
    phrases: PhraseSet, word_document_frequency: NDArray[np.int32], document_count: int
) -> NDArray[np.bool_]:
    """Return which phrases are a single frequent word, shape (phrases,).

    They are no members of pairs: "error" or "option" occur near everything a text is about.
    """
    is_frequent = word_document_frequency > max(FREQUENT_WORD_SHARE * document_count, FREQUENT_WORD_DOCUMENTS)
    return np.asarray((phrases.lengths == 1) & is_frequent[phrases.word_ids[phrases.starts[:-1]]])


def learn_corpus_topics(corpus: EncodedCorpus, document_frequency: NDArray[np.int32]) -> TopicSpace:
    """Learn the topic space of a corpus; ``document_frequency`` counts the documents of each word."""
    document_count, average_length = _compute_count_and_mean_length(corpus)
    return learn_topic_space(
        corpus.lemma_ids,
        corpus.offsets,
        document_frequency,
        document_count=document_count,
        average_length=average_length,
    )


def _compute_count_and_mean_length(corpus: EncodedCorpus) -> tuple[int, float]:
    """Return the number of documents with any token, and their mean length."""
    document_count = int((np.diff(corpus.offsets) > 0).sum())
    return document_count, corpus.token_count / document_count if document_count else 0.0


class _BatchForms(NamedTuple):
    """Display forms, pairs and occurrences of a batch."""

    display_forms: DisplayFormCounts
    pairs: set[PhrasePair]
    packed_occurrences: Arrays


def _collect_forms_and_pairs(
    batches: MinedBatches, phrases: PhraseSet, names: list[str], may_pair: NDArray[np.bool_], processes: int
) -> tuple[list[str], list[PhrasePair]]:
    """Return the display form of each phrase, and the pairs sorted by names; fill ``batches.occurrence_spool``."""
    corpus = batches.corpus
    matcher = phrases.build_matcher(len(corpus.lemmas))

    def collect_from_batch(document_range: tuple[int, int]) -> _BatchForms:
        words, marks = get_lemma_ids_and_marks(corpus, *document_range)
        document = get_token_documents(corpus, *document_range)
        occurrences = matcher.find_all(words, marks)
        is_segment = matcher.mark_segments(len(words), occurrences)
        segments = occurrences.select(is_segment)
        _, first, second, _ = count_close_pairs(document[segments.position], segments.position, segments.phrase)
        pairs = {
            (a, b)
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
            if may_pair[a] and may_pair[b] and _is_informative_pair(names[a], names[b])
        }
        forms = count_display_forms(corpus, document_range, occurrences)
        return _BatchForms(forms, pairs, pack_occurrences(occurrences, is_segment))

    totals, pairs = DisplayFormTotals(), set[PhrasePair]()
    for _, result in map_in_order(collect_from_batch, iter(batches.batches), processes):
        totals.add(result.display_forms)
        pairs |= result.pairs
        batches.occurrence_spool.append(result.packed_occurrences)
    by_names = sorted(pairs, key=lambda pair: (names[pair[0]], names[pair[1]]))
    return totals.choose_most_frequent(corpus, phrases.size), by_names


def _is_informative_pair(a: str, b: str) -> bool:
    """Return whether a pair says more than its members: not two bare words, nor one phrase inside the other."""
    return (" " in a or " " in b) and f" {a} " not in f" {b} " and f" {b} " not in f" {a} "


def _draft_model(
    corpus: EncodedCorpus,
    mined: MinedPhrases,
    settings: ModelSettings,
    names: list[str],
    display_forms: list[str],
    pairs: list[PhrasePair],
) -> PhraseModel:
    """Return the model without what needs the edges: frequencies, degrees, background and topics."""
    phrases = mined.phrases
    pair_words = [np.concatenate([phrases.phrase_word_ids(a), phrases.phrase_word_ids(b)]) for a, b in pairs]
    lengths = np.concatenate([phrases.lengths, [len(words) for words in pair_words]]).astype(np.int64)
    size = phrases.size + len(pairs)
    pair_quality = np.array([np.sqrt(phrases.quality[a] * phrases.quality[b]) for a, b in pairs], dtype=np.float32)
    document_count, average_length = _compute_count_and_mean_length(corpus)
    return PhraseModel(
        settings=settings,
        document_count=document_count,
        average_length=average_length,
        phrases=names + [f"{names[a]}{PAIR_SEPARATOR}{names[b]}" for a, b in pairs],
        display_forms=display_forms + [f"{display_forms[a]} + {display_forms[b]}" for a, b in pairs],
        document_frequency=np.zeros(size, dtype=np.int32),
        quality=np.concatenate([phrases.quality, pair_quality]).astype(np.float32),
        degree=np.zeros(size),
        background=np.zeros(size),
        words=corpus.lemmas,
        word_document_frequency=mined.document_frequency,
        phrase_starts=csr_starts(lengths),
        phrase_word_ids=np.concatenate([phrases.word_ids, *pair_words]).astype(np.int32),
        segment_gains=compute_segment_gains(phrases.quality, phrases.lengths).astype(np.float32),
        is_nested=phrases.is_nested,
        pair_members=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        acronyms=mined.acronyms,
        lemma_table=corpus.lemma_table,
    )


class _WeighedBatch(NamedTuple):
    """Statistics and edges of a batch."""

    statistics: PhraseStatistics
    packed_edges: Arrays


def _complete_model_with_edges(
    batches: MinedBatches, draft: PhraseModel, topics: TopicSpace, progress: Progress, processes: int, keep_edges: bool
) -> PhraseModel:
    """Return the model with frequencies, degrees, background and topics; fill ``batches.edge_spool`` if asked to."""
    corpus, compiled = batches.corpus, CompiledModel(draft)
    pair_topics = topics.keep_leading_dimensions(PAIR_DIMENSIONS)

    def weigh_batch(number: int) -> _WeighedBatch:
        first, last = batches.batches[number]
        words, marks = get_lemma_ids_and_marks(corpus, first, last)
        document, lengths = get_token_documents(corpus, first, last), np.diff(corpus.offsets[first : last + 1])
        edges = build_edges(compiled, *batches.read_occurrences_and_segment_mask(number), document, marks)
        weights = compute_edge_weights(compiled, edges, words, document, lengths)
        statistics = count_slice(pair_topics, words, document, lengths, edges, weights)
        return _WeighedBatch(statistics, pack_edges(edges, weights) if keep_edges else ())

    totals = PhraseTotals(pair_topics, len(draft.phrases))
    for number, weighed in map_in_order(weigh_batch, iter(range(len(batches.batches))), processes):
        totals.add(weighed.statistics)
        batches.edge_spool.append(weighed.packed_edges)
        progress("weigh", batches.batches[number][1], corpus.document_count)
    return replace(
        totals.complete(draft),
        topic_word_ids=np.flatnonzero(topics.vector_rows >= 0).astype(np.int32),
        topic_vectors=topics.vectors.astype(np.float16, copy=False),
        topic_scales=topics.scales,
        topic_centroid=topics.centroid,
    )
