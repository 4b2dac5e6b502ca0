"""A side with its documents: what a comparison reads of them (salience, edges, words, topic vectors)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument, TextPhrase
from indexer.engines.base import Reader
from indexer.engines.lazy_documents import (
    DocumentColumns,
    Positions,
    find_shared_columns,
    get_phrase_counts,
    get_phrase_salience,
)
from indexer.engines.search_types import Groups
from indexer.lazy_sequences import LazySequence
from indexer.model.bm25 import split_phrase_words
from indexer.model.evidence_spaces import SpaceName
from indexer.model.topic_space import TopicSpace, WeighedText
from indexer.text.tokenizer import lemmatize_text
from worker.explain.side import Side, SideInfo, SideKind
from worker.explain.text.encoded_text import EncodedText, PreencodedText
from worker.explain.text.partial_match import SideText
from worker.explain.text.spans import DocumentSpans

MAX_SET_CANDIDATES = 200
"""Candidate phrases of a set: the best by summed salience."""
AD_HOC_PREFIX = "\x00guest:"
"""Start of the graph id of a document that is not in the index; no document id can have it."""
AD_HOC_KINDS = ("query", "text")
"""Kinds of sides that are not in the index."""
VECTOR_TITLE = "a vector"
"""Title of a query without words."""
_MAX_TITLE_LENGTH = 80


@dataclass(frozen=True, eq=False)
class ResolvedSide:
    """One side of a comparison with its analysed documents; derived values are computed when first used."""

    side: Side
    documents: tuple[AnalysedDocument, ...]
    reader: Reader
    groups: Groups = None
    """Groups of the caller; None reads everything."""

    @property
    def kind(self) -> SideKind:
        return self.side.kind

    @property
    def is_ad_hoc(self) -> bool:
        """Whether the side is a single document that is not in the index."""
        return self.kind in AD_HOC_KINDS

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids of its documents in the index."""
        return () if self.is_ad_hoc else tuple(d.document.id for d in self.documents)

    @cached_property
    def graph_ids(self) -> tuple[str, ...]:
        """Ids of its documents in a graph; an ad-hoc document gets one made from its words and its vector."""
        if not self.is_ad_hoc:
            return self.ids
        words = self.side.words.encode("utf-8", "replace")
        digest = hashlib.sha256(words + b"\0" + self.side.vector if self.side.vector else words).hexdigest()[:24]
        return (f"{AD_HOC_PREFIX}{self.kind}:{digest}",)

    @cached_property
    def salience(self) -> dict[str, float]:
        """Candidate phrases with their salience, best first."""
        if len(self.documents) == 1:
            return dict(get_phrase_salience(self.documents[0].salient))
        columns = self._columns
        sums = _sum_salience(self.documents) if columns is None else _sum_column_salience(*columns)
        best = sorted(sums, key=lambda item: (-item[1], item[0]))[:MAX_SET_CANDIDATES]
        top = best[0][1] if best else 1.0
        return {phrase: score / top for phrase, score in best}

    @cached_property
    def text_phrases(self) -> dict[str, TextPhrase]:
        """Phrases of the text itself, those that tell most about it first; none of a set, and none with a word that
        the caller may not read: what the index makes of such a word would confirm a guess."""
        if len(self.documents) > 1 or not self.documents[0].text_phrases:
            return {}
        words, unreadable = self.encoded_text.words, self.unreadable_words
        phrases = [(words[p.start : p.start + p.length], p) for p in self.documents[0].text_phrases]
        return {" ".join(own): p for own, p in phrases if unreadable.isdisjoint(own)}

    @cached_property
    def title_words(self) -> frozenset[str]:
        """Lemmas of its title; none of a set."""
        title = self.documents[0].document.title if len(self.documents) == 1 else ""
        return frozenset(lemmatize_text(title, self.reader.model.lemmatizer).split()) if title else frozenset()

    @cached_property
    def encoded_text(self) -> EncodedText:
        """The lemmas of all its documents as ids of the model."""
        if self._columns is None:
            return EncodedText([d.tokens for d in self.documents], self.reader.model, self.unreadable_words)
        columns, positions = self._columns
        documents = self.documents  # a reference to the side would be a cycle, which the garbage collector has to find
        tokens = LazySequence(len(positions), lambda i: documents[i].tokens)
        return PreencodedText(tokens, self.reader.model, columns.get_lines(positions))

    @cached_property
    def unreadable_words(self) -> frozenset[str]:
        """Words of a limited caller's own text that are in no phrase of a document the caller may read.

        They count as words that the index does not have: nothing may depend on whether hidden documents have them.
        """
        if self.groups is None or not self.is_ad_hoc:
            return frozenset()
        (document,) = self.documents
        return frozenset(document.tokens.split()).difference(*map(split_phrase_words, document.phrases))

    @cached_property
    def _columns(self) -> tuple[DocumentColumns, Positions] | None:
        """The engine's columns that hold all its documents, if there are any."""
        return find_shared_columns(self.documents)

    @cached_property
    def spans(self) -> tuple[DocumentSpans, ...]:
        """The phrase finder of each of its documents."""
        return tuple(DocumentSpans(document, self.reader.model.lemmatizer) for document in self.documents)

    @cached_property
    def text(self) -> SideText:
        """Its words: whether, how often and how far they contain a phrase."""
        counts = {} if len(self.documents) > 1 else get_phrase_counts(self.documents[0].salient)
        return SideText(self.encoded_text, self.reader.model, counts)

    def get_edge_weights(self, phrases: Sequence[str]) -> NDArray[np.float64]:
        """Return the BM25 of each phrase in each document whose segmentation contains it, else 0.

        Shape (phrases, documents), with the statistics of the epoch.
        """
        if self._columns is not None:
            return _read_column_edges(*self._columns, phrases)
        if len(self.documents) == 1:
            return np.array([self._edges.get(phrase, 0.0) for phrase in phrases]).reshape(-1, 1)
        row_by_phrase = {phrase: i for i, phrase in enumerate(phrases)}
        segments = [document.phrases for document in self.documents]
        sizes = list(map(len, segments))
        rows = np.fromiter(
            map(row_by_phrase.get, chain.from_iterable(segments), repeat(-1)), dtype=np.int64, count=sum(sizes)
        )
        known = np.flatnonzero(rows >= 0)
        weights = np.array(list(chain.from_iterable(d.weights for d in self.documents)))
        edges = np.zeros((len(row_by_phrase), len(segments)))
        edges[rows[known], np.repeat(np.arange(len(segments)), sizes)[known]] = weights[known]
        return edges

    @cached_property
    def _edges(self) -> dict[str, float]:
        """The phrases of a single document with their BM25."""
        return dict(zip(self.documents[0].phrases, self.documents[0].weights, strict=True))

    @cached_property
    def weighed_texts(self) -> dict[SpaceName, WeighedText]:
        """Its words by their weight in each space of words where that was asked for; none of a set."""
        return {}

    @property
    def weighed_text(self) -> WeighedText | None:
        """Its words by their weight in topic space; None for a set."""
        weigh_texts_together([self], "topics")
        return self.weighed_texts.get("topics")

    @cached_property
    def text_vectors(self) -> dict[SpaceName, NDArray[np.float32]]:
        """Vector of its text in each space of words, as ``get_text_vector`` returns it."""
        weigh_texts_together([self])
        return {name: self.get_text_vector(name) for name in self.reader.model.text_space_names}

    def get_text_vector(self, space_name: SpaceName) -> NDArray[np.float32]:
        """Return the unit vector of its text, or of the mean of its texts, in a space of words; zeros without a known
        word."""
        if len(self.documents) > 1:
            return self._compute_mean_vector(self.reader.model.get_text_space(space_name))
        weigh_texts_together([self], space_name)
        return self.weighed_texts[space_name].vector

    def _compute_mean_vector(self, space: TopicSpace) -> NDArray[np.float32]:
        lengths = self.encoded_text.lengths
        text_numbers = np.repeat(np.arange(len(lengths)), lengths)
        mean = space.embed_texts(self.known_word_ids, text_numbers, lengths).mean(axis=0)
        length = float(np.linalg.norm(mean))
        return np.asarray(mean / length if length > 1e-9 else mean, dtype=np.float32)

    @cached_property
    def topic_vectors(self) -> NDArray[np.float64]:
        """Unit vectors of its documents in the topic space of pairs, shape (documents, dimensions)."""
        space, lengths = self.reader.model.pair_topic_space, self.encoded_text.lengths
        if (text := self.weighed_text) is not None:
            return space.embed_weighed_texts([text]).astype(np.float64)
        text_numbers = np.repeat(np.arange(len(lengths)), lengths)
        return space.embed_texts(self.known_word_ids, text_numbers, lengths).astype(np.float64)

    @property
    def known_word_ids(self) -> NDArray[np.int64]:
        """Id of each word, shape (words,), the same one for all that the model does not know: topics do not tell unseen
        words apart."""
        return np.minimum(self.encoded_text.word_ids, len(self.reader.model.words))

    @cached_property
    def topic_centroid(self) -> tuple[NDArray[np.float64], float]:
        """The mean of its topic vectors, shape (dimensions,), and the length of that mean."""
        centroid = self.topic_vectors.mean(axis=0)
        return centroid, float(np.linalg.norm(centroid))

    def describe(self) -> SideInfo:
        """Return the description of the side in an answer: kind, ids, title."""
        if self.kind == "document":
            return SideInfo(self.kind, self.ids, self.documents[0].document.title)
        if self.kind == "set":
            size = len(self.documents)
            title = self.side.words or f"{size} document{'s' * (size != 1)}"
            return SideInfo(self.kind, self.ids, title)
        if self.side.is_only_vector:
            return SideInfo(self.kind, (), VECTOR_TITLE)
        start = " ".join(self.side.words[: 10 * _MAX_TITLE_LENGTH].split())
        title = start if len(start) <= _MAX_TITLE_LENGTH else start[: _MAX_TITLE_LENGTH - 1].rstrip() + "…"
        return SideInfo(self.kind, (), title)


