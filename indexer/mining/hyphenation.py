"""Words that a corpus writes both with a hyphen and without ("Wi-Fi", "wifi"): both spellings become the same tokens.

The spelling that is more frequent decides, over all inflections of the word: if it is "email", then "e-mails" is one
token; if it is "multi-task", then "multitask" is two, and meets "multi task" as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints, csr_starts
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.stopwords import ENGLISH_STOPWORDS
from indexer.text.tokenizer import Mark

MIN_LETTERS = 4
"""Letters of the word written together: two parts of one or two letters are too often another word ("s-p", "sp")."""


def choose_hyphenated_words(
    pair_counts: Iterable[tuple[str, str, int]], word_counts: Mapping[str, int], lemmatizer: Lemmatizer
) -> dict[str, str]:
    """Return entries for the table of a ``Lemmatizer``: ``e-mail`` -> ``email``, or ``multitask`` -> ``multi task``.

    ``pair_counts`` has two words with a hyphen between them and their occurrences, ``word_counts`` the occurrences of
    single words, all case-folded.
    """
    seconds_of: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    words = sorted(word_counts)
    for first, second, count in pair_counts:
        if (
            count
            and _has_prefix(words, first + second[:2])  # which saves most words from being lemmatized
            and _may_be_written_together(first, second, lemmatizer.language)
        ):
            seconds_of[first, lemmatizer[first + second]][second] += count
    forms_of: dict[str, list[str]] = {lemma: [] for _, lemma in seconds_of}
    for word in words:
        if (lemma := lemmatizer[word]) in forms_of:
            forms_of[lemma].append(word)
    entries: dict[str, str] = {}
    for (first, lemma), seconds in seconds_of.items():
        written_together = {
            word.removeprefix(first): word_counts[word]
            for word in forms_of[lemma]
            if word.startswith(first) and word[len(first) :].isalpha()
        }
        if not written_together:
            continue
        if sum(written_together.values()) >= seconds.total():
            entries |= {f"{first}-{second}": first + second for second in {**seconds, **written_together}}
        else:
            entries |= {first + second: f"{first} {second}" for second in written_together}
    return entries


def _has_prefix(sorted_words: Sequence[str], prefix: str) -> bool:
    """Return whether one of the words starts with the prefix."""
    position = bisect_left(sorted_words, prefix)
    return position < len(sorted_words) and sorted_words[position].startswith(prefix)


def _may_be_written_together(first: str, second: str, language: str) -> bool:
    if len(first) + len(second) < MIN_LETTERS or not (first.isalpha() and second.isalpha()):
        return False
    return not (language == "en" and first in ENGLISH_STOPWORDS and second in ENGLISH_STOPWORDS)


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
