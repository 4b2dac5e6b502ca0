"""The words of a query that stand in a document, each with its first place, and those that do not.

A word stands in a document of an index of ours when its lemma does. In an attached index the source decides, with its
own analyzers; a document that the source no longer has as it was attached is judged by our copy.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from indexer.analysis.analyzer import Analyzer
from indexer.documents import AnalysedDocument
from indexer.engines.attached_source import AttachedSource, SourceAccess, WordPlaces
from indexer.engines.search_types import Groups
from indexer.errors import PhraseComError
from indexer.text.phrase_search import find_phrase
from indexer.text.tokenizer import Span
from worker.explain.neighbourhood import SidePair
from worker.explain.resolved_side import ResolvedSide
from worker.explain.text.spans import DocumentSpans

log = logging.getLogger(__name__)

MAX_QUERY_WORDS = 500
"""Words that are looked up: a query of more is a text, of which nobody reads a list of words."""


@dataclass(frozen=True, slots=True)
class MatchedWord:
    """A word of a query at its first place in a document, title before text."""

    word: str
    """As the query writes it."""
    written: str
    """As the document writes it there."""
    field: str
    start: int
    end: int
    id: str | None = None
    """The document, if there are several."""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"word": self.word, "as": self.written}
        if self.id is not None:
            out["id"] = self.id
        return out | {"field": self.field, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class QueryMatch:
    """The words of a query, by whether a document contains them."""

    matched: tuple[MatchedWord, ...] = ()
    """The rarest word of the index first."""
    lacks: tuple[str, ...] = ()
    """In the order of the query."""

    def to_dict(self) -> dict[str, Any]:
        return {"matched": [word.to_dict() for word in self.matched], "lacks": list(self.lacks)}


class QueryMatcher:
    """Looks up the words of one query in documents of one index."""

    def __init__(self, query: str, analyzer: Analyzer, source: AttachedSource | None = None) -> None:
        """``source``: the index that the documents were attached from."""
        distinct = {word.written.casefold(): word for word in reversed(analyzer.split_query(query))}
        in_order = islice(reversed(distinct.values()), MAX_QUERY_WORDS)
        self._lemma_by_word = {word.written: word.lemma for word in in_order}
        model = analyzer.model
        frequency = {
            word: min(map(model.get_word_frequency, lemma.split())) for word, lemma in self._lemma_by_word.items()
        }
        self._by_rarity = sorted(frequency, key=frequency.__getitem__)
        self._lemmatizer = model.lemmatizer
        self._source = source

    def match_documents(self, documents: Sequence[AnalysedDocument], groups: Groups = None) -> list[QueryMatch]:
        """Return the match of each document, on behalf of a caller who may read them.

        Documents of an attached index are looked up in the source, all in one request.
        """
        return self.match_located_documents([DocumentSpans(one, self._lemmatizer) for one in documents], groups)

    def match_located_documents(self, documents: Sequence[DocumentSpans], groups: Groups) -> list[QueryMatch]:
        """Return what ``match_documents`` does; the tokens of each document are located once, also for other uses."""
        places = self._find_in_source([one.document for one in documents], groups)
        return [self._match_document(one, places.get(one.document.document.id)) for one in documents]

    def match_side(self, side: ResolvedSide) -> QueryMatch:
        """Return the match of a text, or of a set: the first document that contains a word gives its place."""
        matched: dict[str, MatchedWord] = {}
        missing = dict(self._lemma_by_word)
        if len(side.documents) > 1:
            missing = {word: lemma for word, lemma in missing.items() if side.text.contains(lemma)}
        for spans in side.spans:
            if not missing:
                break
            for word, span in _find_first_spans(missing, spans).items():
                matched[word] = _make_matched_word(word, spans.document, span, spans.document.document.id or None)
                del missing[word]
        return self._sort_words(matched)

    def _match_document(self, document: DocumentSpans, places: Mapping[str, Span | None] | None) -> QueryMatch:
        """``places``: of the words that the source finds, None where it does not say where; None: it was not asked."""
        unplaced = self._lemma_by_word
        if places is not None:
            unplaced = {word: lemma for word, lemma in unplaced.items() if word in places and places[word] is None}
        spans = {**(places or {}), **_find_first_spans(unplaced, document)}
        matched = {
            word: _make_matched_word(word, document.document, span) for word, span in spans.items() if span is not None
        }
        return self._sort_words(matched, without_place=spans.keys() - matched.keys())

    def _sort_words(self, matched: Mapping[str, MatchedWord], without_place: Set[str] = frozenset()) -> QueryMatch:
        lacks = (word for word in self._lemma_by_word if word not in matched and word not in without_place)
        return QueryMatch(tuple(matched[word] for word in self._by_rarity if word in matched), tuple(lacks))

    def _find_in_source(self, documents: Sequence[AnalysedDocument], groups: Groups) -> Mapping[str, WordPlaces]:
        """Return the places of the words in each document that the source has as we have it, by id."""
        if self._source is None or not documents or not self._lemma_by_word:
            return {}
        try:
            access = None
            if groups is not None:
                access = SourceAccess(groups, [one.document.id for one in documents], self._source.fetch_guard())
            return self._source.find_words(list(self._lemma_by_word), [one.document for one in documents], access)
        except PhraseComError as error:
            log.warning("words are looked up in our copy of an attached index: %s: %s", error.code, error)
            return {}


def _make_matched_word(word: str, document: AnalysedDocument, span: Span, id: str | None = None) -> MatchedWord:
    field, start, end = span
    return MatchedWord(word, getattr(document.document, field)[start:end], field, start, end, id)


def _find_first_spans(lemma_by_word: Mapping[str, str], document: DocumentSpans) -> dict[str, Span]:
    """Return the first place of each word whose lemma (or two lemmas in a row) the document contains."""
    if not lemma_by_word:
        return {}
    lemmas = document.lemmas
    first_positions = dict(zip(reversed(lemmas), reversed(range(len(lemmas))), strict=True))
    first_positions |= {
        lemma: position
        for lemma in lemma_by_word.values()
        if " " in lemma
        for position in find_phrase(lemma, document.document.tokens, max_count=1)
    }
    found = {word: first_positions[lemma] for word, lemma in lemma_by_word.items() if lemma in first_positions}
    spans = {word: document.locate(first, lemma_by_word[word].count(" ") + 1) for word, first in found.items()}
    return {word: span for word, span in spans.items() if span is not None}


def match_pairs(
    pairs: Sequence[SidePair], analyzer: Analyzer, source: AttachedSource | None, groups: Groups
) -> list[QueryMatch | None]:
    """Return the match of each pair that has a query on one side, None for the others.

    ``source``: the index that theirs was attached to, which is sent one request for each query.
    """
    sides_by_query: dict[str, dict[int, ResolvedSide]] = {}
    for position, pair in enumerate(pairs):
        for query, other in ((pair.a, pair.b), (pair.b, pair.a)):
            if query.kind == "query" and other.kind != "query":
                sides_by_query.setdefault(query.side.words, {})[position] = other
    matches: dict[int, QueryMatch] = {}
    for query_text, sides in sides_by_query.items():
        matcher = QueryMatcher(query_text, analyzer, source)
        documents = {position: side.spans[0] for position, side in sides.items() if side.kind == "document"}
        matches |= zip(documents, matcher.match_located_documents(list(documents.values()), groups), strict=True)
        matches |= {position: matcher.match_side(side) for position, side in sides.items() if side.kind != "document"}
    return [matches.get(position) for position in range(len(pairs))]
