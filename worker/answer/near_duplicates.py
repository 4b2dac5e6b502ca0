"""Merging of near-duplicate phrases: they become one entry of a list, which names the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from rapidfuzz.distance import Levenshtein

from indexer.documents import PAIR_SEPARATOR
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.partial_match import MIN_STEM_LENGTH, is_same_word_family
from worker.phrasing.proper_names import FullForm

MIN_SIMILARITY = 0.85
"""Levenshtein similarity from which on two phrases are spellings of one."""

_MIN_INITIALS = 3
"""Words of the shortest phrase whose initials count as its acronym even if no text says so."""


def _no_limit(rank: int) -> int:
    return sys.maxsize


def _no_full_form(phrase: str) -> None:
    return None


class NearDuplicates:
    """Merges near-duplicates in the lists of one answer, or of all answers of a page, which share many phrases."""

    def __init__(self, model: PhraseModel) -> None:
        self._model = model
        self._short_forms, self._acronyms = model.short_forms, model.acronyms
        self._forms: dict[str, _Form] = {}

    def group_near_duplicates(
        self,
        ranked_phrases: Sequence[str],
        get_entry_limit: Callable[[int], int] = _no_limit,
        find_full_form: Callable[[str], FullForm | None] = _no_full_form,
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Return each phrase that is not a near-duplicate of an earlier one, with its near-duplicates.

        A phrase is only compared with those before it, so cutting the ranked list shortens the result without changing
        what remains. ``get_entry_limit``: returns the maximum number of entries once the phrase at a rank is
        considered; the rest need not be compared with each other. ``find_full_form``: returns the full form, which is
        compared like the phrase; it is slow and called only while there is room for another entry.
        """
        merged: dict[str, list[str]] = {}
        for phrase, representative in self._pair_with_representatives(ranked_phrases, get_entry_limit, find_full_form):
            duplicates = merged.setdefault(representative, [])
            if phrase != representative:
                duplicates.append(phrase)
        return [(representative, tuple(duplicates)) for representative, duplicates in merged.items()]

    def pick_representatives(self, ranked_phrases: Sequence[str], max_count: int) -> tuple[str, ...]:
        """Return the first ``max_count`` phrases that are no near-duplicates of an earlier one."""
        pairs = self._pair_with_representatives(ranked_phrases, lambda rank: max_count, _no_full_form)
        return tuple(islice((phrase for phrase, representative in pairs if phrase == representative), max_count))

    def _pair_with_representatives(
        self,
        ranked_phrases: Sequence[str],
        get_entry_limit: Callable[[int], int],
        find_full_form: Callable[[str], FullForm | None],
    ) -> Iterator[tuple[str, str]]:
        """Yield each phrase with its representative, which may be itself; leave out those beyond the limit."""
        representatives: dict[str, list[_Form]] = {}
        for rank, phrase in enumerate(ranked_phrases):
            has_room = len(representatives) < get_entry_limit(rank)
            forms = [self._get_form(phrase)]
            representative = _find_near_representative(forms[0], representatives)
            full_form = find_full_form(phrase) if has_room and representative is None else None
            if full_form:
                forms.append(self._get_form(full_form.lemmas))
                representative = _find_near_representative(forms[1], representatives)
            if representative is None and has_room:
                representatives[phrase] = forms
                representative = phrase
            if representative is not None:
                yield phrase, representative

    def _get_form(self, phrase: str) -> _Form:
        form = self._forms.get(phrase)
        if form is None:
            words = phrase.split()
            short_forms, expansions = self._list_short_forms(phrase, words), self._expand_acronyms(words)
            form = self._forms[phrase] = _Form(phrase, words, short_forms, expansions)
        return form

    def _expand_acronyms(self, words: list[str]) -> list[frozenset[str]]:
        """Return the words of a phrase with those of a long form, for each long form of an acronym among them."""
        if self._acronyms.keys().isdisjoint(words):
            return []
        return [frozenset([*words, *form.split()]) for word in words for form in self._acronyms.get(word, ())]

    def _list_short_forms(self, phrase: str, words: list[str]) -> list[str]:
        """Return the acronyms of a phrase, and its initials if the corpus writes them in capitals."""
        acronyms = self._short_forms.get(phrase, [])
        if len(words) < _MIN_INITIALS:
            return acronyms
        initials = "".join([word[0] for word in words])
        phrase_id = self._model.phrase_ids.get(initials)
        is_acronym = phrase_id is not None and self._model.display_forms[phrase_id].isupper()
        return [*acronyms, initials] if is_acronym else acronyms


class _Form:
    """A phrase prepared for comparison, so that a cheap test distinguishes most pairs."""

    __slots__ = (
        *("expansions", "joined", "max_length", "members", "min_length"),
        *("phrase", "short_forms", "stems", "words"),
    )

    def __init__(
        self, phrase: str, words: list[str], short_forms: Sequence[str], expansions: Sequence[frozenset[str]]
    ) -> None:
        self.phrase, self.words, self.short_forms, self.expansions = phrase, words, short_forms, expansions
        self.members = frozenset(phrase.split(PAIR_SEPARATOR)) if PAIR_SEPARATOR in phrase else None
        self.stems = frozenset([word[:MIN_STEM_LENGTH] for word in self.words])
        self.joined = "".join(self.words)
        # each letter more or less is an edit; a hair wider than MIN_SIMILARITY
        self.min_length = len(self.joined) * MIN_SIMILARITY - 1e-6
        self.max_length = len(self.joined) / MIN_SIMILARITY + 1e-6

    def is_near_duplicate(self, other: _Form) -> bool:
        """Return whether one contains the other (also by word families or acronyms) or both are spellings of one."""
        if self.members or other.members:
            own_members, other_members = (form.members or {form.phrase} for form in (self, other))
            return own_members == other_members or self.phrase in other_members or other.phrase in own_members
        return (
            (self.stems <= other.stems and _contains_words(other.words, self.words))
            or (other.stems <= self.stems and _contains_words(self.words, other.words))
            or self.phrase in other.short_forms
            or other.phrase in self.short_forms
            or (self.expansions and self._covers_by_acronym(other))
            or (other.expansions and other._covers_by_acronym(self))
            or (
                self.min_length <= len(other.joined) <= self.max_length
                and Levenshtein.normalized_similarity(self.joined, other.joined, score_cutoff=MIN_SIMILARITY)
                >= MIN_SIMILARITY
            )
        )

    def _covers_by_acronym(self, other: _Form) -> bool:
        """Return whether an acronym in it stands for the other: "MT systems", "machine translation"."""
        return len(other.words) > 1 and any(words.issuperset(other.words) for words in self.expansions)


def _find_near_representative(form: _Form, representatives: Mapping[str, Sequence[_Form]]) -> str | None:
    for phrase, others in representatives.items():
        for other in others:
            if form.is_near_duplicate(other):
                return phrase
    return None


def _contains_words(long: Sequence[str], short: Sequence[str]) -> bool:
    """Return whether a phrase has each word of another or one of its family: "large language model", "large model"."""
    return all(any(word == other or is_same_word_family(word, other) for other in long) for word in short)
