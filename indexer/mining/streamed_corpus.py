"""A corpus counted and segmented with a phrase model that was mined from a sample of it.

Documents are read in parts that one process holds at a time. The first pass counts words and leaves the tokens on disk;
the second, when the counts of all words are known, finds phrases, weighs and counts them, and leaves them on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.int_arrays import Ints
from indexer.lazy_sequences import OffsetStringTable
from indexer.mining.corpus_statistics import (
    PhraseStatistics,
    PhraseTotals,
    WordStatistics,
    WordTotals,
    count_slice,
    count_slice_words,
)
from indexer.mining.mined_batches import Arrays, BatchPart, SegmentedCorpus, pack_edges, pack_occurrences
from indexer.model.phrase_model import PhraseModel
from indexer.progress import Progress, no_progress
from indexer.runtime.array_spill import ArraySpool
from indexer.runtime.document_spool import DocumentSpool
from indexer.runtime.process_pool import map_in_order
from indexer.segmentation.batch import (
    BatchEdges,
    CompiledModel,
    EncodedBatch,
    SegmentedBatch,
    build_edges,
    compute_edge_weights,
    encode_batch,
)
from indexer.segmentation.matcher import Occurrences
from indexer.syntax.word_features import WordFeatures, load_word_feature_table

PART_DOCUMENTS = 512
"""Most documents of a part."""
MAX_WORDS = 500_000
"""Words of a model: each takes about 200 bytes in every process that has the index open. Without the least frequent
ones, a text with one of them is compared as if no other had it."""


class EncodedTokens(NamedTuple):
    """Tokens of some documents, as ``EncodedBatch`` has them."""

    word_ids: NDArray[np.int32]
    """Of the model; ids from its number of words on are indexes of ``new_words``."""
    marks: NDArray[np.uint8]
    document_lengths: Ints
    piece_lengths: NDArray[np.int32]
    word_features: WordFeatures
    new_words: list[str]
    """Words that the model does not have."""


def encode_documents(compiled: CompiledModel, documents: list[Document]) -> EncodedTokens:
    """Encode documents that may have words that the model does not have."""
    batch = encode_batch(compiled, documents)
    word_ids, unknown = batch.word_ids.copy(), len(compiled.model.words)
    numbers: dict[str, int] = {}
    for position in np.flatnonzero(word_ids == unknown).tolist():
        word_ids[position] += numbers.setdefault(batch.lemmas[position], len(numbers))
    return EncodedTokens(
        word_ids, batch.marks, batch.document_lengths, batch.piece_lengths, batch.word_features, list(numbers)
    )


@dataclass(frozen=True)
class StreamedCorpus(SegmentedCorpus):
    """The parts of a corpus on disk; ``count_corpus`` makes it."""

    model: PhraseModel
    """With the words of the corpus."""
    mined_word_count: int
    """Words of the sample; the model's words from here on are new ones, sorted."""
    new_words: OffsetStringTable
    ranges: list[tuple[int, int]]
    """First document and last (exclusive) of each part."""
    token_spool: ArraySpool
    """Per part what ``_pack_tokens`` returns."""
    occurrence_spool: ArraySpool = field(default_factory=ArraySpool)
    """Per part what ``pack_occurrences`` returns."""
    edge_spool: ArraySpool = field(default_factory=ArraySpool)
    """Per part what ``pack_edges`` returns."""

    def iterate_parts(self, max_documents: int) -> Iterator[BatchPart]:
        assert max_documents >= PART_DOCUMENTS, "parts are read as they were written"
        return (BatchPart(number, *documents) for number, documents in enumerate(self.ranges))

    def load_part_reader(self) -> Callable[[BatchPart], SegmentedBatch]:
        return self._read_part

    def read_part_edges(self, part: BatchPart) -> BatchEdges:
        document, phrase, count, _ = self.edge_spool.read(part.batch)
        return BatchEdges(document.astype(np.int64), phrase.astype(np.int64), count.astype(np.int64))

    def read_part_words(self, part: BatchPart) -> tuple[NDArray[np.int32], Ints]:
        tokens = self.read_tokens(part.batch)
        return tokens.word_ids, tokens.document_lengths

    def read_tokens(self, number: int) -> EncodedTokens:
        """Return the tokens of a part with the ids of the model's words; a word it lacks has the id after the last."""
        return self._renumber_new_words(_unpack_tokens(*self.token_spool.read(number)))

    def _renumber_new_words(self, tokens: EncodedTokens) -> EncodedTokens:
        new_ids = self.new_words.find_many(tokens.new_words)
        model_ids = np.where(new_ids < 0, len(self.new_words), new_ids) + self.mined_word_count
        word_ids, is_new = tokens.word_ids.copy(), tokens.word_ids >= self.mined_word_count
        word_ids[is_new] = model_ids[word_ids[is_new] - self.mined_word_count]
        return tokens._replace(word_ids=word_ids)

    def _read_part(self, part: BatchPart) -> SegmentedBatch:
        raw, words = _unpack_tokens(*self.token_spool.read(part.batch)), self.model.words
        tokens = self._renumber_new_words(raw)
        lemmas = [
            words[id] if id < self.mined_word_count else raw.new_words[id - self.mined_word_count]
            for id in raw.word_ids.tolist()
        ]
        batch = EncodedBatch(
            lemmas, tokens.word_ids, tokens.marks, tokens.document_lengths, tokens.piece_lengths,
            lambda: tokens.word_features,
        )  # fmt: skip
        position, length, phrase, _ = self.occurrence_spool.read(part.batch)
        weights = self.edge_spool.read(part.batch)[-1]
        occurrences = Occurrences(position.astype(np.int64), length.astype(np.int64), phrase)
        return SegmentedBatch(batch, occurrences, self.read_part_edges(part), weights)


