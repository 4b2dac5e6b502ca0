"""Frequent patterns: counts are right whatever the text."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import Document
from indexer.mining import frequent_patterns as patterns_module
from indexer.mining.encoded_corpus import EncodedCorpus, encode_corpus
from indexer.mining.frequent_patterns import MAX_LENGTH, FrequentPatterns, choose_min_support, find_frequent_patterns
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_text

LEMMAS = Lemmatizer("en")
TEXTS = st.lists(st.text(alphabet="abc .", max_size=40), max_size=12)


def coded(texts: list[str]) -> EncodedCorpus:
    return encode_corpus([Document(str(i), text=text) for i, text in enumerate(texts)], LEMMAS)


def mined(corpus: EncodedCorpus, support: int) -> FrequentPatterns:
    return find_frequent_patterns(corpus.lemma_ids, corpus.marks, len(corpus.lemmas), support)


def naive(texts: list[str], support: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for text in texts:
        for line in lemmatize_text(text, LEMMAS).split("\n"):
            words = line.split()
            for n in range(2, MAX_LENGTH + 1):
                counts.update(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
    return {name: count for name, count in counts.items() if count >= support}


def words_of(found: FrequentPatterns, row: int) -> list[int]:
    words: list[int] = []
    while row >= 0:
        last = row
        while found.suffix[last] >= 0:
            last = found.suffix[last]
        words.insert(0, last)
        row = found.prefix[row]
    return words


def spelled(corpus: EncodedCorpus, found: FrequentPatterns) -> dict[str, int]:
    names = {}
    for n in range(2, len(found.level_starts)):
        rows = np.arange(found.level_starts[n - 1], found.level_starts[n])
        for row in rows.tolist():
            names[" ".join(corpus.lemmas[w] for w in words_of(found, row))] = int(found.count[row])
    return names


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 4))
def test_counts_equal_a_naive_counter(texts: list[str], support: int) -> None:
    corpus = coded(texts)
    assert spelled(corpus, mined(corpus, support)) == naive(texts, support)


@settings(deadline=None)
@given(TEXTS)
def test_counting_in_parts_changes_nothing(texts: list[str]) -> None:
    corpus = coded(texts)
    whole = spelled(corpus, mined(corpus, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns_module, "_PARTITION_SIZE", 3)
        assert spelled(corpus, mined(corpus, 2)) == whole


def test_no_pattern_crosses_a_boundary() -> None:
    corpus = coded(["red car. blue boat"] * 5)
    assert set(spelled(corpus, mined(corpus, 2))) == {"red car", "blue boat"}


def test_a_hyphen_joins() -> None:
    corpus = coded(["multi-task learning", "multi task learning"])
    assert spelled(corpus, mined(corpus, 2))["multi task learn"] == 2


def test_prefixes_and_suffixes_are_shorter_patterns() -> None:
    corpus = coded(["a b c d"] * 3)
    found = mined(corpus, 2)
    last = found.level_starts[-1] - 1
    for row in range(int(found.level_starts[1]), int(last) + 1):
        assert found.count[found.prefix[row]] >= found.count[row]
        assert found.count[found.suffix[row]] >= found.count[row]


def test_support_is_ten_and_less_in_a_small_corpus() -> None:
    supports = [choose_min_support(10**n) for n in range(9)]
    assert supports == sorted(supports)
    assert supports[0] == 2
    assert supports[-1] == 10


def test_an_empty_corpus_has_no_patterns() -> None:
    assert spelled(coded([]), mined(coded([]), 1)) == {}
