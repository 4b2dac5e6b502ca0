"""The words of a query: what is searched for, and what a document is said to contain or to lack."""

from __future__ import annotations

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


def split_query(text: str, model: PhraseModel, lemmatizer: Lemmatizer) -> list[QueryWord]:
    """Return the words of a query in its order, without function words unless it has nothing else.

    Nearly every document contains a function word, so that it says nothing about any of them.
    """
    spellings = [text[start:end] for _, start, end in locate_tokens(Document(id="", text=text))]
    lemmas = lemmatize_text(text, lemmatizer).split()
    ids = model.word_ids
    counts = [model.word_document_frequency[ids[lemma]] if lemma in ids else 0 for lemma in lemmas]
    frequency = np.array(counts, dtype=np.int32)
    is_function_word = mark_stopwords(lemmas, frequency, model.document_count, lemmatizer.language)
    words = list(map(QueryWord, spellings, lemmas))
    return [word for word, is_function in zip(words, is_function_word, strict=True) if not is_function] or words
