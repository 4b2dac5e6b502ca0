"""Sides -> documents: one fetch for all ids, a search for each ``search`` side, analysis of queries and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexer.analysis.analyzer import Analyzer
from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Reader
from indexer.engines.search_types import Groups
from indexer.errors import BadSide, TooLarge, UnknownDocument
from indexer.model.query_words import list_lemmas
from indexer.vectors import read_dimensions
from worker.explain.query_side import analyse_query
from worker.explain.resolved_side import AD_HOC_KINDS, ResolvedSide
from worker.explain.side import Side, check_vector_dimensions, split_search_words_and_filters
from worker.explain.side_limits import SideLimits

MIN_LAZY_DOCUMENTS = 100
"""From this many documents on they are fetched lazily, as most are read only in part."""
AD_HOC_ID = ""
"""The document id of a text that is not in the index."""


def resolve_sides(
    reader: Reader,
    sides: Sequence[Side],
    *,
    limits: SideLimits,
    groups: Groups = None,
    analyzer: Analyzer | None = None,
) -> list[ResolvedSide]:
    """Fetch, search or analyse the documents of every side; equal sides share one ResolvedSide.

    All documents named by id are fetched in one request. Raise TooLarge, UnknownDocument, or BadSide if a search
    selects nothing or a vector has another length than those of the index.
    """
    for side in sides:
        limits.check_side(side)
        check_vector_dimensions(side.vector, read_dimensions(reader.info.settings))
    ids = list(dict.fromkeys(id for side in sides for id in side.ids))
    fetch = reader.fetch if len(ids) < MIN_LAZY_DOCUMENTS else reader.fetch_lazy
    fetched = dict(zip(ids, fetch(ids, groups), strict=True)) if ids else {}
    missing = [id for id, document in fetched.items() if document is None]
    if missing:
        raise UnknownDocument(reader.info.name, *missing)
    by_id = {id: document for id, document in fetched.items() if document is not None}
    ad_hoc = [side for side in dict.fromkeys(sides) if side.kind in AD_HOC_KINDS]
    analysed = _analyse_texts(reader, ad_hoc, groups, analyzer) if ad_hoc else {}
    resolved: dict[Side, ResolvedSide] = {}
    for side in sides:
        if side not in resolved:
            if side.ids:
                documents = tuple(by_id[id] for id in side.ids)
            elif side in analysed:
                documents = (analysed[side],)
            else:
                documents = _search_documents(reader, side, limits, groups, analyzer or Analyzer(reader.model))
            resolved[side] = ResolvedSide(side, documents, reader, groups)
    return [resolved[side] for side in sides]


def _analyse_texts(
    reader: Reader, sides: Sequence[Side], groups: Groups, analyzer: Analyzer | None
) -> dict[Side, AnalysedDocument]:
    """Analyse the texts and queries among the sides.

    For a caller with limited groups they are analysed as if the model had only the phrases of documents that the
    caller may read (one more request): neither a phrase nor the way a text is split confirms a guess about others.
    """
    analyzer = analyzer or Analyzer(reader.model)
    documents = [Document(id=AD_HOC_ID, text=side.words) for side in sides]
    allowed = None
    if groups is not None:
        phrases = analyzer.find_phrases(documents)
        counts = reader.count_holders(phrases, groups) if phrases else []
        allowed = frozenset(phrase for phrase, count in zip(phrases, counts, strict=True) if count)
    analysed: dict[Side, AnalysedDocument] = {}
    for side, document in zip(sides, documents, strict=True):
        if side.kind == "query":
            analysed[side] = analyse_query(document, reader.model, allowed)
        else:
            analysed[side] = analyzer.analyse(document, allowed)
    return analysed


def _search_documents(
    reader: Reader, side: Side, limits: SideLimits, groups: Groups, analyzer: Analyzer
) -> tuple[AnalysedDocument, ...]:
    words, selection = split_search_words_and_filters(side.words)
    lemmas = list_lemmas(analyzer.split_query(words)) if words else None
    result = reader.search(replace(selection, words=lemmas), size=limits.max_documents, groups=groups)
    if result.total > limits.max_documents:
        raise TooLarge(
            f"search:{side.words} matches {result.total} documents, the limit is {limits.max_documents}",
            fix="narrow it, for example with date:2011-03-11..2011-03-14",
        )
    if not result.hits:
        raise BadSide(f"search:{side.words} matches no document", fix="use fewer words or filters")
    return tuple(hit.document for hit in result.hits)
