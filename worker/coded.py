"""The words of a side as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from indexer.phrases.model import PhraseModel

MANY = 5000
"""From so many words on numbers are faster than the words as they stand."""


class Coded:
    """Words of some documents: numbered as in the model, those it has never seen after them."""

    def __init__(self, tokens: Sequence[str], model: PhraseModel) -> None:
        """``tokens``: the tokens string of each document."""
        texts = [text.split() for text in tokens]
        self.tokens = tokens
        self.words: list[str] = texts[0] if len(texts) == 1 else list(chain.from_iterable(texts))
        """One after another."""
        self.lengths = np.array(list(map(len, texts)), dtype=np.int64)
        """Words of each document, shape (documents,)."""
        self._model = model
        self._unseen: dict[str, int] = {}

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Of each word, shape (words,)."""
        known, first = self._model.word_ids, len(self._model.words)
        numbers = np.fromiter(map(known.get, self.words, repeat(-1)), dtype=np.int64, count=len(self.words))
        for at in np.flatnonzero(numbers < 0).tolist():
            numbers[at] = first + self._unseen.setdefault(self.words[at], len(self._unseen))
        return numbers

    def number(self, word: str) -> int:
        """Of a word that is among these."""
        known = self._model.word_ids.get(word)
        return len(self._model.words) + self._unseen[word] if known is None else known

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How often each word occurs."""
        if len(self.words) < MANY:
            return Counter(self.words)
        counts = np.bincount(self.numbers)
        held = np.flatnonzero(counts)
        known = len(self._model.words)
        names = list(map(self._model.words.__getitem__, held[held < known].tolist()))
        return dict(zip([*names, *self._unseen], counts[held].tolist(), strict=True))

    @cached_property
    def gaps(self) -> NDArray[np.bool_] | None:
        """Whether a line ends after each word but the last, shape (words - 1,).

        None where something else than one space or line end stands between words.
        """
        text = "\n".join(filter(None, self.tokens))
        letters = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        between = letters[letters <= ord(" ")]
        ends = between == ord("\n")
        plain = len(between) + 1 == len(self.words) and bool((ends | (between == ord(" "))).all())
        return ends if plain else None