def count_corpus(
    model: PhraseModel, spool: DocumentSpool, processes: int = 1, progress: Progress = no_progress
) -> tuple[PhraseModel, StreamedCorpus]:
    """Return the model with the counts of all documents in place of those of the sample, and the segmented corpus."""
    corpus = _count_words(model, spool, processes, progress)
    return _count_phrases(corpus, spool.count, processes, progress), corpus


def _count_words(model: PhraseModel, spool: DocumentSpool, processes: int, progress: Progress) -> StreamedCorpus:
    compiled, word_count = CompiledModel(model), len(model.words)
    totals, ranges, token_spool = WordTotals(word_count), list[tuple[int, int]](), ArraySpool()
    _load_shared_tables(model)

    def encode_part(part: tuple[int, int]) -> tuple[Arrays, WordStatistics]:
        tokens = encode_documents(compiled, spool.read(*part))
        counted = count_slice_words(tokens.word_ids, tokens.document_lengths, word_count, tokens.new_words)
        return _pack_tokens(tokens), counted

    for part, (arrays, counted) in map_in_order(encode_part, spool.split(PART_DOCUMENTS), processes):
        totals.add(counted)
        ranges.append(part)
        token_spool.append(arrays)
        progress("count words", part[1], spool.count)
    model = totals.complete(model, MAX_WORDS)
    new_words = OffsetStringTable.from_strings(model.words[word_count:])
    return StreamedCorpus(model, word_count, new_words, ranges, token_spool)


def _count_phrases(corpus: StreamedCorpus, document_count: int, processes: int, progress: Progress) -> PhraseModel:
    """Fill the spools of occurrences and edges, and return the model with the counts of its phrases."""
    compiled, topics = CompiledModel(corpus.model), corpus.model.pair_topic_space
    matcher, totals = compiled.matcher, PhraseTotals(topics, len(corpus.model.phrases))

    def weigh_part(part: BatchPart) -> tuple[PhraseStatistics, Arrays, Arrays]:
        tokens = corpus.read_tokens(part.batch)
        words, marks, lengths = tokens.word_ids, tokens.marks, tokens.document_lengths
        document = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        occurrences = matcher.find_all(words, marks)
        is_segment = matcher.mark_segments(len(words), occurrences)
        edges = build_edges(compiled, occurrences, is_segment, document, marks)
        weights = compute_edge_weights(compiled, edges, words, document, lengths)
        counted = count_slice(topics, words, document, lengths, edges, weights)
        return counted, pack_occurrences(occurrences, is_segment), pack_edges(edges, weights)

    for part, (counted, occurrences, edges) in map_in_order(
        weigh_part, corpus.iterate_parts(PART_DOCUMENTS), processes
    ):
        totals.add(counted)
        corpus.occurrence_spool.append(occurrences)
        corpus.edge_spool.append(edges)
        progress("weigh", part.last, document_count)
    return totals.complete(corpus.model)


def _load_shared_tables(model: PhraseModel) -> None:
    """Load what each forked process would otherwise load for itself."""
    model.word_ids  # noqa: B018  loads them
    load_word_feature_table()


def _pack_tokens(tokens: EncodedTokens) -> Arrays:
    words = OffsetStringTable.from_strings(tokens.new_words)
    return (
        tokens.word_ids, tokens.marks, tokens.document_lengths.astype(np.int32), tokens.piece_lengths,
        tokens.word_features, words.starts.astype(np.int32), words.blob,
    )  # fmt: skip


def _unpack_tokens(
    word_ids: NDArray[np.int32],
    marks: NDArray[np.uint8],
    document_lengths: NDArray[np.int32],
    piece_lengths: NDArray[np.int32],
    word_features: WordFeatures,
    starts: NDArray[np.int32],
    blob: NDArray[np.uint8],
) -> EncodedTokens:
    new_words = OffsetStringTable(starts.astype(np.int64), blob).to_list()
    return EncodedTokens(word_ids, marks, document_lengths.astype(np.int64), piece_lengths, word_features, new_words)
