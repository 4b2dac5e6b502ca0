"""Words that a corpus writes both with a hyphen and without ("Wi-Fi", "wifi"): both spellings become the same tokens.

The spelling that is more frequent decides, over all inflections of the word: if it is "email", then "e-mails" is one
token; if it is "multi-task" or "multi task", then "multitask" is two. So three "stateof" do not change each
"state-of-the-art", and "hate-speech" stays "hate speech" where that is how most documents write it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints, csr_starts
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.stopwords import ENGLISH_STOPWORDS
from indexer.text.tokenizer import Mark

MIN_LETTERS = 4
"""Letters of the word written together: two parts of one or two letters are too often another word ("s-p", "sp")."""

WordPair = tuple[str, str]
"""Two words next to each other, case-folded."""


class HyphenCounts(NamedTuple):
    """Occurrences of two words with a hyphen between them."""

    alone: int
    in_chains: int
    """Within a longer chain: "state-of" in "state-of-the-art"."""


@dataclass
class _HyphenatedWord:
    """A word with all its inflections; the part after the hyphen stands for each."""

    first: str
    hyphenated: Counter[str] = field(default_factory=Counter)
    chained: Counter[str] = field(default_factory=Counter)
    together: Counter[str] = field(default_factory=Counter)

    def list_pairs(self) -> set[WordPair]:
        return {(self.first, second) for second in (*self.hyphenated, *self.together)}

    def list_table_entries(self, spaced_count: int) -> dict[str, str]:
        """Return the entries that make all spellings alike, none where only chains would decide."""
        together, apart = self.together.total(), self.hyphenated.total() + spaced_count
        if together >= apart + self.chained.total():
            return {f"{first}-{second}": first + second for first, second in self.list_pairs()}
        if together < apart:
            return {self.first + second: f"{self.first} {second}" for second in self.together}
        return {}


def choose_hyphenated_words(
    pair_counts: Iterable[tuple[WordPair, HyphenCounts]],
    word_counts: Mapping[str, int],
    count_spaced_pairs: Callable[[set[WordPair]], Mapping[WordPair, int]],
    lemmatizer: Lemmatizer,
) -> dict[str, str]:
    """Return entries for the table of a ``Lemmatizer``: ``e-mail`` -> ``email``, or ``multitask`` -> ``multi task``.

    ``word_counts`` has the occurrences of single words, case-folded; ``count_spaced_pairs`` counts how often two words
    have nothing but white space between them.
    """
    words = _find_words_written_together(pair_counts, word_counts, lemmatizer)
    pairs = {pair for word in words for pair in word.list_pairs()}
    # a function word has its own reasons to stand there: "in line" is no spelling of "inline"
    spaced = count_spaced_pairs({pair for pair in pairs if not _count_function_words(pair, lemmatizer.language)})
    entries: dict[str, str] = {}
    for word in words:
        entries |= word.list_table_entries(sum(spaced.get(pair, 0) for pair in word.list_pairs()))
    return entries


def _find_words_written_together(
    pair_counts: Iterable[tuple[WordPair, HyphenCounts]], word_counts: Mapping[str, int], lemmatizer: Lemmatizer
) -> list[_HyphenatedWord]:
    """Return the words with a hyphen, not only in chains, that the corpus also writes without."""
    hyphenated_words: dict[tuple[str, str], _HyphenatedWord] = {}
    words = sorted(word_counts)
    for (first, second), counts in pair_counts:
        # the prefix saves most words from being lemmatized
        if _has_prefix(words, first + second[:2]) and _may_be_written_together((first, second), lemmatizer.language):
            word = hyphenated_words.setdefault((first, lemmatizer[first + second]), _HyphenatedWord(first))
            word.hyphenated[second] += counts.alone
            word.chained[second] += counts.in_chains
    forms_of: dict[str, list[str]] = {lemma: [] for _, lemma in hyphenated_words}
    for form in words:
        if (lemma := lemmatizer[form]) in forms_of:
            forms_of[lemma].append(form)
    for (first, lemma), word in hyphenated_words.items():
        for form in forms_of[lemma]:
            if form.startswith(first) and form[len(first) :].isalpha():
                word.together[form.removeprefix(first)] = word_counts[form]
    return [word for word in hyphenated_words.values() if word.together and word.hyphenated.total()]


def _has_prefix(sorted_words: Sequence[str], prefix: str) -> bool:
    """Return whether one of the words starts with the prefix."""
    position = bisect_left(sorted_words, prefix)
    return position < len(sorted_words) and sorted_words[position].startswith(prefix)


def _may_be_written_together(pair: WordPair, language: str) -> bool:
    is_long = len("".join(pair)) >= MIN_LETTERS
    return is_long and all(map(str.isalpha, pair)) and _count_function_words(pair, language) < 2


def _count_function_words(pair: WordPair, language: str) -> int:
    return sum(word in ENGLISH_STOPWORDS for word in pair) if language == "en" else 0


class TokenArrays(NamedTuple):
    """Tokens of some documents, as in ``EncodedCorpus``."""

    surface_ids: NDArray[np.int32]
    marks: NDArray[np.uint8]
    """Marks before each token, shape (tokens,)."""
    lengths: Ints
    """Tokens of each document."""
    piece_lengths: NDArray[np.int32] | None


@dataclass(frozen=True)
class TokenRewriter:
    """Joins and splits the tokens of encoded documents as ``tokenize_document`` does with the table."""

    joined_pairs: Mapping[int, int]
    """First surface id << 32 | second -> id of both with a hyphen between them."""
    first_parts: NDArray[np.int32]
    """Id of the first part of each surface form that is two tokens, otherwise -1; shape (surfaces,)."""
    second_parts: NDArray[np.int32]
    first_lengths: NDArray[np.int32]
    """Characters of the first part."""

    def rewrite(self, tokens: TokenArrays) -> TokenArrays:
        """Return the tokens of whole documents after joining and splitting."""
        surface_ids, marks, lengths, piece_lengths = tokens
        joined, joined_ids = self._find_joined(surface_ids, marks)
        is_split = self.first_parts[surface_ids] >= 0
        is_split[joined] = is_split[joined - 1] = False
        split = np.flatnonzero(is_split)
        repeats = np.ones(len(surface_ids), dtype=np.int64)
        repeats[joined], repeats[split] = 0, 2
        changed = surface_ids.copy()
        changed[joined - 1], changed[split] = joined_ids, self.first_parts[surface_ids[split]]
        index = np.repeat(np.arange(len(surface_ids)), repeats)
        second = np.flatnonzero(index[1:] == index[:-1]) + 1
        new_ids, new_marks = changed[index], marks[index]
        new_ids[second] = self.second_parts[surface_ids[split]]
        new_marks[second] = (new_marks[second] & Mark.TITLE) | Mark.HYPHEN
        new_lengths = np.diff(csr_starts(repeats)[csr_starts(lengths)])
        if piece_lengths is not None:
            piece_lengths = self._rewrite_pieces(tokens, piece_lengths, joined, split)
        return TokenArrays(new_ids, new_marks, new_lengths, piece_lengths)

    def _find_joined(self, surface_ids: NDArray[np.int32], marks: NDArray[np.uint8]) -> tuple[Ints, NDArray[np.int32]]:
        """Return the tokens that are joined to the one before, and the ids of both together."""
        joined, ids = [-1], []
        positions, pairs = find_hyphenated_pairs(surface_ids, marks)
        for position, pair in zip(positions.tolist(), pairs.tolist(), strict=True):
            if pair in self.joined_pairs and joined[-1] != position - 1:
                joined.append(position)
                ids.append(self.joined_pairs[pair])
        return np.array(joined[1:], dtype=np.int64), np.array(ids, dtype=np.int32)

    def _rewrite_pieces(
        self, tokens: TokenArrays, piece_lengths: NDArray[np.int32], joined: Ints, split: Ints
    ) -> NDArray[np.int32]:
        document = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        is_in_title = (tokens.marks & Mark.TITLE) != 0
        piece = 2 * (np.arange(len(document)) + document) + np.where(is_in_title, 1, 2)
        lengths = piece_lengths.copy()
        lengths[piece[joined - 1]] += lengths[piece[joined] - 1] + lengths[piece[joined]]
        repeats = np.ones(len(lengths), dtype=np.int64)
        repeats[piece[joined] - 1] = repeats[piece[joined]] = 0
        repeats[piece[split]] = 3
        new_lengths = np.repeat(lengths, repeats)
        start = np.cumsum(repeats)[piece[split]] - 3
        first_lengths = self.first_lengths[tokens.surface_ids[split]]
        new_lengths[start], new_lengths[start + 1] = first_lengths, 0
        new_lengths[start + 2] -= first_lengths
        return new_lengths


def find_hyphenated_pairs(surface_ids: NDArray[np.int32], marks: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Return the tokens after a hyphen, and both surface forms around it: first id << 32 | second id."""
    positions = np.flatnonzero((marks & Mark.HYPHEN) != 0)
    return positions, surface_ids[positions - 1].astype(np.int64) << 32 | surface_ids[positions]
