"""The words of a side as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import overload

import numpy as np
from numpy.typing import NDArray

from indexer.engines.shelf import Words
from indexer.model.phrase_model import PhraseModel

MANY = 5000
"""From so many words on numbers are faster than the words as they stand."""


class Coded:
    """Words of some documents: numbered as in the model, those it has never seen after them."""

    def __init__(self, tokens: Sequence[str], model: PhraseModel) -> None:
        """``tokens``: the tokens string of each document."""
        self.tokens = tokens
        self._model = model
        self._unseen: dict[str, int] = {}

    @cached_property
    def _texts(self) -> list[list[str]]:
        return [text.split() for text in self.tokens]

    @cached_property
    def words(self) -> Sequence[str]:
        """One after another."""
        return self._texts[0] if len(self._texts) == 1 else list(chain.from_iterable(self._texts))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each document, shape (documents,)."""
        return np.array(list(map(len, self._texts)), dtype=np.int64)

    @cached_property
    def size(self) -> int:
        """How many words there are."""
        return int(self.lengths.sum())

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
        if self.size < MANY:
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

    @cached_property
    def lined(self) -> NDArray[np.int64] | None:
        """Numbers of the words, -1 at the end of each line; None where ``gaps`` is."""
        return None if self.gaps is None else np.insert(self.numbers, np.flatnonzero(self.gaps) + 1, -1)


class Numbered(Coded):
    """The same of documents whose words an engine keeps as numbers: nothing needs to be split or looked up."""

    def __init__(self, tokens: Sequence[str], model: PhraseModel, known: Words) -> None:
        super().__init__(tokens, model)
        self._known = known

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        return self._known.lined[self._known.lined >= 0]

    @property
    def words(self) -> Sequence[str]:
        return Spelled(self.numbers, self._model.words)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self._known.lengths

    @property
    def lined(self) -> NDArray[np.int64]:
        return self._known.lined


class Spelled(Sequence[str]):
    """Words that stay numbers until somebody reads them: few methods do."""

    def __init__(self, numbers: NDArray[np.int64], names: Sequence[str]) -> None:
        self._numbers, self._names = numbers, names

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        return self._spelled[at]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelled)

    @cached_property
    def _spelled(self) -> list[str]:
        return list(map(self._names.__getitem__, self._numbers.tolist()))
