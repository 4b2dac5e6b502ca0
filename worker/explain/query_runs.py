"""Runs of a query: sequences of its words that a hit contains word for word, such as "rfc 2822" of "rfc 2822 date".

Too few documents may contain a run for the miner to know it, but who typed its words in this order meant it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import compress, dropwhile

import numpy as np

from indexer.model.phrase_model import PhraseModel
from indexer.text.stopwords import mark_stopwords
from worker.explain.resolved_side import ResolvedSide

MAX_QUERY_WORDS = 100
"""A query of more is a text, of which a run says little; and each of its words costs a search in every hit."""


def find_query_runs(query: ResolvedSide, hit: ResolvedSide) -> tuple[str, ...]:
    """Return the whole query if the hit contains it, else its longest runs of two words or more, in their order.

    Function words do not count, nor do they begin or end a run, but for those of a whole query.
    """
    if query.kind != "query" or hit.kind not in ("document", "text"):
        return ()
    lines = [line.split() for line in query.encoded_text.tokens[0].split("\n")]
    words = [word for line in lines for word in line]
    if not 0 < len(words) <= MAX_QUERY_WORDS:
        return ()
    function_words = _find_function_words(words, query.reader.model)
    whole = " ".join(words)
    if len(lines) == 1 and whole not in function_words and hit.text.contains(whole):
        return (whole,)
    runs = (_strip_words(run, function_words) for line in lines for run in _find_longest_runs(line, hit))
    return tuple(dict.fromkeys(" ".join(run) for run in runs if len(set(run) - function_words) > 1))


def _find_function_words(words: list[str], model: PhraseModel) -> set[str]:
    frequency = np.array([model.get_word_frequency(word) for word in words], dtype=np.int32)
    flags = mark_stopwords(words, frequency, model.document_count, model.lemmatizer.language)
    return set(compress(words, flags.tolist()))


def _find_longest_runs(words: Sequence[str], hit: ResolvedSide) -> Iterator[Sequence[str]]:
    """Yield the runs that are not part of a longer one; each word begins and ends one search at most."""
    end = 0
    for start in range(len(words)):
        end = first_end = max(end, start)
        while end < len(words) and hit.text.contains(" ".join(words[start : end + 1])):
            end += 1
        if end > first_end:
            yield words[start:end]


def _strip_words(run: Sequence[str], words: Set[str]) -> list[str]:
    """Return a run without those of the words that begin or end it."""
    kept = list(dropwhile(words.__contains__, run))
    return list(dropwhile(words.__contains__, reversed(kept)))[::-1]
