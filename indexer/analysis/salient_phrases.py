"""Score, select and locate the salient phrases of documents, a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.salience import (
    SalienceOptions,
    SalienceWeights,
    compute_earliness,
    compute_max_per_document,
    compute_phrase_interestingness,
    compute_phrase_pair_interestingness,
    normalize_scores_per_document,
    select_salient_indexes,
)
from indexer.analysis.text_phrases import select_text_phrases
from indexer.documents import AnalysedDocument, Document, SalientPhrase
from indexer.int_arrays import Ints
from indexer.segmentation.batch import BatchEdges, CompiledModel, EncodedBatch, SegmentedBatch, segment_batch
from indexer.segmentation.matcher import Occurrences
from indexer.text.tokenizer import Span

MAX_SPANS = 3
"""Spans stored for a salient phrase."""
_FIELDS = ("text", "title")


class OccurrenceIndex:
    """Phrase occurrences of a batch, sorted by document, phrase and position; arrays of shape (occurrences,)."""

    def __init__(self, occurrences: Occurrences, batch: EncodedBatch) -> None:
        keys = batch.token_documents[occurrences.position] << 32 | occurrences.phrase
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        position = occurrences.position[order]
        self.is_in_title = batch.is_in_title[position]
        self.words_before = position - batch.document_starts[batch.token_documents[position]]
        """Words before each occurrence in its document."""
        starts, ends = batch.token_offsets
        fields = [_FIELDS[in_title] for in_title in self.is_in_title.tolist()]
        # A list: rows are read one by one, where arrays are slow.
        self.spans: list[Span] = list(
            zip(fields, starts[position].tolist(), ends[position + occurrences.length[order] - 1].tolist(), strict=True)
        )

    def find_row_ranges(self, document: Ints, phrase: Ints) -> tuple[Ints, Ints]:
        """Return the first row of each phrase in its document, and the row after its last."""
        keys = document << 32 | phrase
        return np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")


class ScoredEdges(NamedTuple):
    """The edges of a batch, by document and phrase ascending (pairs last in each document), with their scores."""

    edges: BatchEdges
    document_starts: list[int]
    """Document d has the edges ``document_starts[d]:document_starts[d + 1]``."""
    occurrence_rows: Ints
    """Rows in the ``OccurrenceIndex``: the first, the end of those with stored spans, the end; shape (edges, 3)."""
    scores: NDArray[np.float64]
    """Interestingness in (0, 1)."""


def analyse_batch(
    compiled: CompiledModel,
    options: SalienceOptions,
    documents: Sequence[Document],
    allowed: Collection[str] | None = None,
) -> list[AnalysedDocument]:
    """Segment the documents and select their salient phrases; ``allowed``: the only phrases to find, None for all."""
    segmented = segment_batch(compiled, documents, allowed)
    return analyse_segmented_batch(compiled, options, documents, segmented, knows_all=allowed is None)


def analyse_segmented_batch(
    compiled: CompiledModel,
    options: SalienceOptions,
    documents: Sequence[Document],
    segmented: SegmentedBatch,
    *,
    knows_all: bool = True,
) -> list[AnalysedDocument]:
    """Select the salient phrases of documents that have been segmented, and those of the texts themselves.

    ``knows_all`` False: for a caller who must not learn how rare a word is; see ``select_text_phrases``.
    """
    batch, occurrences, edges, weights = segmented
    index = OccurrenceIndex(occurrences, batch)
    located = _locate_occurrences(index, edges)
    starts = np.searchsorted(edges.document, np.arange(len(documents) + 1))
    scores = score_edges(
        compiled, options.weights, edges, located.is_first_in_title, located.words_before_first, starts
    )
    scored = ScoredEdges(edges, starts.tolist(), located.rows, scores)
    salient = _select_salient_by_document(compiled, options, scored, index)
    names = compiled.model.phrases
    salient_names = [[one.phrase for one in of_document] for of_document in salient]
    text_phrases = select_text_phrases(compiled.model, batch, salient_names, by_corpus=knows_all)
    analysed = []
    for d, document in enumerate(documents):
        own = slice(scored.document_starts[d], scored.document_starts[d + 1])
        own_weights = weights[own].tolist()
        analysed.append(
            AnalysedDocument(
                document=document,
                tokens=batch.join_tokens(d),
                phrases=tuple([names[p] for p in edges.phrase[own].tolist()]),
                weights=tuple(own_weights),
                salient=salient[d],
                degree=float(sum(own_weights)),
                version=document.compute_version(),
                text_phrases=text_phrases[d],
            )
        )
    return analysed


class _EdgeOccurrences(NamedTuple):
    """Where the phrase of each edge occurs; a pair has no occurrences of its own."""

    is_first_in_title: NDArray[np.bool_]
    words_before_first: Ints
    rows: Ints
    """As in ``ScoredEdges.occurrence_rows``."""


def _locate_occurrences(index: OccurrenceIndex, edges: BatchEdges) -> _EdgeOccurrences:
    first, end = index.find_row_ranges(edges.document, edges.phrase)
    rows = np.stack([first, np.minimum(first + MAX_SPANS, end), end], axis=1)
    is_first_in_title = (end > first) & np.append(index.is_in_title, False)[first]
    return _EdgeOccurrences(is_first_in_title, np.append(index.words_before, 0)[first], rows)


def _select_salient_by_document(
    compiled: CompiledModel, options: SalienceOptions, scored: ScoredEdges, index: OccurrenceIndex
) -> list[tuple[SalientPhrase, ...]]:
    """Return the salient phrases of each document."""
    names = compiled.model.phrases
    slices = [slice(start, end) for start, end in pairwise(scored.document_starts)]
    phrase_ids = [scored.edges.phrase[own] for own in slices]
    members = [_find_pair_member_indexes(compiled, ids) for ids in phrase_ids]
    phrases = [[names[p] for p in ids.tolist()] for ids in phrase_ids]
    selected = select_salient_indexes(phrases, [scored.scores[own] for own in slices], members, options.k, options.mu)
    salient = []
    for d, own in enumerate(slices):
        rows, scores, pairs = scored.occurrence_rows[own].tolist(), scored.scores[own].tolist(), members[d]
        of_document: list[SalientPhrase] = []
        for i in selected[d]:
            first, stored_end, end = rows[i]
            spans, count = index.spans[first:stored_end], end - first
            if i in pairs:
                spans = [index.spans[rows[member][0]] for member in pairs[i]]
                count = int(scored.edges.count[own][i])
            of_document.append(SalientPhrase(phrases[d][i], scores[i], count, tuple(spans)))
        salient.append(tuple(of_document))
    return salient


def _find_pair_member_indexes(compiled: CompiledModel, document_phrases: Ints) -> dict[int, tuple[int, ...]]:
    """Return the indexes of the members of each pair, by the index of the pair, among one document's phrases."""
    simple = int(np.searchsorted(document_phrases, compiled.simple_phrase_count))
    members: dict[int, tuple[int, ...]] = {}
    for i in range(simple, len(document_phrases)):
        pair = compiled.pair_members[document_phrases[i] - compiled.simple_phrase_count]
        rows = np.searchsorted(document_phrases[:simple], pair).tolist()
        members[i] = tuple(
            r for r, p in zip(rows, pair.tolist(), strict=True) if r < simple and document_phrases[r] == p
        )
    return members


