"""Texts with parts of speech and noun phrases, as lists that tests can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.syntax.noun_phrases import find_noun_phrases
from indexer.syntax.tagger import tag_tokens
from indexer.syntax.tags import Tag
from indexer.syntax.word_features import load_word_feature_table, look_up_tokens
from indexer.text.tokenizer import FIELD_START_MARKS, tokenize_document


@dataclass(frozen=True)
class TaggedTexts:
    """A batch of documents with the arrays that were found for it."""

    words: list[str]
    marks: NDArray[np.uint8]
    tags: NDArray[np.uint8]
    phrase_starts: NDArray[np.int64]
    phrase_lengths: NDArray[np.int64]

    @property
    def tag_names(self) -> list[str]:
        return [Tag(tag).name for tag in self.tags]

    @property
    def phrases(self) -> list[str]:
        """Phrases with a space between words, also where a hyphen is."""
        ranges = zip(self.phrase_starts.tolist(), self.phrase_lengths.tolist(), strict=True)
        return [" ".join(self.words[start : start + length]) for start, length in ranges]


def tag_documents(documents: Sequence[Document]) -> TaggedTexts:
    """Tag documents as one batch."""
    tokenized = [tokenize_document(document) for document in documents]
    words = [word for each in tokenized for word in each.words]
    marks = np.array([mark for each in tokenized for mark in each.marks[:-1]] + [FIELD_START_MARKS], dtype=np.uint8)
    word_features = load_word_feature_table().get_features(words)
    features = look_up_tokens(word_features, np.arange(len(words)), marks)
    tags = tag_tokens(features, marks)
    return TaggedTexts(words, marks, tags, *find_noun_phrases(tags, features, marks))


def tag_text(text: str, title: str = "") -> TaggedTexts:
    return tag_documents([Document(id="1", title=title, text=text)])


def show_tags(text: str) -> str:
    """Return the words of a text with their tags: ``the/DT bank/NN``."""
    tagged = tag_text(text)
    return " ".join(f"{word}/{tag}" for word, tag in zip(tagged.words, tagged.tag_names, strict=True))
