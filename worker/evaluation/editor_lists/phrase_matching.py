"""When a phrase shown says what the editor's phrase says.

Words are compared as lemmas of the index. *Exactly*: the same sequence of words, of the phrase as displayed or of one
merged into it. *Nearly*: the displayed phrase has half of the words of both in common (Jaccard), function words left
out. Every exact match is also a near one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.documents import PAIR_SEPARATOR
from indexer.model.phrase_model import PhraseModel
from indexer.text.tokenizer import lemmatize_text
from worker.evaluation.query_answers import list_function_words

NEAR = 0.5
EXACT = 2.0
"""Similarity of the same sequence of words, above that of any other two phrases."""


@dataclass(frozen=True, slots=True)
class PhraseWords:
    """The words of a phrase as lemmas."""

    sequence: tuple[str, ...]
    content: frozenset[str]
    """Without function words, unless there are no others."""


class PhraseReader:
    """Reads the words of phrases by the analysis of one index."""

    def __init__(self, model: PhraseModel) -> None:
        self._lemmatizer = model.lemmatizer
        self._function_words = list_function_words(model)

    def read(self, phrase: str) -> PhraseWords:
        """Return the words of a phrase as a text has it, as it is displayed, or as lemmas."""
        words = tuple(lemmatize_text(phrase.replace(PAIR_SEPARATOR, " "), self._lemmatizer).split())
        return PhraseWords(words, frozenset(words) - self._function_words or frozenset(words))


def compare_readings(shown: Sequence[PhraseWords], phrase: PhraseWords) -> float:
    """Return ``EXACT`` or the share of all content words that both have.

    ``shown``: the words of an entry as displayed, then of the phrases merged into it.
    """
    if any(words.sequence == phrase.sequence for words in shown):
        return EXACT
    displayed = shown[0].content
    return len(displayed & phrase.content) / max(len(displayed | phrase.content), 1)


def count_matches(shown: Sequence[Sequence[PhraseWords]], editor: Sequence[PhraseWords]) -> int:
    """Return how many entries, the first ones first, are near one of the editor's phrases that no other has taken.

    An entry takes the nearest phrase that is left.
    """
    left = list(editor)
    for readings in shown:
        best = max(left, key=lambda phrase: compare_readings(readings, phrase), default=None)
        if best is not None and compare_readings(readings, best) >= NEAR:
            left.remove(best)
    return len(editor) - len(left)
