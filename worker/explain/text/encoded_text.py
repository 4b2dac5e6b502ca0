"""The words of a side as ids of the model's vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import overload

import numpy as np
from numpy.typing import NDArray

from indexer.engines.lazy_documents import EncodedLines
from indexer.model.phrase_model import PhraseModel
from indexer.model.topic_space import CountedWords

MIN_WORDS_FOR_ID_SEARCH = 5000
"""From this many words on, ids are searched faster than strings."""


class EncodedText:
    """The words of some documents with their ids: those of the model, then new ones for words it does not know."""

    def __init__(self, tokens: Sequence[str], model: PhraseModel, ignored: frozenset[str] = frozenset()) -> None:
        """``tokens``: the tokens string of each document; ``ignored``: words that count as unknown to the model."""
        self.tokens = tokens
        self.ignored = ignored
        self._model = model
        self._unknown_words: dict[str, int] = {}

    @cached_property
    def _texts(self) -> list[list[str]]:
        return [text.split() for text in self.tokens]

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of all documents, one document after another."""
        return self._texts[0] if len(self._texts) == 1 else list(chain.from_iterable(self._texts))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each document, shape (documents,)."""
        return np.array(list(map(len, self._texts)), dtype=np.int64)

    @cached_property
    def word_count(self) -> int:
        """Words of all documents."""
        return int(self.lengths.sum())

    @cached_property
    def word_ids(self) -> NDArray[np.int64]:
        """Id of each word, shape (words,)."""
        known_ids, first_new = self._model.word_ids, len(self._model.words)
        ids = np.fromiter(map(known_ids.get, self.words, repeat(-1)), dtype=np.int64, count=len(self.words))
        if self.ignored:
            ids[[word in self.ignored for word in self.words]] = -1
        for i in np.flatnonzero(ids < 0).tolist():
            ids[i] = first_new + self._unknown_words.setdefault(self.words[i], len(self._unknown_words))
        return ids

    def get_word_id(self, word: str) -> int:
        """Return the id of a word that occurs in the text."""
        known_id = None if word in self.ignored else self._model.word_ids.get(word)
        return len(self._model.words) + self._unknown_words[word] if known_id is None else known_id

    @cached_property
    def word_counts(self) -> Mapping[str, int]:
        """Occurrences of each word."""
        if self.word_count < MIN_WORDS_FOR_ID_SEARCH:
            return Counter(self.words)
        counts = np.bincount(self.word_ids)
        ids = np.flatnonzero(counts)
        known_words = list(map(self._model.words.__getitem__, ids[ids < len(self._model.words)].tolist()))
        return dict(zip([*known_words, *self._unknown_words], counts[ids].tolist(), strict=True))

    @cached_property
    def counted_words(self) -> CountedWords:
        """Its distinct words; to topics, all that the model does not know are the same."""
        words, unknown = self.word_counts, len(self._model.words)
        ids = np.fromiter(map(self._model.word_ids.get, words, repeat(unknown)), dtype=np.int64, count=len(words))
        if self.ignored:
            ids[[word in self.ignored for word in words]] = unknown
        order = np.argsort(ids)
        return CountedWords(ids[order], np.array(list(words.values()), dtype=np.int64)[order], self.word_count)

    @cached_property
    def line_ends(self) -> NDArray[np.bool_] | None:
        """Whether a line ends after each word but the last, shape (words - 1,).

        None if words are separated by anything but one space or one line end.
        """
        text = "\n".join(filter(None, self.tokens))
        characters = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        separators = characters[characters <= ord(" ")]
        ends = separators == ord("\n")
        is_plain = len(separators) + 1 == len(self.words) and bool((ends | (separators == ord(" "))).all())
        return ends if is_plain else None

    @cached_property
    def word_ids_with_line_ends(self) -> NDArray[np.int64] | None:
        """Ids of the words with a -1 after each line; None if ``line_ends`` is."""
        return None if self.line_ends is None else np.insert(self.word_ids, np.flatnonzero(self.line_ends) + 1, -1)


class PreencodedText(EncodedText):
    """Encoded text of documents whose word ids the engine stores: nothing is split or looked up."""

    def __init__(self, tokens: Sequence[str], model: PhraseModel, lines: EncodedLines) -> None:
        super().__init__(tokens, model)
        self._lines = lines

    @cached_property
    def word_ids(self) -> NDArray[np.int64]:
        return self._lines.word_ids[self._lines.word_ids >= 0]

    @property
    def words(self) -> Sequence[str]:
        return LazyWords(self.word_ids, self._model.words)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return self._lines.word_counts

    @property
    def word_ids_with_line_ends(self) -> NDArray[np.int64]:
        return self._lines.word_ids


class LazyWords(Sequence[str]):
    """Words kept as ids until one is read, as only a few methods read them; then all are decoded at once."""

    def __init__(self, word_ids: NDArray[np.int64], vocabulary: Sequence[str]) -> None:
        self._word_ids, self._vocabulary = word_ids, vocabulary

    def __len__(self) -> int:
        return len(self._word_ids)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._decoded[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded)

    @cached_property
    def _decoded(self) -> list[str]:
        return list(map(self._vocabulary.__getitem__, self._word_ids.tolist()))