def weigh_texts_together(sides: Iterable[ResolvedSide], *names: SpaceName) -> None:
    """Fill in ``weighed_texts`` of all sides of one document at once, in the named spaces, or in all of the index.

    For a hit of a few hundred words the call costs more than the computation; the result is the same to the last bit.
    """
    single = [side for side in dict.fromkeys(sides) if len(side.documents) == 1]
    if not single:
        return
    model = single[0].reader.model
    for name in names or model.text_space_names:
        new = [side for side in single if name not in side.weighed_texts]
        if new:
            texts = model.get_text_space(name).weigh_texts([side.encoded_text.counted_words for side in new])
            for side, weighed in zip(new, texts, strict=True):
                side.weighed_texts[name] = weighed


def _sum_salience(documents: Sequence[AnalysedDocument]) -> list[tuple[str, float]]:
    """Return phrases with their summed salience: at least all that may be among the best."""
    sums: defaultdict[str, float] = defaultdict(float)
    for document in documents:
        for phrase, salience in get_phrase_salience(document.salient):
            sums[phrase] += salience
    threshold = min(nlargest(MAX_SET_CANDIDATES, sums.values()), default=0.0)
    return [(phrase, score) for phrase, score in sums.items() if score >= threshold]


def _sum_column_salience(columns: DocumentColumns, positions: Positions) -> list[tuple[str, float]]:
    """Return what ``_sum_salience`` does, added up in the same order, from an engine's columns."""
    all_rows, salience, _ = columns.get_salience(positions)
    rows = np.flatnonzero(np.bincount(all_rows))
    sums = np.bincount(all_rows, salience)[rows]
    if len(rows) > MAX_SET_CANDIDATES:
        is_likely = sums >= np.partition(sums, len(rows) - MAX_SET_CANDIDATES)[len(rows) - MAX_SET_CANDIDATES]
        rows, sums = rows[is_likely], sums[is_likely]
    return list(zip(map(columns.get_phrase, rows.tolist()), sums.tolist(), strict=True))


def _read_column_edges(columns: DocumentColumns, positions: Positions, phrases: Sequence[str]) -> NDArray[np.float64]:
    """Return what ``ResolvedSide.edges`` does, from an engine's columns."""
    stored_rows, weights, sizes = columns.get_edges(positions)
    known = [(i, row) for i, row in enumerate(map(columns.find_phrase_row, phrases)) if row is not None]
    row_by_stored = np.full(int(max([stored_rows.max(initial=0), *[row for _, row in known]])) + 1, -1, dtype=np.int64)
    for i, row in known:
        row_by_stored[row] = i
    rows = row_by_stored[stored_rows]
    chosen = np.flatnonzero(rows >= 0)
    edges = np.zeros((len(phrases), len(positions)))
    edges[rows[chosen], np.repeat(np.arange(len(positions)), sizes)[chosen]] = weights[chosen]
    return edges
