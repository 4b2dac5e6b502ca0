"""The salient phrases of documents: scored, picked, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.salience import earliness, interestingness, largest, normalised, pair_interestingness, select_many
from indexer.documents import AnalysedDocument, Document, Salient
from indexer.segmentation.batch import Batch, Edges, Ints, Read, Reading, read_batch
from indexer.segmentation.matcher import Found
from indexer.text.tokenizer import Place

PLACES = 3
"""Occurrences remembered of a salient phrase."""
_FIELDS = ("text", "title")


class Occurrences:
    """Every occurrence of every phrase in a batch, to be asked by document and phrase."""

    def __init__(self, found: Found, batch: Batch) -> None:
        keys = batch.document[found.position] << 32 | found.phrase
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        position = found.position[order]
        self.titled = batch.titled[position]
        self.place = position - batch.starts[batch.document[position]]
        """Words before each in its document."""
        begin, end = batch.spans
        fields = [_FIELDS[titled] for titled in self.titled.tolist()]
        # A list: rows are read one by one, where arrays are slow.
        self.places: list[Place] = list(
            zip(fields, begin[position].tolist(), end[position + found.length[order] - 1].tolist(), strict=True)
        )
        """Where each stands."""

    def of(self, document: Ints, phrase: Ints) -> tuple[Ints, Ints]:
        """First row and row after the last of each, by position."""
        keys = document << 32 | phrase
        return np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")


class Phrases(NamedTuple):
    """The phrases of all documents of a batch, by document and number ascending (pairs last in each)."""

    edges: Edges
    cuts: list[int]
    """Document d has rows cuts[d] to cuts[d + 1]."""
    rows: Ints
    """First row of its occurrences, the row after those remembered and after the last, shape (edges, 3)."""
    scores: NDArray[np.float64]
    """Interestingness in (0, 1)."""


def analyse_batch(reading: Reading, documents: Sequence[Document]) -> list[AnalysedDocument]:
    """All that indexing finds out about each document."""
    return described(reading, documents, read_batch(reading, documents))


def described(reading: Reading, documents: Sequence[Document], read: Read) -> list[AnalysedDocument]:
    """The documents with what was read in them, and the salient phrases chosen from it."""
    batch, found, edges, weights = read
    seen = Occurrences(found, batch)
    titled, first, rows = _first(seen, edges)
    cuts = np.searchsorted(edges.document, np.arange(len(documents) + 1))
    phrases = Phrases(edges, cuts.tolist(), rows, score(reading, edges, titled, first, cuts))
    salient = _salient(reading, phrases, seen)
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


def _first(seen: Occurrences, edges: Edges) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Of each edge: does the phrase stand in the title, the words before it first does, and the rows of its
    occurrences (``Phrases.rows``)."""
    first, last = seen.of(edges.document, edges.phrase)
    rows = np.stack([first, np.minimum(first + PLACES, last), last], axis=1)
    return (last > first) & np.append(seen.titled, False)[first], np.append(seen.place, 0)[first], rows


def _salient(reading: Reading, phrases: Phrases, seen: Occurrences) -> list[tuple[Salient, ...]]:
    """The salient phrases of each document."""
    names = reading.model.phrases
    parts = [slice(a, b) for a, b in pairwise(phrases.cuts)]
    numbers = [phrases.edges.phrase[part] for part in parts]
    members = [_members(reading, own) for own in numbers]
    spelled = [[names[p] for p in own.tolist()] for own in numbers]
    picked = select_many(spelled, [phrases.scores[part] for part in parts], members, reading.k, reading.mu)
    salient = []
    for d, part in enumerate(parts):
        rows, scores, mine = phrases.rows[part].tolist(), phrases.scores[part].tolist(), members[d]
        own: list[Salient] = []
        for i in picked[d]:
            first, end, last = rows[i]
            at, count = seen.places[first:end], last - first
            if i in mine:
                at = [seen.places[rows[member][0]] for member in mine[i]]
                count = int(phrases.edges.times[part][i])
            own.append(Salient(spelled[d][i], scores[i], count, tuple(at)))
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


def score(reading: Reading, edges: Edges, titled: NDArray[np.bool_], first: Ints, cuts: Ints) -> NDArray[np.float64]:
    """Interestingness in (0, 1) of every edge, shape (edges,); phrases and pairs of a document each on their own."""
    model, weighing, phrase = reading.model, reading.weighing, edges.phrase
    count, frequency = edges.times.astype(np.float64), model.frequency[phrase].astype(np.float64)
    pair = phrase >= reading.simple
    most = np.maximum(largest(np.where(pair, 0.0, count), cuts), 1.0)[edges.document]
    plain = interestingness(count, most, frequency, model.documents)
    plain *= model.quality[phrase].astype(np.float64) ** weighing.quality
    plain *= 1 + weighing.title * titled
    plain *= 1 + weighing.several * (reading.sizes[phrase] > 1)
    plain *= earliness(first.astype(np.float64)) ** weighing.late
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
