"""A side as asked for becomes documents, phrases and words."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.analyzer import Analyser
from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Groups, Reader
from indexer.engines.lazy_documents import weighed
from indexer.engines.shelf import Places, Shelf, shelf_of
from indexer.errors import BadSide, TooLarge, UnknownDocument
from indexer.lazy_sequences import Lazily
from worker.answer.comparison import SideInfo
from worker.explain.query_side import with_every_phrase
from worker.explain.side import Kind, Side, parse_search
from worker.explain.text.encoded_text import Coded, Numbered
from worker.explain.text.partial_match import Wording
from worker.explain.text.spans import Spans
from worker.phrasing.display_form import usual_spelling
from worker.phrasing.proper_names import Names

SET_CANDIDATES = 200
"""How many phrases stand for a set: the best by summed salience."""
MANY = 100
"""From so many documents on most are not looked at closely."""
GUEST = ""
"""The id of a text that is not in the index."""
GUEST_PREFIX = "\x00guest:"
_TITLE = 80


@dataclass(frozen=True)
class Limits:
    set_size: int = 10_000
    text_bytes: int = 10 * 2**20


@dataclass(frozen=True, eq=False)
class Resolved:
    """One side with all that is known of it."""

    side: Side
    documents: tuple[AnalysedDocument, ...]
    reader: Reader
    groups: Groups = None
    """Whose eyes it is for."""

    @property
    def kind(self) -> Kind:
        return self.side.kind

    @property
    def guest(self) -> bool:
        """Whether the side's one document is not in the index."""
        return self.kind in ("query", "text")

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return () if self.guest else tuple(d.document.id for d in self.documents)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What its documents are called in a graph; a guest has a name that no document can have."""
        if not self.guest:
            return self.ids
        digest = hashlib.sha256(self.side.words.encode("utf-8", "replace")).hexdigest()[:24]
        return (f"{GUEST_PREFIX}{self.kind}:{digest}",)

    @cached_property
    def salience(self) -> dict[str, float]:
        """Candidate phrases with their salience, best first."""
        if len(self.documents) == 1:
            return dict(weighed(self.documents[0].salient))
        likely = _summed(self.documents) if self._shelved is None else _summed_on(*self._shelved)
        best = sorted(likely, key=lambda item: (-item[1], item[0]))[:SET_CANDIDATES]
        top = best[0][1] if best else 1.0
        return {phrase: score / top for phrase, score in best}

    @cached_property
    def coded(self) -> Coded:
        """The lemmas of all its documents."""
        if self._shelved is None:
            return Coded([d.tokens for d in self.documents], self.reader.model)
        shelf, places = self._shelved
        tokens = Lazily(len(places), lambda i: self.documents[i].tokens)
        return Numbered(tokens, self.reader.model, shelf.words(places))

    @cached_property
    def _shelved(self) -> tuple[Shelf, Places] | None:
        """Where its documents stand, if what is asked of all of them can be had at once."""
        return shelf_of(self.documents)

    @cached_property
    def spans(self) -> tuple[Spans, ...]:
        """Where phrases stand in each of its documents."""
        return tuple(map(Spans, self.documents))

    @cached_property
    def names(self) -> Names | None:
        """What its phrases are pieces of; of several documents that is not asked, as their texts differ."""
        model = self.reader.model

        def is_name(word: str) -> bool:
            # how the whole corpus writes it is nothing for who may not read all of it
            return self.groups is None and usual_spelling(word.lower(), model)[0].isupper()

        return Names(self.spans[0], is_name) if len(self.documents) == 1 else None

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.coded, self.reader.model)

    def edges(self, phrases: Sequence[str]) -> NDArray[np.float64]:
        """BM25 of each phrase in each document of the side where its segmentation holds it, else 0.

        Shape (phrases, documents), with the statistics of the epoch.
        """
        if self._shelved is not None:
            return _edges_on(*self._shelved, phrases)
        row = {phrase: i for i, phrase in enumerate(phrases)}
        held = [document.phrases for document in self.documents]
        sizes = list(map(len, held))
        rows = np.fromiter(map(row.get, chain.from_iterable(held), repeat(-1)), dtype=np.int64, count=sum(sizes))
        asked = np.flatnonzero(rows >= 0)
        weights = np.array(list(chain.from_iterable(d.weights for d in self.documents)))
        found = np.zeros((len(row), len(held)))
        found[rows[asked], np.repeat(np.arange(len(held)), sizes)[asked]] = weights[asked]
        return found

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """Where each document of the side stands among the topics: unit vectors, shape (documents, dimensions)."""
        return self.placed(self.coded.numbers, self.coded.lengths)

    def placed(self, words: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Where texts of its index stand: numbers of their words, one text after another, and how many each has."""
        model = self.reader.model
        known = np.minimum(words, len(model.words))  # what the model has not seen is all one to topics
        document = np.repeat(np.arange(len(lengths)), lengths)
        return model.topics.places(known, document, lengths).astype(np.float64)

    @cached_property
    def middle(self) -> tuple[NDArray[np.float64], float]:
        """The mean place of its documents, shape (dimensions,), and how long that vector is."""
        middle = self.places.mean(axis=0)
        return middle, float(np.linalg.norm(middle))

    def info(self) -> SideInfo:
        if self.kind == "document":
            return SideInfo(self.kind, self.ids, self.documents[0].document.title)
        if self.kind == "set":
            size = len(self.documents)
            title = self.side.words or f"{size} document{'s' * (size != 1)}"
            return SideInfo(self.kind, self.ids, title)
        start = " ".join(self.side.words[: 10 * _TITLE].split())
        return SideInfo(self.kind, (), start if len(start) <= _TITLE else start[: _TITLE - 1].rstrip() + "…")


