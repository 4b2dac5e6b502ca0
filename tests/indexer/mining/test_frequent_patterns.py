"""Frequent patterns are counted right whatever the text."""

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


def encode_texts(texts: list[str]) -> EncodedCorpus:
    return encode_corpus([Document(str(i), text=text) for i, text in enumerate(texts)], "en")


def mine_patterns(corpus: EncodedCorpus, support: int) -> FrequentPatterns:
    return find_frequent_patterns(corpus.lemma_ids, corpus.marks, len(corpus.lemmas), support)


def count_naively(texts: list[str], support: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for text in texts:
        for line in lemmatize_text(text, LEMMAS).split("\n"):
            words = line.split()
            for n in range(2, MAX_LENGTH + 1):
                counts.update(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
    return {name: count for name, count in counts.items() if count >= support}


def get_pattern_words(patterns: FrequentPatterns, row: int) -> list[int]:
    words: list[int] = []
    while row >= 0:
        last = row
        while patterns.suffix[last] >= 0:
            last = patterns.suffix[last]
        words.insert(0, last)
        row = patterns.prefix[row]
    return words


def count_by_name(corpus: EncodedCorpus, patterns: FrequentPatterns) -> dict[str, int]:
    names = {}
    for n in range(2, len(patterns.level_starts)):
        rows = np.arange(patterns.level_starts[n - 1], patterns.level_starts[n])
        for row in rows.tolist():
            names[" ".join(corpus.lemmas[w] for w in get_pattern_words(patterns, row))] = int(patterns.count[row])
    return names


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 4))
def test_counts_equal_a_naive_counter(texts: list[str], support: int) -> None:
    corpus = encode_texts(texts)
    assert count_by_name(corpus, mine_patterns(corpus, support)) == count_naively(texts, support)


@settings(deadline=None)
@given(TEXTS)
def test_counting_in_parts_changes_nothing(texts: list[str]) -> None:
    corpus = encode_texts(texts)
    whole = count_by_name(corpus, mine_patterns(corpus, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns_module, "_PARTITION_SIZE", 3)
        assert count_by_name(corpus, mine_patterns(corpus, 2)) == whole


def test_no_pattern_crosses_a_boundary() -> None:
    corpus = encode_texts(["red car. blue boat"] * 5)
    assert set(count_by_name(corpus, mine_patterns(corpus, 2))) == {"red car", "blue boat"}


def test_a_hyphenated_pattern_equals_the_spaced_one() -> None:
    corpus = encode_texts(["multi-task learning", "multi task learning"])
    assert count_by_name(corpus, mine_patterns(corpus, 2))["multi task learn"] == 2


def test_prefixes_and_suffixes_are_shorter_patterns() -> None:
    corpus = encode_texts(["a b c d"] * 3)
    patterns = mine_patterns(corpus, 2)
    last = patterns.level_starts[-1] - 1
    for row in range(int(patterns.level_starts[1]), int(last) + 1):
        assert patterns.count[patterns.prefix[row]] >= patterns.count[row]
        assert patterns.count[patterns.suffix[row]] >= patterns.count[row]


def test_support_is_ten_and_less_in_a_small_corpus() -> None:
    supports = [choose_min_support(10**n) for n in range(9)]
    assert supports == sorted(supports)
    assert supports[0] == 2
    assert supports[-1] == 10


def test_an_empty_corpus_has_no_patterns() -> None:
    assert count_by_name(encode_texts([]), mine_patterns(encode_texts([]), 1)) == {}
