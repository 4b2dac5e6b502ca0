"""Segment batches of documents with a model: tokens, phrase occurrences and BM25 edges, in arrays.

One document is a batch of one: results for a document do not depend on the others of its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.int_arrays import LOW_32_BITS, Ints, count_keys, csr_positions, csr_starts
from indexer.model.bm25 import compute_tf_saturation
from indexer.model.phrase_model import PhraseModel
from indexer.segmentation.matcher import Matcher, Occurrences
from indexer.segmentation.phrase_pairs import count_close_pairs
from indexer.segmentation.phrase_trie import PhraseTrie
from indexer.syntax.word_features import WordFeatures, load_word_feature_table, look_up_tokens
from indexer.text.tokenizer import Mark, join_tokens, tokenize_document


@dataclass(frozen=True)
class BatchEdges:
    """Edges between the documents of a batch and phrases, by document and phrase ascending; shape (edges,)."""

    document: Ints
    """Index in the batch."""
    phrase: Ints
    """Phrase id."""
    count: Ints
    """Segments and nested occurrences of the phrase; for a pair, how often its members are close to each other."""

    def select(self, keep: NDArray[np.bool_]) -> BatchEdges:
        """Return the edges that a mask of shape (edges,) keeps."""
        return BatchEdges(self.document[keep], self.phrase[keep], self.count[keep])


class CompiledModel:
    """A phrase model with the lemmatizer and the matcher that segmenting with it needs."""

    def __init__(self, model: PhraseModel) -> None:
        self.model = model
        self.lemmatizer = model.lemmatizer
        self.phrase_starts = model.phrase_starts
        self.phrase_word_ids = model.phrase_word_ids
        self.phrase_lengths = np.diff(self.phrase_starts)
        self.pair_members = model.pair_members.astype(np.int64)
        self.simple_phrase_count = len(model.phrases) - len(self.pair_members)
        """Phrases with an id from here on are pairs."""
        self.matcher = Matcher(
            PhraseTrie(self.phrase_starts[: self.simple_phrase_count + 1], self.phrase_word_ids, len(model.words)),
            model.segment_gains.astype(np.float64),
            model.is_nested,
        )

    @cached_property
    def pair_id_by_members(self) -> dict[tuple[int, int], int]:
        """Phrase id of each pair by the ids of its members."""
        return {(int(a), int(b)): self.simple_phrase_count + i for i, (a, b) in enumerate(self.pair_members)}

    def mask_phrases(self, names: Collection[str]) -> NDArray[np.bool_]:
        """Return which phrases are among the names, shape (phrases,)."""
        mask = np.zeros(len(self.model.phrases), dtype=np.bool_)
        mask[[self.model.phrase_ids[name] for name in names]] = True
        return mask


@dataclass(frozen=True)
class EncodedBatch:
    """Documents as the word ids of their tokens, concatenated; an unknown word has the id after the last."""

    lemmas: list[str]
    word_ids: NDArray[np.int32]
    marks: NDArray[np.uint8]
    """``Mark`` flags before each token and after the last, shape (tokens + 1,)."""
    document_lengths: Ints
    """Tokens of each document, shape (documents,)."""
    piece_lengths: NDArray[np.int32]
    """Characters of the separators and words of each field in turn, shape (2 * (tokens + documents),)."""
    compute_word_features: Callable[[], WordFeatures]
    """Returns ``word_features``."""

    @cached_property
    def word_features(self) -> WordFeatures:
        """What each token may be by its form, shape (tokens,)."""
        return self.compute_word_features()

    @cached_property
    def document_starts(self) -> Ints:
        """First token of each document and the end of the last, shape (documents + 1,)."""
        return csr_starts(self.document_lengths)

    @cached_property
    def token_documents(self) -> Ints:
        """Document of each token, shape (tokens,)."""
        return np.repeat(np.arange(len(self.document_lengths), dtype=np.int64), self.document_lengths)

    @cached_property
    def is_in_title(self) -> NDArray[np.bool_]:
        """Mask of the tokens of titles, shape (tokens,)."""
        return np.asarray((self.marks[:-1] & Mark.TITLE) != 0)

    @cached_property
    def token_offsets(self) -> tuple[Ints, Ints]:
        """Start and end of each token in its field, in characters, each of shape (tokens,)."""
        upto = np.concatenate([[0], np.cumsum(self.piece_lengths, dtype=np.int64)])
        document = self.token_documents
        titles = np.bincount(document[self.is_in_title], minlength=len(self.document_lengths))
        field = 2 * (self.document_starts[:-1] + np.arange(len(self.document_lengths)))  # the first piece of each title
        before = np.where(self.is_in_title, upto[field][document], upto[field + 2 * titles + 1][document])
        piece = 2 * (np.arange(len(self.word_ids)) + document) + np.where(self.is_in_title, 1, 2)
        return upto[piece] - before, upto[piece + 1] - before

    def join_tokens(self, document_number: int) -> str:
        """Return the tokens string of document ``document_number``."""
        start, end = self.document_starts[document_number : document_number + 2].tolist()
        return join_tokens(self.lemmas[start:end], self.marks[start:end].tobytes())


def encode_batch(compiled: CompiledModel, documents: Sequence[Document]) -> EncodedBatch:
    """Tokenize, lemmatize and encode the documents."""
    tokenized = [tokenize_document(document, compiled.lemmatizer) for document in documents]
    words = list(chain.from_iterable([each.words for each in tokenized]))
    lemmas = list(map(compiled.lemmatizer.__getitem__, words))
    pieces = chain.from_iterable([each.pieces for each in tokenized])
    ids, unknown = compiled.model.word_ids, len(compiled.model.words)
    marks = np.frombuffer(b"".join([bytes(each.marks[:-1]) for each in tokenized]) + b"\x01", dtype=np.uint8)
    return EncodedBatch(
        lemmas,
        np.fromiter(map(ids.get, lemmas, repeat(unknown)), dtype=np.int32, count=len(lemmas)),
        marks,
        np.array([len(each.words) for each in tokenized], dtype=np.int64),
        np.fromiter(map(len, chain.from_iterable(pieces)), dtype=np.int32),
        partial(_look_up_words, words, marks),
    )


def _look_up_words(words: Sequence[str], marks: NDArray[np.uint8]) -> WordFeatures:
    return look_up_tokens(load_word_feature_table().get_features(words), np.arange(len(words)), marks)


class SegmentedBatch(NamedTuple):
    """A batch with all its phrase occurrences and weighted edges."""

    batch: EncodedBatch
    occurrences: Occurrences
    edges: BatchEdges
    weights: NDArray[np.float64]
    """BM25 of each edge, shape (edges,)."""


def segment_batch(
    compiled: CompiledModel, documents: Sequence[Document], allowed: Collection[str] | None = None
) -> SegmentedBatch:
    """Encode the documents, find the phrases in them and weigh the edges.

    ``allowed``: the only phrases that are to be found, as if the model had no others; None for all.
    """
    batch = encode_batch(compiled, documents)
    occurrences = compiled.matcher.find_all(batch.word_ids, batch.marks)
    is_allowed = None if allowed is None else compiled.mask_phrases(allowed)
    if is_allowed is not None:
        occurrences = occurrences.select(is_allowed[occurrences.phrase])
    is_segment = compiled.matcher.mark_segments(len(batch.word_ids), occurrences)
    edges = build_edges(compiled, occurrences, is_segment, batch.token_documents, batch.marks)
    if is_allowed is not None:  # a pair of allowed phrases may not be allowed itself
        edges = edges.select(is_allowed[edges.phrase])
    weights = compute_edge_weights(compiled, edges, batch.word_ids, batch.token_documents, batch.document_lengths)
    return SegmentedBatch(batch, occurrences, edges, weights)


def find_phrases(compiled: CompiledModel, documents: Sequence[Document]) -> list[str]:
    """Return every phrase that may be found in the documents, however they are segmented."""
    batch = encode_batch(compiled, documents)
    found = np.zeros(len(compiled.model.phrases), dtype=np.bool_)
    found[compiled.matcher.find_all(batch.word_ids, batch.marks).phrase] = True
    found[compiled.simple_phrase_count :] = found[compiled.pair_members].all(axis=1)
    return [compiled.model.phrases[id] for id in np.flatnonzero(found).tolist()]


def build_edges(
    compiled: CompiledModel,
    occurrences: Occurrences,
    is_segment: NDArray[np.bool_],
    token_documents: Ints,
    marks: NDArray[np.uint8],
) -> BatchEdges:
    """Return the edges of a batch.

    ``is_segment`` marks the occurrences that are segments, ``token_documents`` has the document of each token, and
    ``marks`` the flags before each token and after the last.
    """
    is_counted = compiled.matcher.mark_counted(occurrences, is_segment, marks)
    keys, counts = count_keys(token_documents[occurrences.position[is_counted]] << 32 | occurrences.phrase[is_counted])
    segments = occurrences.select(is_segment)
    close_pairs = count_close_pairs(token_documents[segments.position], segments.position, segments.phrase)
    pairs = [
        (d << 32 | compiled.pair_id_by_members[(a, b)], count)
        for d, a, b, count in zip(*(column.tolist() for column in close_pairs), strict=True)
        if (a, b) in compiled.pair_id_by_members
    ]
    if pairs:
        keys = np.concatenate([keys, np.array([key for key, _ in pairs], dtype=np.int64)])
        counts = np.concatenate([counts, np.array([count for _, count in pairs], dtype=np.int64)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    return BatchEdges(keys >> 32, keys & LOW_32_BITS, counts)


def compute_edge_weights(
    compiled: CompiledModel,
    edges: BatchEdges,
    word_ids: NDArray[np.int32],
    token_documents: Ints,
    document_lengths: Ints,
) -> NDArray[np.float64]:
    """Return the BM25 of every edge, shape (edges,): the sum over the words of its phrase."""
    if len(edges.document) == 0:
        return np.zeros(0)
    cells, counts = count_keys(token_documents << 32 | word_ids)
    saturated = compute_tf_saturation(counts, document_lengths[cells >> 32], compiled.model.average_length)
    cell_weights = compiled.model.word_idf[cells & LOW_32_BITS] * saturated
    lengths = compiled.phrase_lengths[edges.phrase]
    phrase_words = compiled.phrase_word_ids[csr_positions(compiled.phrase_starts, edges.phrase)]
    weights = cell_weights[np.searchsorted(cells, np.repeat(edges.document, lengths) << 32 | phrase_words)]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    return np.asarray(np.bincount(owners, weights, minlength=len(lengths)), dtype=np.float64)
