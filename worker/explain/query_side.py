"""A query as a side: a very short text, of which every phrase takes part, not only the salient ones."""

from __future__ import annotations

from collections.abc import Collection

from indexer.documents import AnalysedDocument, Document, SalientPhrase
from indexer.model.bm25 import Bm25Scorer
from indexer.model.phrase_model import PhraseModel
from indexer.text.tokenizer import lemmatize_document, locate_tokens

_MAX_PHRASE_WORDS = 5
"""Words of the longest phrase."""
_MAX_SPANS = 3
"""Spans kept for each phrase."""
MAX_QUERY_PHRASES = 500
"""Phrases that take part: an answer compares every two of them. A query of more is a text, or an attack."""


def analyse_query(query: Document, model: PhraseModel, allowed: Collection[str] | None = None) -> AnalysedDocument:
    """Return the query with every phrase of the model that occurs in it, nested ones and single words included.

    The salience of each is its BM25 weight relative to the largest. Of a long query the heaviest
    ``MAX_QUERY_PHRASES`` take part. ``allowed``: the only phrases to find; None for all.
    """
    tokens = lemmatize_document(query, model.lemmatizer)
    known_phrases = model.phrase_ids if allowed is None else allowed
    occurrences: dict[str, list[tuple[int, int]]] = {}
    position = 0
    for line in tokens.split("\n"):
        words = line.split()
        for start in range(len(words)):
            for end in range(start + 1, min(start + _MAX_PHRASE_WORDS, len(words)) + 1):
                phrase = " ".join(words[start:end])
                if phrase in known_phrases:
                    occurrences.setdefault(phrase, []).append((position + start, position + end - 1))
        position += len(words)
    phrases = tuple(occurrences)
    weights = Bm25Scorer(model).score_phrases(tokens.split(), phrases).tolist()
    largest = max(weights, default=1.0)
    spans = locate_tokens(query, model.lemmatizer)
    salient = [
        SalientPhrase(
            phrase,
            weight / largest,
            len(ranges),
            tuple((spans[i][0], spans[i][1], spans[j][2]) for i, j in ranges[:_MAX_SPANS]),
        )
        for phrase, weight, ranges in sorted(
            zip(phrases, weights, occurrences.values(), strict=True), key=lambda row: (-row[1], row[0])
        )[:MAX_QUERY_PHRASES]
    ]
    return AnalysedDocument(
        query, tokens, phrases, tuple(weights), tuple(salient), float(sum(weights)), query.compute_version()
    )
