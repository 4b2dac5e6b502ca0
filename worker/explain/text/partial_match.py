"""How far a text contains a phrase: occurrences, BM25 of its words, or a partial match in other words.

A partial match is the share of the phrase's words that the text contains, each weighted by its rarity (idf):

* a word that occurs counts 1, and so does a part that is written together or apart ("meta learning" in
  "metalearning") or that an acronym stands for ("RL" for "reinforcement learning");
* a word of the same family ("personalise", "personalisation") counts ``FAMILY_WEIGHT``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import ceil
from operator import mul
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR_SEPARATOR
from indexer.model.bm25 import compute_tf_saturation, split_phrase_words
from indexer.model.phrase_model import PhraseModel
from indexer.text.phrase_search import find_pair_starts_and_lengths
from worker.explain.text.encoded_text import EncodedText
from worker.explain.text.ngram_counts import NgramCounter, make_ngram_counter

FAMILY_WEIGHT = 0.8
"""Match of a word of which only another word of the same family occurs."""
MIN_STEM_LENGTH = 4
"""Letters that words of a family share at their beginning; one more unless one word is the beginning of the other."""
_MIN_STEM_SHARE = 0.6
"""Share of the longer of two words of a family that they have in common."""
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


class SideText:
    """The words of one side: whether, how often and how far they contain a phrase.

    Results are cached per phrase and word, as the hits of a page share many of them.
    """

    def __init__(
        self, encoded_text: EncodedText, model: PhraseModel, known_counts: Mapping[str, int] = NO_COUNTS
    ) -> None:
        """``known_counts``: occurrences of some phrases, which are stored with a document."""
        self._encoded_text = encoded_text
        self._model = model
        self._acronyms = _select_acronyms(model.acronyms, encoded_text.ignored)
        self._phrase_counts = dict(known_counts)
        self._contained = dict.fromkeys(known_counts, True)
        self._phrase_matches: dict[str, float] = {}
        self._word_matches: dict[str, float] = {}
        self._word_weights: dict[str, float] = {}
        """BM25 of words of the text."""
        self.word_counts = encoded_text.word_counts
        self._vocabulary = frozenset(self.word_counts)

    def count(self, phrase: str) -> int:
        """Return how often the phrase's token sequence occurs, nested and overlapping occurrences included."""
        count = self._phrase_counts.get(phrase)
        if count is None:
            count = self._phrase_counts[phrase] = self._count_occurrences(phrase)
        return count

    def _count_occurrences(self, phrase: str) -> int:
        if phrase in self._vocabulary:
            return self.word_counts[phrase]
        if PAIR_SEPARATOR in phrase:
            return sum(len(find_pair_starts_and_lengths(phrase, tokens)) for tokens in self._encoded_text.tokens)
        words = phrase.split()
        return self._ngrams.count(words) if len(words) > 1 and self._vocabulary.issuperset(words) else 0

    def contains(self, phrase: str) -> bool:
        """Return whether the phrase occurs, which in a large set is found much faster than how often."""
        is_contained = self._contained.get(phrase)
        if is_contained is None:
            is_contained = self._contained[phrase] = self._is_phrase_present(phrase)
        return is_contained

    def _is_phrase_present(self, phrase: str) -> bool:
        if PAIR_SEPARATOR in phrase:
            return self.count(phrase) > 0
        words = phrase.split()
        if len(words) < 2 or not self._vocabulary.issuperset(words):
            return phrase in self._vocabulary
        return self._ngrams.contains(words)

    def compute_partial_matches(self, phrases: Sequence[str]) -> NDArray[np.float64]:
        """Return the partial match of each phrase, in [0, 1], shape (phrases,)."""
        new = {phrase: split_phrase_words(phrase) for phrase in phrases if phrase not in self._phrase_matches}
        words = list(set(chain.from_iterable(new.values())))
        rarity = dict(zip(words, self._get_idf(words).tolist(), strict=True))
        self._phrase_matches.update([(phrase, self._match_words(own, rarity)) for phrase, own in new.items()])
        return np.array([self._phrase_matches[phrase] for phrase in phrases], dtype=np.float64)

    def _get_idf(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the rarity of each word, shape (words,)."""
        known_ids, unknown_id = self._model.word_ids, len(self._model.words)
        return self._model.word_idf[np.array([known_ids.get(word, unknown_id) for word in words], dtype=np.int64)]

    def contains_any_word(self, phrase: str) -> bool:
        return not self._vocabulary.isdisjoint(split_phrase_words(phrase))

    def compute_word_bm25(self, phrases: Iterable[str]) -> NDArray[np.float64]:
        """Return the summed BM25 of each phrase's words against the side as one text, shape (phrases,).

        The words count whether or not the phrase itself occurs.
        """
        words_by_phrase = [split_phrase_words(phrase) for phrase in phrases]
        weights = self._word_weights
        new = self._vocabulary.intersection(chain.from_iterable(words_by_phrase)).difference(weights)
        if new:
            counts = [self.word_counts[word] for word in new]
            saturation = compute_tf_saturation(counts, self._encoded_text.word_count, self._model.average_length)
            weights.update(zip(new, (self._get_idf(list(new)) * saturation).tolist(), strict=True))
        sums = [sum([weights.get(word, 0.0) for word in words]) for words in words_by_phrase]
        return np.array(sums, dtype=np.float64)

    @cached_property
    def _ngrams(self) -> NgramCounter:
        return make_ngram_counter(self._encoded_text)

    def _match_words(self, words: list[str], rarity: Mapping[str, float]) -> float:
        """Return the partial match of a phrase of these words; ``rarity``: the idf of each."""
        if self._contains_variant(words):
            return 1.0
        matches = [self._match_word(word) for word in words]
        for position in self._find_acronym_positions(words):
            matches[position] = 1.0
        if not any(matches):
            return 0.0
        weights = [rarity[word] for word in words]
        total = sum(weights)
        return sum(map(mul, weights, matches)) / total if total > 0 else 0.0

    def _match_word(self, word: str) -> float:
        match = self._word_matches.get(word)
        if match is None:
            match = 1.0 if word in self._vocabulary else FAMILY_WEIGHT if self._has_related_word(word) else 0.0
            self._word_matches[word] = match
        return match

    def _has_related_word(self, word: str) -> bool:
        return any(is_same_word_family(word, other) for other in self._words_by_stem.get(word[:MIN_STEM_LENGTH], ()))

    def _contains_variant(self, words: list[str]) -> bool:
        """Return whether the words occur together or apart, as their acronym, or as the long form of an acronym."""
        letters = "".join(words)
        if self._ngrams.may_contain_letters(letters) and self._contains_joined(letters, max_parts=3):
            return True
        if len(words) == 1 and words[0] in self._acronyms and any(map(self.contains, self._acronyms[words[0]])):
            return True
        return bool(self._long_forms) and " ".join(words) in self._long_forms

    def _contains_joined(self, letters: str, max_parts: int, before: str = "") -> bool:
        """Return whether ``letters`` occur as one word or as up to ``max_parts`` adjacent ones, after ``before``."""
        if letters[:2] not in self._word_beginnings and letters[:1] not in self._vocabulary:
            return False
        if letters in self._vocabulary and (not before or self.contains(f"{before} {letters}")):
            return True
        if max_parts < 2:
            return False
        for end in range(1, len(letters)):
            head = letters[:end]
            if head in self._vocabulary:
                words_before = f"{before} {head}".lstrip()
                if self._contains_joined(letters[end:], max_parts - 1, words_before):
                    return True
        return False

    def _find_acronym_positions(self, words: list[str]) -> set[int]:
        """Return positions of words that an acronym in the text stands for, or whose long form occurs in it."""
        covered: set[int] = set()
        if self._long_form_words.isdisjoint(words) and self._acronyms.keys().isdisjoint(words):
            return covered
        for start, word in enumerate(words):
            if word in self._acronyms and any(map(self.contains, self._acronyms[word])):
                covered.add(start)
            if self._long_forms:
                for end in range(start + 2, len(words) + 1):
                    if " ".join(words[start:end]) in self._long_forms:
                        covered.update(range(start, end))
        return covered

    @cached_property
    def _long_forms(self) -> frozenset[str]:
        """Long forms of the acronyms in the text; most sides have few or none."""
        acronyms = self._acronyms.keys() & self._vocabulary
        return frozenset([long.replace("\n", " ") for short in acronyms for long in self._acronyms[short]])

    @cached_property
    def _word_beginnings(self) -> frozenset[str]:
        """The first two letters of every word."""
        return frozenset([word[:2] for word in self.word_counts])

    @cached_property
    def _long_form_words(self) -> frozenset[str]:
        return frozenset([word for form in self._long_forms for word in form.split()])

    @cached_property
    def _words_by_stem(self) -> dict[str, list[str]]:
        by_stem: defaultdict[str, list[str]] = defaultdict(list)
        for word in self.word_counts:
            if len(word) >= MIN_STEM_LENGTH:
                by_stem[word[:MIN_STEM_LENGTH]].append(word)
        return by_stem


def _select_acronyms(acronyms: Mapping[str, list[str]], ignored: frozenset[str]) -> Mapping[str, list[str]]:
    """Return the acronyms of which neither the short nor the long form has a word that counts as unknown."""
    if not ignored:
        return acronyms
    known = {short: longs for short, longs in acronyms.items() if short not in ignored}
    return {short: [long for long in longs if ignored.isdisjoint(long.split())] for short, longs in known.items()}


def is_same_word_family(first_word: str, second_word: str) -> bool:
    """Return whether two words look like one family: whether they share a long enough beginning."""
    shorter, longer = sorted((first_word, second_word), key=len)
    if longer.startswith(shorter):
        return len(shorter) >= max(MIN_STEM_LENGTH, _MIN_STEM_SHARE * len(longer))
    # "bread" and "break" share as much as "bank" and "banker", but neither is the beginning of the other
    needed = max(MIN_STEM_LENGTH + 1, ceil(_MIN_STEM_SHARE * len(longer)))
    return first_word[:needed] == second_word[:needed]