def score_edges(
    compiled: CompiledModel,
    weights: SalienceWeights,
    edges: BatchEdges,
    is_in_title: NDArray[np.bool_],
    words_before: Ints,
    document_starts: Ints,
) -> NDArray[np.float64]:
    """Return the interestingness in (0, 1) of every edge, shape (edges,).

    Phrases and pairs of a document are normalized separately. ``is_in_title`` and ``words_before`` describe the first
    occurrence of each edge's phrase; document d has the edges ``document_starts[d]:document_starts[d + 1]``.
    """
    model, phrase = compiled.model, edges.phrase
    count, frequency = edges.count.astype(np.float64), model.document_frequency[phrase].astype(np.float64)
    is_pair = phrase >= compiled.simple_phrase_count
    max_count = np.maximum(compute_max_per_document(np.where(is_pair, 0.0, count), document_starts), 1.0)[
        edges.document
    ]
    interest = compute_phrase_interestingness(count, max_count, frequency, model.document_count)
    interest *= model.quality[phrase].astype(np.float64) ** weights.quality
    interest *= 1 + weights.title * is_in_title
    interest *= 1 + weights.multi_word * (compiled.phrase_lengths[phrase] > 1)
    interest *= compute_earliness(words_before.astype(np.float64)) ** weights.earliness
    scores = normalize_scores_per_document(np.where(is_pair, 0.0, interest), edges.document, document_starts)
    if is_pair.any():
        pairs = np.flatnonzero(is_pair)
        keys = edges.document << 32 | phrase
        members = compiled.pair_members[phrase[pairs] - compiled.simple_phrase_count]
        member_keys = edges.document[pairs, None] << 32 | members
        row = np.minimum(np.searchsorted(keys, member_keys), len(keys) - 1)
        first_count, second_count = np.where(keys[row] == member_keys, count[row], 1.0).T
        phrase_counts = np.bincount(edges.document[~is_pair], count[~is_pair], minlength=len(document_starts) - 1)
        phrase_count = phrase_counts.astype(np.float64)[edges.document[pairs]]
        pair_interest = np.zeros(len(phrase))
        pair_interest[pairs] = compute_phrase_pair_interestingness(
            count[pairs], first_count, second_count, phrase_count, frequency[pairs], model.document_count
        )
        scores[pairs] = normalize_scores_per_document(pair_interest, edges.document, document_starts)[pairs]
    return scores
