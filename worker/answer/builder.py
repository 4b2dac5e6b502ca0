"""A sorting becomes an answer: ranked, folded, capped lists with their evidence."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from worker.answer.bridges import Reasoner
from worker.answer.comparison import Candidate, Comparison, Entry, NoEvidence, Stats
from worker.answer.graph_view import picture
from worker.answer.list_length import Where, wanted
from worker.answer.near_duplicates import Folder
from worker.answer.nested_relevance import relevance_by_words
from worker.answer.snippets import Finder
from worker.answer.summary import summarise
from worker.explain.neighbourhood import LocalGraph, Pair
from worker.explain.resolver import Resolved
from worker.explain.spec import Question
from worker.methods.base import Problem, Ranked, Sorting
from worker.phrasing.display_form import Speller
from worker.phrasing.full_form import Namer
from worker.phrasing.proper_names import Called

DIGITS = 6
"""Digits of scores in an answer: engines agree to about so many."""


@dataclass(frozen=True, eq=False)
class Found:
    """All that was found out about a pair."""

    pair: Pair
    graph: LocalGraph
    problem: Problem
    sorting: Sorting


def present(question: Question, found: Found, folder: Folder) -> Comparison:
    """The answer, all but its timings."""
    maker = _Entries(question, found, folder)
    common = maker.entries(found.sorting.common, "common")
    distinct_a = maker.entries(found.sorting.distinct_a, "distinct")
    distinct_b = maker.entries(found.sorting.distinct_b, "distinct")
    sides = (found.pair.a, found.pair.b)
    info = sides[0].reader.info
    a, b = (side.info() for side in sides)
    versions = {d.document.id: d.version for side in sides if not side.guest for d in side.documents}
    return Comparison(
        id=question.key(info.epoch, versions),
        index=question.index,
        epoch=info.epoch,
        method=question.method,
        preset=question.preset,
        a=a,
        b=b,
        summary=summarise(a, b, common, distinct_a, distinct_b),
        common=common,
        distinct_a=distinct_a,
        distinct_b=distinct_b,
        stats=_stats(found),
        no_evidence=None if common or distinct_a or distinct_b else _why_empty(found),
        candidates=_candidates(found) if question.candidates else None,
        graph=picture(found.graph, found.problem, found.sorting) if question.graph else None,
    )


class _Entries:
    """Makes the entries of one answer."""

    def __init__(self, question: Question, found: Found, folder: Folder) -> None:
        self._cap = question.cap
        self._a, self._b = found.pair.a, found.pair.b
        self._in_a, self._in_b = Finder(self._a, "a"), Finder(self._b, "b")
        self._sorting, self._candidates = found.sorting, found.pair.candidates
        self._linked = [
            set(np.flatnonzero(edges.any(axis=1)).tolist())
            for edges in (self._candidates.edges_a, self._candidates.edges_b)
        ]
        """Of each side, the candidates that have an edge to it."""
        self._row = {phrase: row for row, phrase in enumerate(self._candidates.phrases)}
        self._model = self._a.reader.model
        self._speller = Speller([*self._a.spans, *self._b.spans], self._model, question.groups)
        self._namer = Namer((self._a, self._b))
        self._folder = folder
        worded = self._a.wording.holds_any_word, self._b.wording.holds_any_word
        self._reasoner = Reasoner(found.graph, found.problem, self._folder, found.sorting.solved, worded)

    def entries(self, ranked: Ranked, where: Where) -> tuple[Entry, ...]:
        phrases = [self._sorting.phrases[i] for i in ranked.index.tolist()]
        at = {phrase: n for n, phrase in enumerate(phrases)}

        def called(phrase: str) -> Called | None:
            return self._called(phrase, where, at)

        telling = set(phrases[: ranked.telling])
        entries = []
        for leader, also in self._folder.fold(phrases, wanted(ranked, self._cap, where), called):
            phrase, others = self._said_by_both(leader, also, telling) if where == "common" else (leader, also)
            row, score = int(ranked.index[at[phrase]]), float(ranked.score[at[leader]])
            name = called(phrase)
            if name and name.lemmas in at and name.lemmas not in others:
                name = None  # it is another entry, or stands beside one
            entries.append(self._entry(phrase, others, name, row, score, where))
        return tuple(entries)

    def _called(self, phrase: str, where: Where, listed: Container[str]) -> Called | None:
        """The whole that stands for a phrase, unless that is a candidate of another list. What is implied has none: the
        text that lacks it may be about the phrase, but that says nothing of the whole."""
        if where == "common" and not self._shared(phrase):
            return None
        name = self._namer.called(phrase)
        return name if name and (name.lemmas in listed or name.lemmas not in self._row) else None

    def _said_by_both(self, leader: str, also: tuple[str, ...], telling: set[str]) -> tuple[str, tuple[str, ...]]:
        """What both texts say stands for what only one does, if it tells anything: "rye flour" for "rye flour
        properly", but not "learning" for "reinforcement learning"."""
        alike = (leader, *also)
        first = next((phrase for phrase in alike if phrase in telling and self._shared(phrase)), leader)
        return first, tuple(phrase for phrase in alike if phrase != first)

    def _shared(self, phrase: str) -> bool:
        return self._a.wording.holds(phrase) and self._b.wording.holds(phrase)

    def _entry(
        self, phrase: str, also: tuple[str, ...], name: Called | None, row: int, score: float, where: Where
    ) -> Entry:
        count_a, count_b = self._a.wording.count(phrase), self._b.wording.count(phrase)
        implied = where == "common" and not (count_a and count_b)
        return Entry(
            phrase=phrase,
            display=name.display if name else self._speller.display(phrase),
            score=_rounded(score),
            kind="implied" if implied else "shared" if where == "common" else "distinct",
            count_a=count_a,
            count_b=count_b,
            relevance_a=self._relevance(phrase, self._a, float(self._sorting.relevance_a[row]), count_a),
            relevance_b=self._relevance(phrase, self._b, float(self._sorting.relevance_b[row]), count_b),
            evidence=(
                *(self._in_a.places(phrase) if count_a else ()),
                *(self._in_b.places(phrase) if count_b else ()),
            ),
            also=(name.lemmas, *also) if name and name.lemmas not in (phrase, *also) else also,
            reasons=self._reasoner.reasons(phrase, lacking="b" if count_a else "a") if implied else None,
        )

    def _relevance(self, phrase: str, side: Resolved, given: float, count: int) -> float:
        """As the method has it; of a phrase that stands there without an edge to it, by its words."""
        row = self._row.get(phrase)
        if not count or row is None or (given > 0 and row in self._linked[side is not self._a]):
            return _rounded(given)
        edges = self._candidates.edges_a if side is self._a else self._candidates.edges_b
        return _rounded(max(given, relevance_by_words(side, edges, self._candidates, row)))


