"""Reading an embedded index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from indexer.documents import AnalysedDocument
from indexer.engines.base import (
    Groups,
    Neighbourhood,
    NeighbourhoodRequest,
    Reader,
    SearchRequest,
    SearchResult,
    Selection,
)
from indexer.engines.document_codec import may_read
from indexer.engines.embedded import fulltext_index as store
from indexer.engines.embedded import fulltext_search, query_builder
from indexer.engines.embedded.lazy_documents import TantivyShelf
from indexer.engines.embedded.neighbourhood_search import neighbourhood
from indexer.engines.embedded.open_epoch import OpenEpoch
from indexer.identifiers import is_id
from indexer.model.phrase_model import PhraseModel

if TYPE_CHECKING:
    from indexer.engines.embedded.engine import TantivyEngine

SCAN_BATCH = 500


class TantivyReader(Reader):
    def __init__(self, engine: TantivyEngine, epoch: OpenEpoch) -> None:
        self._engine, self._epoch = engine, epoch
        self.info = epoch.info()

    @property
    def model(self) -> PhraseModel:  # type: ignore[override]  # read once asked for, the same for every reader
        return self._epoch.model

    def fetch(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        self._engine.requests += 1
        wanted = [name for name in dict.fromkeys(ids) if is_id(name)]
        found = store.fetch(self._epoch.state().searcher, self._epoch.schema, wanted)
        return [_readable(found.get(name), groups) for name in ids]

    def fetch_lightly(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        forward, state = self._epoch.forward, self._epoch.state()
        if forward is None or not state.agrees:
            return self.fetch(ids, groups)
        self._engine.requests += 1
        wanted = [name for name in dict.fromkeys(ids) if is_id(name)]
        read = partial(store.fetch, state.searcher, self._epoch.schema)
        numbers = state.snapshot.unchanged(wanted)
        numbers[numbers >= 0] = np.where(forward.coded(numbers[numbers >= 0]), numbers[numbers >= 0], -1)
        light = np.flatnonzero(numbers >= 0).tolist()
        shelf = TantivyShelf(
            forward, self._epoch.graph, self.model, self._epoch.row,
            [wanted[i] for i in light], numbers[light], read,
        )  # fmt: skip
        found = {document.document.id: document for document in shelf.documents()}
        found |= read([name for name in wanted if name not in found])
        return [_readable(found.get(name), groups) for name in ids]

    def scan(self, groups: Groups = None) -> Iterator[AnalysedDocument]:
        ids = self._epoch.state().snapshot.sorted_ids()
        for first in range(0, len(ids), SCAN_BATCH):
            for analysed in self.fetch(ids[first : first + SCAN_BATCH], groups):
                if analysed is not None:
                    yield analysed

    def readable(self, groups: Groups, most: int) -> list[str]:
        self._engine.requests += 1
        query = query_builder.selection_query(self._epoch.schema, Selection(), groups)
        return fulltext_search.first_ids(self._epoch.state().searcher, query, most)

    def facet_names(self, groups: Groups = None) -> list[str]:
        self._engine.requests += 1
        query = query_builder.selection_query(self._epoch.schema, Selection(), groups)
        return fulltext_search.facet_names(self._epoch.state().searcher, query)

    def page(self, request: SearchRequest) -> SearchResult:
        self._engine.requests += 1
        searcher = self._epoch.state().searcher
        query = query_builder.selection_query(self._epoch.schema, request.selection, request.groups)
        total, hits = fulltext_search.page(searcher, query, request)
        return SearchResult(
            total,
            tuple(hits),
            {name: fulltext_search.count_facet(searcher, query, name) for name in request.facets},
            {interval: fulltext_search.count_dates(searcher, query, interval) for interval in request.histograms},
        )

    def neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        self._engine.requests += 1
        return neighbourhood(self._epoch.state().snapshot, self._epoch.row, request)


def _readable(document: AnalysedDocument | None, groups: Groups) -> AnalysedDocument | None:
    return document if document is not None and may_read(document.document.acl, groups) else None