def _summed(documents: Sequence[AnalysedDocument]) -> list[tuple[str, float]]:
    """Phrases with the sum of their salience, all that may be among the best."""
    summed: defaultdict[str, float] = defaultdict(float)
    for document in documents:
        for phrase, salience in weighed(document.salient):
            summed[phrase] += salience
    least = min(nlargest(SET_CANDIDATES, summed.values()), default=0.0)
    return [(phrase, score) for phrase, score in summed.items() if score >= least]


def _summed_on(shelf: Shelf, places: Places) -> list[tuple[str, float]]:
    """The same, added in the same order."""
    rows, salience, _ = shelf.salience(places)
    held = np.flatnonzero(np.bincount(rows))
    summed = np.bincount(rows, salience)[held]
    if len(held) > SET_CANDIDATES:
        likely = summed >= np.partition(summed, len(held) - SET_CANDIDATES)[len(held) - SET_CANDIDATES]
        held, summed = held[likely], summed[likely]
    return list(zip(map(shelf.phrase, held.tolist()), summed.tolist(), strict=True))


def _edges_on(shelf: Shelf, places: Places, phrases: Sequence[str]) -> NDArray[np.float64]:
    rows, weights, sizes = shelf.edges(places)
    asked = [(i, row) for i, row in enumerate(map(shelf.row, phrases)) if row is not None]
    of_row = np.full(int(max([rows.max(initial=0), *[row for _, row in asked]])) + 1, -1, dtype=np.int64)
    for i, row in asked:
        of_row[row] = i
    at = of_row[rows]
    kept = np.flatnonzero(at >= 0)
    found = np.zeros((len(phrases), len(places)))
    found[at[kept], np.repeat(np.arange(len(places)), sizes)[kept]] = weights[kept]
    return found


def resolve(
    reader: Reader, sides: Sequence[Side], *, limits: Limits, groups: Groups = None, analyser: Analyser | None = None
) -> list[Resolved]:
    """Every side, with one request for all documents named by id; equal sides are looked up once."""
    for side in sides:
        if len(side.ids) > limits.set_size:
            raise TooLarge(
                f"a set of {len(side.ids)} documents is above the limit of {limits.set_size}",
                fix="compare a part of it",
            )
    wanted = list(dict.fromkeys(id for side in sides for id in side.ids))
    fetch = reader.fetch if len(wanted) < MANY else reader.fetch_lightly
    fetched = dict(zip(wanted, fetch(wanted, groups), strict=True)) if wanted else {}
    missing = [id for id, document in fetched.items() if document is None]
    if missing:
        raise UnknownDocument(reader.info.name, *missing)
    found = {id: document for id, document in fetched.items() if document is not None}
    known: dict[Side, Resolved] = {}
    for side in sides:
        if side not in known:
            known[side] = Resolved(side, _documents(reader, side, found, limits, groups, analyser), reader, groups)
    return [known[side] for side in sides]


def _documents(
    reader: Reader,
    side: Side,
    found: dict[str, AnalysedDocument],
    limits: Limits,
    groups: Groups,
    analyser: Analyser | None,
) -> tuple[AnalysedDocument, ...]:
    if side.ids:
        return tuple(found[id] for id in side.ids)
    if len(side.words.encode("utf-8", "surrogatepass")) > limits.text_bytes:
        raise TooLarge(f"the {side.form} is larger than {limits.text_bytes} bytes", fix="compare a part of it")
    analyser = analyser or Analyser(reader.model)
    if side.form == "search":
        return _search(reader, side, limits, groups, analyser)
    analysed = analyser.analyse(Document(id=GUEST, text=side.words))
    return (with_every_phrase(analysed, reader.model) if side.form == "query" else analysed,)


def _search(
    reader: Reader, side: Side, limits: Limits, groups: Groups, analyser: Analyser
) -> tuple[AnalysedDocument, ...]:
    words, selection = parse_search(side.words)
    lemmas = tuple(analyser.analyse(Document(id=GUEST, text=words)).tokens.split()) if words else ()
    result = reader.search(replace(selection, words=lemmas), size=limits.set_size, groups=groups)
    if result.total > limits.set_size:
        raise TooLarge(
            f"search:{side.words} selects {result.total} documents, the limit is {limits.set_size}",
            fix="narrow it, for example with date:2011-03-11..2011-03-14",
        )
    if not result.hits:
        raise BadSide(f"search:{side.words} selects no document", fix="widen it")
    return tuple(hit.document for hit in result.hits)
