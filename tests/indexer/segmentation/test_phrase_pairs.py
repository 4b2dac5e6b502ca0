"""Phrase pairs: phrases that occur close together."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.mining.model_builder import FREQUENT_WORD_DOCUMENTS, mask_frequent_single_words
from indexer.segmentation.phrase_pairs import MAX_CHANCE_MEETINGS, count_close_pairs
from indexer.segmentation.phrase_set import PhraseSet
from indexer.text.phrase_search import PAIR_WINDOW

SEGMENTS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(0, 3)), max_size=60).map(
    lambda segments: sorted({(d, at): p for d, at, p in segments}.items())
)


def find_pairs_naively(segments: list[tuple[tuple[int, int], int]]) -> set[tuple[int, int, int, int]]:
    positions: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for (document, at), phrase in segments:
        positions[(document, phrase)].append(at)
    pairs = set()
    for (document, first), first_positions in positions.items():
        for (second_document, second), second_positions in positions.items():
            if second_document == document and first < second:
                near = [
                    sum(any(abs(i - j) <= PAIR_WINDOW for j in b) for i in a)
                    for a, b in ((first_positions, second_positions), (second_positions, first_positions))
                ]
                if min(near) > MAX_CHANCE_MEETINGS:
                    pairs.add((document, first, second, min(near)))
    return pairs


@settings(deadline=None)
@given(SEGMENTS)
def test_pairs_equal_a_naive_count(segments: list[tuple[tuple[int, int], int]]) -> None:
    document = np.array([d for (d, _), _ in segments], dtype=np.int64)
    position = np.array([at + 100 * d for (d, at), _ in segments], dtype=np.int64)
    phrase = np.array([p for _, p in segments], dtype=np.int32)
    columns = count_close_pairs(document, position, phrase)
    assert set(zip(*(column.tolist() for column in columns), strict=True)) == find_pairs_naively(segments)


def test_three_cooccurrences_do_not_make_a_pair() -> None:
    phrase = np.array([0, 1] * 3, dtype=np.int32)
    assert len(count_close_pairs(np.zeros(6, dtype=np.int64), np.arange(6), phrase)[0]) == 0
    phrase = np.array([0, 1] * 4, dtype=np.int32)
    assert [column.tolist() for column in count_close_pairs(np.zeros(8, dtype=np.int64), np.arange(8), phrase)] == [
        [0],
        [0],
        [1],
        [4],
    ]


def test_only_single_words_of_many_documents_are_frequent() -> None:
    zeros = np.zeros(4)
    phrases = PhraseSet(np.array([0, 1, 3, 4, 5]), np.array([0, 0, 0, 1, 2], np.int32), zeros, zeros, zeros > 0)
    frequency = np.array([60, 50, FREQUENT_WORD_DOCUMENTS], np.int32)
    assert mask_frequent_single_words(phrases, frequency, 1000).tolist() == [True, False, False, False]
    assert mask_frequent_single_words(phrases, frequency, 100).tolist() == [True, False, True, False]
