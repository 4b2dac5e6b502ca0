"""Find phrases in a tokens string (lemmas joined by spaces, a newline at each boundary that no phrase crosses)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.documents import PAIR_SEPARATOR, Document
from indexer.int_arrays import Ints
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import Span, locate_tokens

PAIR_WINDOW = 10
"""Largest distance, in words, between the members of a phrase pair."""


def find_occurrences(phrase: str, tokens: str) -> list[int]:
    """Return the token positions where a phrase begins, overlapping occurrences included.

    For a phrase pair: where one of its members begins with the other at most ``PAIR_WINDOW`` words away.
    """
    if PAIR_SEPARATOR in phrase:
        return [start for start, _ in find_pair_starts_and_lengths(phrase, tokens)]
    return find_phrase(phrase, tokens)


def find_phrase(phrase: str, tokens: str, max_count: int | None = None) -> list[int]:
    """Return the token positions where a phrase (not a pair) begins, the first ``max_count`` of them (None: all).

    Nothing is found of an empty phrase or of one with a boundary (newline) in it.
    """
    starts: list[int] = []
    position = counted = 0
    index = tokens.find(phrase) if phrase and "\n" not in phrase else -1
    while index >= 0 and len(starts) != max_count:
        position += tokens.count(" ", counted, index) + tokens.count("\n", counted, index)
        counted, end = index, index + len(phrase)
        if (index == 0 or tokens[index - 1] in " \n") and (end == len(tokens) or tokens[end] in " \n"):
            starts.append(position)
        index = tokens.find(phrase, index + 1)
    return starts


def find_pair_starts_and_lengths(pair: str, tokens: str) -> list[tuple[int, int]]:
    """Return where a member of a pair begins with the other at most ``PAIR_WINDOW`` words away, and its word count."""
    first, _, second = pair.partition(PAIR_SEPARATOR)
    if first not in tokens or second not in tokens:
        return []
    starts = [np.array(find_phrase(member, tokens), dtype=np.int64) for member in (first, second)]
    lengths: dict[int, int] = {}
    for member, own, others in ((first, starts[0], starts[1]), (second, starts[1], starts[0])):
        for start in own[_mark_within_window(own, others, PAIR_WINDOW)].tolist():
            lengths.setdefault(start, len(member.split()))
    return sorted(lengths.items())


def _mark_within_window(positions: Ints, other_positions: Ints, window: int) -> NDArray[np.bool_]:
    """Return which ``positions`` have one of ``other_positions`` (both ascending) at most ``window`` away."""
    if not len(other_positions):
        return np.zeros(len(positions), dtype=bool)
    after = np.searchsorted(other_positions, positions)
    right = other_positions[np.minimum(after, len(other_positions) - 1)]
    left = other_positions[np.maximum(after - 1, 0)]
    return np.asarray(np.minimum(np.abs(right - positions), np.abs(left - positions)) <= window)


def locate_token_sequences(
    document: Document, positions: Sequence[int], token_count: int, lemmatizer: Lemmatizer
) -> list[Span]:
    """Return the spans, in the original fields, of sequences of ``token_count`` tokens that begin at ``positions``."""
    spans = locate_tokens(document, lemmatizer)
    return [
        (spans[i][0], spans[i][1], spans[i + token_count - 1][2]) for i in positions if i + token_count <= len(spans)
    ]