def _candidates(found: Found) -> dict[str, tuple[Candidate, ...]]:
    """Both salient sets, with the margin of the method (of a method with words of its own: the lowest)."""
    margin = dict(zip(found.sorting.phrases, found.sorting.margin.tolist(), strict=True))
    lowest = float(np.min(found.sorting.margin, initial=0.0))

    def listed(phrases: tuple[str, ...], salience: dict[str, float]) -> tuple[Candidate, ...]:
        return tuple(Candidate(p, _rounded(salience[p]), _rounded(margin.get(p, lowest))) for p in phrases)

    pair = found.pair
    return {
        "a": listed(pair.candidates.of_a, pair.a.salience),
        "b": listed(pair.candidates.of_b, pair.b.salience),
    }


def _stats(found: Found) -> Stats:
    graph = found.graph
    return Stats(
        phrases=len(graph.phrases),
        documents=len(graph.ids),
        edges=graph.graph.edges,
        iterations=found.sorting.iterations,
        rounds=found.sorting.rounds,
        notes=(*found.sorting.notes, *_notes(found)),
        reached=graph.reached,
        left_out=_rounded(graph.left_out),
    )


def _notes(found: Found) -> list[str]:
    """What a reader should know to judge the answer."""
    a, b = found.pair.a, found.pair.b
    notes = []
    if a.columns == b.columns:
        notes.append("both sides are the same")
    notes += [
        f"no phrase of the index was found in {name}"
        for name, side in (("A", a), ("B", b))
        if not side.salience and (a.salience or b.salience)
    ]
    if not found.graph.third:
        notes.append("no other document of the index links the two: what they share in other words may be missing here")
    return notes


def _why_empty(found: Found) -> NoEvidence:
    for side, letter in ((found.pair.a, "A"), (found.pair.b, "B")):
        if not side.salience:
            return NoEvidence("no-phrases", f"no phrase of the index was found in {letter}: it is empty or too short")
    sorting = found.sorting
    if len(sorting.common) or len(sorting.distinct_a) or len(sorting.distinct_b):
        return NoEvidence("nothing-found", "no phrase tells much of either side; a cap of 0 lists them all")
    return NoEvidence("nothing-found", "no phrase is relevant enough to either side")


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0  # never -0.0
