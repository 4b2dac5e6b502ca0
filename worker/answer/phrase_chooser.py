"""From ranked phrases to those of a list: near-duplicates merged, the list capped, each in the form to display."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.model.bm25 import split_phrase_words
from indexer.model.evidence_spaces import SpaceName
from worker.answer.list_length import ListKind, make_entry_limit_by_rank
from worker.answer.near_duplicates import NearDuplicates
from worker.explain.neighbourhood import SidePair
from worker.explain.resolved_side import ResolvedSide
from worker.methods.base import RankedList
from worker.phrasing.full_form import FullForms
from worker.phrasing.proper_names import FullForm, ProperNames

SCORE_DIGITS = 6
"""Digits of scores in an answer; engines agree to about this many."""


def round_score(value: float) -> float:
    """Return a score as answers have it."""
    return round(value, SCORE_DIGITS) + 0.0  # never -0.0


def round_space_scores(by_space: Mapping[SpaceName, NDArray[np.float64]], row: int) -> dict[SpaceName, float]:
    """Return the z-scores of a phrase as answers have them, without the spaces that were not measured."""
    scores = {name: float(values[row]) for name, values in by_space.items()}
    return {name: round(score, 2) + 0.0 for name, score in scores.items() if not math.isnan(score)}


class ChosenPhrase(NamedTuple):
    """One phrase of a list."""

    phrase: str
    display: str
    also: tuple[str, ...]
    """Near-duplicates merged into it, in a capped list those that might be listed themselves or contain it, and the
    lemmas of the displayed form."""
    row: int
    """Its row among the phrases that were ranked."""
    score: float

    def merge(self, *phrases: str) -> ChosenPhrase:
        """Return this entry with further phrases merged into it."""
        return self._replace(also=tuple(dict.fromkeys([*self.also, *phrases])))


class PhraseChooser:
    """Chooses the phrases of the lists of one pair."""

    def __init__(
        self,
        pair: SidePair,
        cap: int,
        near_duplicates: NearDuplicates,
        names_by_side: dict[ResolvedSide, ProperNames],
    ) -> None:
        self._a, self._b = pair.a, pair.b
        self._cap = cap
        self._candidates = frozenset(pair.candidates.phrases)
        self._near_duplicates = near_duplicates
        self._full_forms = FullForms((self._a, self._b), names_by_side)
        self._has_query = "query" in (pair.a.kind, pair.b.kind)
        self._common_words: set[str] = set()
        """Words of the common list of a query, which no displayed form of a distinct phrase repeats."""

    def choose(self, ranked: RankedList, phrases: Sequence[str], kind: ListKind) -> list[ChosenPhrase]:
        """Return the entries of a list, best first; ``ranked`` has indices into ``phrases``."""
        ranked_phrases = [phrases[i] for i in ranked.indices.tolist()]
        rank_by_phrase = {phrase: rank for rank, phrase in enumerate(ranked_phrases)}

        def find_full_form(phrase: str) -> FullForm | None:
            return self._find_full_form(phrase, kind, rank_by_phrase)

        informative = set(ranked_phrases[: ranked.informative])
        entry_limit = make_entry_limit_by_rank(ranked, self._cap, kind)
        chosen: dict[str, ChosenPhrase] = {}
        compared = _leave_out_unlisted(ranked_phrases, ranked.fillers) if self._cap else ranked_phrases
        for first, duplicates in self._near_duplicates.group_near_duplicates(compared, entry_limit, find_full_form):
            phrase, also = first, duplicates
            if kind == "common":
                phrase, also = self._choose_representative(first, duplicates, informative)
            row, score = int(ranked.indices[rank_by_phrase[phrase]]), float(ranked.scores[rank_by_phrase[first]])
            full_form = find_full_form(phrase)
            if full_form and full_form.lemmas in rank_by_phrase and full_form.lemmas not in also:
                full_form = None  # it is another entry, or a near-duplicate of one
            if full_form and full_form.lemmas not in (phrase, *also):
                also = (full_form.lemmas, *also)
            display = self._full_forms.write_phrase(phrase, full_form)
            same = chosen.get(display.casefold())
            if same is None:
                chosen[display.casefold()] = ChosenPhrase(phrase, display, also, row, score)
            else:  # two parts of one name
                chosen[display.casefold()] = same.merge(phrase, *also)
        if kind == "common" and self._has_query:
            self._common_words.update(word for one in chosen.values() for word in split_phrase_words(one.phrase))
        return list(chosen.values())

    def _find_full_form(self, phrase: str, kind: ListKind, listed: Container[str]) -> FullForm | None:
        """Return the full form of a phrase unless that is a candidate of another list.

        An implied phrase of two texts has none: the one that lacks the phrase may be about it, but not about the full
        form. A query is about neither; there the hit, which contains the phrase, decides how it is displayed.
        """
        if kind == "common" and not self._has_query and not self.is_shared(phrase):
            return None
        full_form = self._full_forms.find(phrase)
        if full_form and not self._common_words.isdisjoint(full_form.lemmas.split()):
            return None
        if full_form and (full_form.lemmas in listed or full_form.lemmas not in self._candidates):
            return full_form
        return None

    def _choose_representative(
        self, first: str, duplicates: tuple[str, ...], informative: set[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Return the first informative phrase that both texts contain, else ``first``, and the other near-duplicates.

        So "rye flour" represents "rye flour properly", but "learning" not "reinforcement learning".
        """
        group = (first, *duplicates)
        chosen = next((phrase for phrase in group if phrase in informative and self.is_shared(phrase)), first)
        return chosen, tuple(phrase for phrase in group if phrase != chosen)

    def is_shared(self, phrase: str) -> bool:
        """Return whether both sides contain a phrase."""
        return self._a.text.contains(phrase) and self._b.text.contains(phrase)


def _leave_out_unlisted(ranked_phrases: Sequence[str], fillers: int | None) -> list[str]:
    """Return the phrases up to the last filler and, of the others, those that may be the full form of one of them."""
    listed = ranked_phrases[:fillers]
    words = {word for phrase in listed for word in phrase.split()}
    rest = [phrase for phrase in ranked_phrases[len(listed) :] if not words.isdisjoint(phrase.split())]
    parts = [f" {phrase} " for phrase in listed]
    return [*listed, *(phrase for phrase in rest if any(map(f" {phrase} ".__contains__, parts)))]
