"""Searches by meaning: the vector of a text, for an index whose vectors were made from texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexer.engines.search_types import Groups, TextQuery, VectorQuery
from indexer.errors import BadParameter
from indexer.model.query_words import list_lemmas, split_query
from indexer.vectors import read_text_dimensions

if TYPE_CHECKING:
    from indexer.engines.base import Reader

_MAX_PHRASE_WORDS = 5
"""Words of the longest phrase."""
_MAX_WORDS = 1000
"""Words of a text that its vector is made from."""


def build_vector_query(query: TextQuery, reader: Reader, groups: Groups) -> VectorQuery:
    """Return the search by a vector that a search by meaning is.

    For a caller with limited groups, words that are in no phrase of a document the caller may read count as words that
    the index does not have (one more request). Raise BadParameter if this installation has other word vectors than the
    one that built the index.
    """
    vectors = reader.model.text_vectors
    if vectors.dimensions != read_text_dimensions(reader.info.settings):
        raise BadParameter(
            f"index {reader.info.name!r} was built with other word vectors than this version has",
            fix=f"run: phrasecom refresh --index {reader.info.name}",
        )
    lemmas = list_lemmas(split_query(query.text, reader.model))[:_MAX_WORDS]
    unreadable = frozenset[str]() if groups is None else _find_unreadable_words(lemmas, reader, groups)
    vector = vectors.embed_query(lemmas, unreadable)
    if not vector.any():
        return VectorQuery(b"", query.k, query.num_candidates, query.filter)
    floor = vectors.measure_floor(vector)
    return VectorQuery(vector.astype("<f4").tobytes(), query.k, query.num_candidates, query.filter, floor)


def _find_unreadable_words(lemmas: Sequence[str], reader: Reader, groups: Groups) -> frozenset[str]:
    """Return the words that are in no phrase of the text that a document these groups may read holds."""
    spans = (
        " ".join(lemmas[start:end])
        for start in range(len(lemmas))
        for end in range(start + 1, min(start + _MAX_PHRASE_WORDS, len(lemmas)) + 1)
    )
    phrases = [phrase for phrase in dict.fromkeys(spans) if phrase in reader.model.phrase_ids]
    counts = reader.count_holders(phrases, groups) if phrases else []
    readable = {word for phrase, count in zip(phrases, counts, strict=True) if count for word in phrase.split()}
    return frozenset(lemmas) - readable
