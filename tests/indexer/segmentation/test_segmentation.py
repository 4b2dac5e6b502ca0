"""Segmentation of a text into phrases: the best one, covering every token once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.segmentation import best_segmentation as segment_module
from indexer.segmentation.best_segmentation import find_best_segmentation
from indexer.segmentation.matcher import Matcher, Occurrences, map_tokens_to_segments, mark_uncut
from indexer.segmentation.phrase_trie import PhraseTrie

LENGTH = 12
MATCHES = st.sets(st.tuples(st.integers(0, LENGTH - 2), st.integers(2, 5)), max_size=25).map(
    lambda found: sorted((at, n) for at, n in found if at + n <= LENGTH)
)


def make_match_arrays(matches: list[tuple[int, int]], seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    gain = np.random.default_rng(seed).integers(1, 9, len(matches)) / 8
    at = np.array([at for at, _ in matches], dtype=np.int64)
    return at, np.array([n for _, n in matches], dtype=np.int64), gain


@settings(deadline=None)
@given(MATCHES, st.integers(0, 99))
def test_the_segmentation_found_is_optimal(matches: list[tuple[int, int]], seed: int) -> None:
    at, length, gain = make_match_arrays(matches, seed)
    value = {match: gain[i] for i, match in enumerate(matches)}

    @cache
    def compute_best_gain(end: int) -> float:
        if end == 0:
            return 0.0
        offers = [compute_best_gain(end - n) + value[(end - n, n)] for n in range(2, 6) if (end - n, n) in value]
        return max([compute_best_gain(end - 1), *offers])

    assert gain[find_best_segmentation(LENGTH, at, length, gain)].sum() == pytest.approx(compute_best_gain(LENGTH))


@settings(deadline=None)
@given(MATCHES, st.integers(0, 99))
def test_chosen_segments_never_overlap(matches: list[tuple[int, int]], seed: int) -> None:
    at, length, gain = make_match_arrays(matches, seed)
    covered = np.zeros(LENGTH, dtype=int)
    for start, n in zip(at[chosen := find_best_segmentation(LENGTH, at, length, gain)], length[chosen], strict=True):
        covered[start : start + n] += 1
    assert covered.max(initial=0) <= 1


@settings(deadline=None)
@given(MATCHES, st.integers(0, 99))
def test_an_occurrence_is_uncut_when_no_segment_crosses_its_ends(matches: list[tuple[int, int]], seed: int) -> None:
    at, length, gain = make_match_arrays(matches, seed)
    chosen = find_best_segmentation(LENGTH, at, length, gain)
    segments = [match for match, is_chosen in zip(matches, chosen, strict=True) if is_chosen]
    expected = [
        all(start + n <= begin or begin + size <= start or (begin <= start and start + n <= begin + size)
            for start, n in segments)
        for begin, size in matches
    ]  # fmt: skip
    found = Occurrences(at, length, np.zeros(len(at), np.int32))
    assert mark_uncut(LENGTH, found, chosen).tolist() == expected


def test_a_very_long_run_of_matches_is_split() -> None:
    tokens = 5 * segment_module.MAX_RUN_LENGTH
    at = np.arange(tokens - 1)
    chosen = find_best_segmentation(tokens, at, np.full(len(at), 2), np.ones(len(at)))
    assert chosen.sum() == tokens // 2


def make_matcher(phrases: list[list[int]], vocabulary: int, nested: bool = True) -> Matcher:
    starts = np.concatenate([[0], np.cumsum([len(p) for p in phrases])]).astype(np.int64)
    index = PhraseTrie(starts, np.array([w for p in phrases for w in p], dtype=np.int32), vocabulary)
    return Matcher(index, np.diff(starts).astype(np.float64), np.full(len(phrases), nested))


PHRASES = st.sets(st.lists(st.integers(0, 2), min_size=1, max_size=5).map(tuple), min_size=1, max_size=12).map(
    lambda found: [list(p) for p in sorted(found)]
)


@settings(deadline=None)
@given(PHRASES, st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=20))
def test_every_occurrence_is_found_and_none_crosses_a_boundary(
    phrases: list[list[int]], text: list[tuple[int, bool]]
) -> None:
    words = np.array([w for w, _ in text], dtype=np.int32)
    marks = np.array([int(b) for _, b in text] + [1], dtype=np.uint8)
    found = make_matcher(phrases, 3).find_all(words, marks)
    expected = {
        (i, p)
        for p, phrase in enumerate(phrases)
        for i in range(len(words) - len(phrase) + 1)
        if words[i : i + len(phrase)].tolist() == phrase and not marks[i + 1 : i + len(phrase)].any()
    }
    assert set(zip(found.position.tolist(), found.phrase.tolist(), strict=True)) == expected


def test_a_nested_phrase_counts_inside_a_longer_segment() -> None:
    matcher = make_matcher([[0, 1, 2], [1, 2]], 3)
    words, marks = np.array([0, 1, 2], dtype=np.int32), np.array([1, 0, 0, 1], dtype=np.uint8)
    found = matcher.find_all(words, marks)
    chosen = matcher.mark_segments(3, found)
    assert found.phrase[chosen].tolist() == [0]
    assert found.phrase[matcher.mark_counted(found, chosen, marks)].tolist() == [0, 1]


def test_what_follows_a_hyphen_is_not_counted_as_nested() -> None:
    matcher = make_matcher([[0, 1, 2], [1, 2]], 3)
    words, marks = np.array([0, 1, 2], dtype=np.int32), np.array([1, 2, 0, 1], dtype=np.uint8)
    found = matcher.find_all(words, marks)
    assert found.phrase[matcher.mark_counted(found, matcher.mark_segments(3, found), marks)].tolist() == [0]


def test_segments_cover_every_token() -> None:
    matcher = make_matcher([[0, 1], [1, 2], [2]], 3)
    words, marks = np.array([0, 1, 2], dtype=np.int32), np.array([1, 0, 0, 1], dtype=np.uint8)
    found = matcher.find_all(words, marks)
    assert (map_tokens_to_segments(3, found.select(matcher.mark_segments(3, found))) >= 0).all()
