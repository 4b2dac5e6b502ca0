"""The words of a query: what is searched for, and what a document is said to contain or to lack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from indexer.documents import Document
from indexer.model.phrase_model import PhraseModel
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.stopwords import mark_stopwords
from indexer.text.tokenizer import lemmatize_text, locate_tokens


class QueryWord(NamedTuple):
    """A word of a query."""

    written: str
    lemma: str
    """Two lemmas with a space between them if the index splits the word (``wifi`` where documents write "Wi-Fi")."""


def list_lemmas(words: Iterable[QueryWord]) -> tuple[str, ...]:
    """Return the lemmas of the words one by one, as documents have them."""
    return tuple(lemma for word in words for lemma in word.lemma.split())


def split_query(text: str, model: PhraseModel) -> list[QueryWord]:
    """Return the words of a query in its order, without function words unless it has nothing else.

    Nearly every document contains a function word, so that it says nothing about any of them.
    """
    words = _read_words(text, model.lemmatizer)
    lemmas = [word.lemma for word in words]
    frequency = np.array([model.get_word_frequency(lemma) for lemma in lemmas], dtype=np.int32)
    is_function_word = mark_stopwords(lemmas, frequency, model.document_count, model.lemmatizer.language)
    return [word for word, is_function in zip(words, is_function_word, strict=True) if not is_function] or words


def _read_words(text: str, lemmatizer: Lemmatizer) -> list[QueryWord]:
    """Return the words as they are written: the two tokens of a split word are one."""
    words: list[QueryWord] = []
    last_start, last_end = 0, 0
    tokens = zip(
        locate_tokens(Document(id="", text=text), lemmatizer), lemmatize_text(text, lemmatizer).split(), strict=True
    )
    for (_, start, end), lemma in tokens:
        if words and lemmatizer.get_split(text[last_start:end]) == start - last_start and start == last_end:
            words[-1] = QueryWord(text[last_start:end], f"{words[-1].lemma} {lemma}")
        else:
            words.append(QueryWord(text[start:end], lemma))
        last_start, last_end = start, end
    return words
