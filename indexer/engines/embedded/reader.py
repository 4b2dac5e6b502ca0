"""Reader of an embedded index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from tantivy import Query

from indexer.documents import AnalysedDocument
from indexer.engines.base import Reader
from indexer.engines.embedded import fulltext_index, fulltext_search, query_builder
from indexer.engines.embedded.document_columns import EmbeddedColumns
from indexer.engines.embedded.neighbourhood_search import count_holders, find_neighbourhood
from indexer.engines.embedded.open_epoch import EpochState, OpenEpoch, report_damage
from indexer.engines.embedded.vector_search import find_nearest
from indexer.engines.rank_fusion import (
    FusedHit,
    choose_words_window,
    fuse_ranks,
    is_unlimited,
    make_vector_selection,
    ranks_by_words,
)
from indexer.engines.search_types import (
    Groups,
    Hit,
    Neighbourhood,
    NeighbourhoodRequest,
    SearchRequest,
    SearchResult,
    Selection,
    may_read,
)
from indexer.identifiers import is_document_id
from indexer.model.phrase_model import PhraseModel

if TYPE_CHECKING:
    from indexer.engines.embedded.engine import EmbeddedEngine

SCAN_BATCH_DOCUMENTS = 500


class EmbeddedReader(Reader):
    """Reads one epoch; its open files are shared with the other readers of the epoch."""

    def __init__(self, engine: EmbeddedEngine, epoch: OpenEpoch) -> None:
        self._engine, self._epoch = engine, epoch
        self.info = epoch.current_info()

    @property
    def model(self) -> PhraseModel:  # type: ignore[override]  # loaded on first use, shared by all readers
        return self._epoch.model

    @report_damage
    def fetch(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        self._engine.request_count += 1
        valid_ids = [id for id in dict.fromkeys(ids) if is_document_id(id)]
        state = self._epoch.current_state()
        documents = state.find_remembered(valid_ids)
        missing_ids = [id for id in valid_ids if id not in documents]
        documents |= fulltext_index.fetch_documents(state.searcher, self._epoch.schema, missing_ids)
        return [_keep_readable(documents.get(id), groups) for id in ids]

    @report_damage
    def fetch_lazy(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        forward_index, state = self._epoch.forward_index, self._epoch.current_state()
        if forward_index is None or not state.is_in_step:
            return self.fetch(ids, groups)
        self._engine.request_count += 1
        valid_ids = [id for id in dict.fromkeys(ids) if is_document_id(id)]
        read_documents = partial(fulltext_index.fetch_documents, state.searcher, self._epoch.schema)
        numbers = state.snapshot.find_unchanged_numbers(valid_ids)
        unchanged = np.flatnonzero(numbers >= 0)
        lazy = unchanged[forward_index.has_words(numbers[unchanged])].tolist()
        columns = EmbeddedColumns(
            self._epoch, forward_index, [valid_ids[i] for i in lazy], numbers[lazy], read_documents
        )
        documents = {document.document.id: document for document in columns.build_documents()}
        documents |= read_documents([id for id in valid_ids if id not in documents])
        return [_keep_readable(documents.get(id), groups) for id in ids]

    @report_damage
    def _iterate_live_ids(self) -> Iterator[str]:
        return self._epoch.current_state().snapshot.iterate_live_ids()

    @report_damage
    def _read_ids(self, ids: Iterator[str]) -> list[str]:
        return list(islice(ids, SCAN_BATCH_DOCUMENTS))

    def scan(self, groups: Groups = None) -> Iterator[AnalysedDocument]:
        ids = self._iterate_live_ids()
        while batch := self._read_ids(ids):
            for analysed in self.fetch(batch, groups):
                if analysed is not None:
                    yield analysed

    @report_damage
    def readable_ids(self, groups: Groups, limit: int) -> list[str]:
        self._engine.request_count += 1
        query = query_builder.build_selection_query(self._epoch.schema, Selection(), groups)
        return fulltext_search.list_first_ids(self._epoch.current_state().searcher, query, limit)

    @report_damage
    def facet_names(self, groups: Groups = None) -> list[str]:
        self._engine.request_count += 1
        query = query_builder.build_selection_query(self._epoch.schema, Selection(), groups)
        return fulltext_search.list_facet_names(self._epoch.current_state().searcher, query)

    @report_damage
    def count_holders(self, phrases: Sequence[str], groups: Groups = None) -> list[int]:
        self._engine.request_count += 1
        return count_holders(self._epoch.current_state().snapshot, self._epoch.find_phrase_row, phrases, groups)

    @report_damage
    def search_page(self, request: SearchRequest) -> SearchResult:
        self._engine.request_count += 1
        state = self._epoch.current_state()
        query = query_builder.build_selection_query(self._epoch.schema, request.selection, request.groups)
        if request.vector is not None:
            return self._search_page_by_vector(request, state, query)
        total, hits = fulltext_search.search_page(state.searcher, query, request)
        return _make_result(request, state, query, total, hits)

    def _search_page_by_vector(self, request: SearchRequest, state: EpochState, words_query: Query) -> SearchResult:
        """Return a page of the documents nearest to a vector, merged with those that ``words_query`` finds, if any."""
        schema, searcher = self._epoch.schema, state.searcher
        nearest = self._find_nearest(request, state)
        nearest_ids = [id for id, _ in nearest]
        union = query_builder.build_terms_query(schema, "id", nearest_ids)
        if ranks_by_words(request.selection):
            words_ids = fulltext_search.rank_ids(searcher, words_query, choose_words_window(request))
            found = fuse_ranks(words_ids, nearest_ids)
            union = query_builder.build_union_query(words_query, union)
        else:
            found = [FusedHit(id, score, frozenset({"vector"})) for id, score in nearest]
        page = found[request.offset : request.offset + request.size]
        documents = fulltext_index.fetch_documents(searcher, schema, [hit.id for hit in page])
        hits = [
            Hit(id, score, document, found_by)
            for id, score, found_by in page
            if (document := _keep_readable(documents.get(id), request.groups)) is not None
        ]
        return _make_result(request, state, union, fulltext_search.count_matches(searcher, union), hits)

    def _find_nearest(self, request: SearchRequest, state: EpochState) -> list[tuple[str, float]]:
        """Return ids and scores of the documents nearest to the vector that the caller may read and that match.

        The search is exact for a caller with limited groups and for one with filters: a document that does not count
        must not keep another one out of the list.
        """
        assert request.vector is not None, "called for a search by a vector"
        snapshot, selection = state.snapshot, make_vector_selection(request)
        allowed, is_filtered = snapshot.mask_visible(request.groups), not is_unlimited(selection)
        if is_filtered:
            query = query_builder.build_selection_query(self._epoch.schema, selection, request.groups)
            numbers = snapshot.find_document_numbers(fulltext_search.list_matching_ids(state.searcher, query))
            matching = np.zeros(snapshot.size, dtype=np.bool_)
            matching[numbers[numbers >= 0]] = True
            allowed = matching if allowed is None else matching & allowed
        is_exact = is_filtered or request.groups is not None
        return find_nearest(snapshot, self._epoch.vectors, request.vector, allowed, is_exact=is_exact)

    @report_damage
    def find_neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        self._engine.request_count += 1
        epoch, snapshot = self._epoch, self._epoch.current_state().snapshot
        return find_neighbourhood(snapshot, epoch.find_phrase_row, request)


def _make_result(
    request: SearchRequest, state: EpochState, query: Query, total: int, hits: Sequence[Hit]
) -> SearchResult:
    """Return the hits with the counts of all that ``query`` matches, and remember them."""
    state.remember_page([hit.document for hit in hits])
    return SearchResult(
        total,
        tuple(hits),
        {name: fulltext_search.count_facet_values(state.searcher, query, name) for name in request.facets},
        {interval: fulltext_search.count_by_date(state.searcher, query, interval) for interval in request.histograms},
    )


def _keep_readable(document: AnalysedDocument | None, groups: Groups) -> AnalysedDocument | None:
    """Return the document if these groups may read it, else None."""
    return document if document is not None and may_read(document.document.acl, groups) else None
