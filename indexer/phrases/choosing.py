"""The salient phrases of documents: scored, picked, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument, Document, Salient
from indexer.phrases.matching import Found
from indexer.phrases.reading import Batch, Edges, Ints, Reading, code_batch, edges_of, weights_of
from indexer.salience import interestingness, largest, normalised, pair_interestingness, select_many
from indexer.text import Place

PLACES = 3
"""Occurrences remembered of a salient phrase."""


class Occurrences:
    """Every occurrence of every phrase in a batch, to be asked by document and phrase."""

    def __init__(self, found: Found, batch: Batch) -> None:
        keys = batch.document[found.position] << 32 | found.phrase
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.position = found.position[order] - batch.starts[self.keys >> 32]
        # Lists: rows are read one by one, where arrays are slow.
        self.first: list[int] = self.position.tolist()
        self.last: list[int] = (self.position + found.length[order] - 1).tolist()

    def of(self, document: Ints, phrase: Ints) -> tuple[Ints, Ints]:
        """First row and row after the last of each, by position."""
        keys = document << 32 | phrase
        return np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")

    def place(self, row: int, title: int, spans: tuple[list[int], list[int]]) -> Place:
        """Where it stands in a document whose title has so many tokens."""
        first = self.first[row]
        return "title" if first < title else "text", spans[0][first], spans[1][self.last[row]]


class Phrases(NamedTuple):
    """The phrases of all documents of a batch, by document and number ascending (pairs last in each)."""

    edges: Edges
    cuts: list[int]
    """Document d has rows cuts[d] to cuts[d + 1]."""
    rows: Ints
    """First row of its occurrences, and the row after the last, shape (edges, 2)."""
    scores: NDArray[np.float64]
    """Interestingness in (0, 1)."""


def analyse_batch(reading: Reading, documents: Sequence[Document]) -> list[AnalysedDocument]:
    """All that indexing finds out about each document."""
    batch = code_batch(reading, documents)
    found = reading.matcher.all(batch.words, batch.marks)
    chosen = reading.matcher.segments(len(batch.words), found)
    edges = edges_of(reading, found, chosen, batch.document, batch.marks)
    weights = weights_of(reading, edges, batch.words, batch.document, batch.lengths)
    seen = Occurrences(found, batch)
    titled, rows = _titled(seen, edges, batch)
    cuts = np.searchsorted(edges.document, np.arange(len(documents) + 1))
    phrases = Phrases(edges, cuts.tolist(), rows, score(reading, edges, titled, cuts))
    salient = _salient(reading, phrases, seen, batch)
    names = reading.model.phrases
    analysed = []
    for d, document in enumerate(documents):
        here = slice(phrases.cuts[d], phrases.cuts[d + 1])
        weight = weights[here].tolist()
        analysed.append(
            AnalysedDocument(
                document=document,
                tokens=batch.tokens(d),
                phrases=tuple([names[p] for p in edges.phrase[here].tolist()]),
                weights=tuple(weight),
                salient=salient[d],
                degree=float(sum(weight)),
                version=document.version(),
            )
        )
    return analysed


def _titled(seen: Occurrences, edges: Edges, batch: Batch) -> tuple[NDArray[np.bool_], Ints]:
    """Of each edge: does the phrase stand in the title, and the rows of its occurrences, shape (edges, 2)."""
    first, last = seen.of(edges.document, edges.phrase)
    titles = np.array([one.title for one in batch.parsed], dtype=np.int64)
    earliest = np.append(seen.position, 0)[first]
    return (last > first) & (earliest < titles[edges.document]), np.stack([first, last], axis=1)


def _salient(reading: Reading, phrases: Phrases, seen: Occurrences, batch: Batch) -> list[tuple[Salient, ...]]:
    """The salient phrases of each document."""
    names = reading.model.phrases
    parts = [slice(a, b) for a, b in pairwise(phrases.cuts)]
    numbers = [phrases.edges.phrase[part] for part in parts]
    members = [_members(reading, own) for own in numbers]
    spelled = [[names[p] for p in own.tolist()] for own in numbers]
    picked = select_many(spelled, [phrases.scores[part] for part in parts], members, reading.k, reading.mu)
    salient = []
    for d, part in enumerate(parts):
        title, spans = batch.parsed[d].title, batch.parsed[d].spans()
        rows, scores = phrases.rows[part].tolist(), phrases.scores[part].tolist()
        own: list[Salient] = []
        for i in picked[d]:
            first, last = rows[i]
            where: Iterable[int] = range(first, min(first + PLACES, last))
            count = last - first
            if i in members[d]:
                where, count = [rows[member][0] for member in members[d][i]], int(phrases.edges.times[part][i])
            own.append(
                Salient(spelled[d][i], scores[i], count, tuple([seen.place(row, title, spans) for row in where]))
            )
        salient.append(tuple(own))
    return salient


def _members(reading: Reading, phrase: Ints) -> dict[int, tuple[int, ...]]:
    """Of each pair among one document's phrases, the places of its members among them."""
    simple = int(np.searchsorted(phrase, reading.simple))
    found: dict[int, tuple[int, ...]] = {}
    for i in range(simple, len(phrase)):
        pair = reading.members[phrase[i] - reading.simple]
        rows = np.searchsorted(phrase[:simple], pair).tolist()
        found[i] = tuple(r for r, p in zip(rows, pair.tolist(), strict=True) if r < simple and phrase[r] == p)
    return found


def score(reading: Reading, edges: Edges, titled: NDArray[np.bool_], cuts: Ints) -> NDArray[np.float64]:
    """Interestingness in (0, 1) of every edge, shape (edges,); phrases and pairs of a document each on their own."""
    model, weighing, phrase = reading.model, reading.weighing, edges.phrase
    count, frequency = edges.times.astype(np.float64), model.frequency[phrase].astype(np.float64)
    pair = phrase >= reading.simple
    most = np.maximum(largest(np.where(pair, 0.0, count), cuts), 1.0)[edges.document]
    plain = interestingness(count, most, frequency, model.documents)
    plain *= model.quality[phrase].astype(np.float64) ** weighing.quality
    plain *= 1 + weighing.title * titled
    plain *= 1 + weighing.several * (reading.sizes[phrase] > 1)
    scores = normalised(np.where(pair, 0.0, plain), edges.document, cuts)
    if pair.any():
        rows = np.flatnonzero(pair)
        keys = edges.document << 32 | phrase
        member = edges.document[rows, None] << 32 | reading.members[phrase[rows] - reading.simple]
        at = np.minimum(np.searchsorted(keys, member), len(keys) - 1)
        one, other = np.where(keys[at] == member, count[at], 1.0).T
        totals = np.bincount(edges.document[~pair], count[~pair], minlength=len(cuts) - 1).astype(np.float64)
        total = totals[edges.document[rows]]
        paired = np.zeros(len(phrase))
        paired[rows] = pair_interestingness(count[rows], one, other, total, frequency[rows], model.documents)
        scores[rows] = normalised(paired, edges.document, cuts)[rows]
    return scores
