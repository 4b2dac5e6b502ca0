"""The indexes of one engine, each read at its current epoch, with their analyzers and attached sources."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from indexer.documents import AnalysedDocument
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import Groups
from indexer.errors import BadSide, EpochChanged, PhraseComError
from indexer.model.query_words import list_lemmas
from indexer.vectors import read_dimensions
from worker.explain.query_match import QueryMatcher
from worker.explain.side import check_vector_dimensions, split_search_words_and_filters

if TYPE_CHECKING:
    from indexer.analysis.analyzer import Analyzer
    from indexer.engines.attached_source import AttachedSource

_SOURCE_TTL_SECONDS = 5.0
T = TypeVar("T")


class AnalyzerCache:
    """One analyzer for each index, as making one takes longer than using it; may be shared by threads."""

    def __init__(self) -> None:
        self._analyzers: dict[str, Analyzer] = {}
        self._lock = threading.Lock()

    def get(self, reader: Reader) -> Analyzer:
        """Return the analyzer for the epoch of a reader."""
        from indexer.analysis.analyzer import Analyzer

        with self._lock:
            analyzer = self._analyzers.get(reader.info.name)
            if analyzer is None or analyzer.model is not reader.model:
                analyzer = self._analyzers[reader.info.name] = Analyzer(reader.model)
            return analyzer


_ANALYZER_CACHES: WeakKeyDictionary[Engine, AnalyzerCache] = WeakKeyDictionary()


def get_analyzer_cache(engine: Engine) -> AnalyzerCache:
    """Return the analyzer cache of an engine, the same one for all its users in this process."""
    return _ANALYZER_CACHES.setdefault(engine, AnalyzerCache())


class IndexCatalog:
    """Reads the indexes of one engine, always at their current epoch."""

    def __init__(self, engine: Engine, max_set: int) -> None:
        """``max_set``: the most documents that a ``search`` side may select."""
        self.engine = engine
        self._max_set = max_set
        self._analyzers = get_analyzer_cache(engine)
        self._sources: dict[str, tuple[float, AttachedSource | None]] = {}
        self._recalled_sources: dict[str, tuple[float, AttachedSource | None]] = {}
        self._dimensions: dict[str, tuple[float, int | None]] = {}

    def open_reader(self, index: str) -> Reader:
        """Open the current epoch of an index; raise UnknownIndex if there is none."""
        return self.engine.open_reader(index)

    def run_on_reader(self, index: str, step: Callable[[Reader], T]) -> T:
        """Run a step on the current epoch, once more on the next one if it changes meanwhile."""
        try:
            return step(self.engine.open_reader(index))
        except EpochChanged:
            return step(self.engine.open_reader(index))

    def find_attached_source(self, index: str) -> AttachedSource | None:
        """Return the index that this one is attached to, if it can be searched; looked up every few seconds."""
        expires, source = self._sources.get(index, (0.0, None))
        if expires < time.monotonic():
            source = self.engine.attached_source(self.open_reader(index).info)
            self._sources[index] = (time.monotonic() + _SOURCE_TTL_SECONDS, source)
        return source

    def recall_attached_source(self, index: str) -> AttachedSource | None:
        """Return like ``find_attached_source``, or what was known last while the engine does not answer."""
        expires, source = self._recalled_sources.get(index, (0.0, None))
        if expires < time.monotonic():
            with suppress(PhraseComError):
                source = self.find_attached_source(index)
            self._recalled_sources[index] = (time.monotonic() + _SOURCE_TTL_SECONDS, source)
        return source

    def is_known_without_source(self, index: str) -> bool:
        """Return whether ``recall_attached_source`` would return None without a request."""
        expires, source = self._recalled_sources.get(index, (0.0, None))
        return source is None and expires >= time.monotonic()

    def check_vector(self, index: str, vector: bytes | None) -> None:
        """Raise BadSide for the vector of a query or a text that cannot be compared with those of an index.

        The number of dimensions is looked up every few seconds, and before a vector is refused: the index may have been
        built anew. The worker checks it again on the epoch that it reads.
        """
        if vector is None:
            return
        expires, dimensions = self._dimensions.get(index, (0.0, None))
        if expires >= time.monotonic():
            with suppress(BadSide):
                check_vector_dimensions(vector, dimensions)
                return
        dimensions = read_dimensions(self.engine.get_info(index).settings)
        self._dimensions[index] = (time.monotonic() + _SOURCE_TTL_SECONDS, dimensions)
        check_vector_dimensions(vector, dimensions)

    def get_analyzer(self, index: str) -> Analyzer:
        return self._analyzers.get(self.engine.open_reader(index))

    def make_query_matcher(self, index: str, query: str) -> QueryMatcher:
        """Return the matcher of a query, which looks into the source of an attached index."""
        return QueryMatcher(query, self.get_analyzer(index), self.find_attached_source(index))

    def search_document_versions(self, index: str, search_text: str, groups: Groups = None) -> dict[str, str]:
        """Return the content versions of the documents that a ``search`` side selects, by id; one request."""
        words, filters = split_search_words_and_filters(search_text)
        lemmas = list_lemmas(self.get_analyzer(index).split_query(words)) if words else None
        selection = replace(filters, words=lemmas)
        result = self.run_on_reader(index, lambda reader: reader.search(selection, size=self._max_set, groups=groups))
        return {hit.id: hit.document.version for hit in result.hits}

    def fetch_documents(self, index: str, ids: Sequence[str], groups: Groups = None) -> dict[str, AnalysedDocument]:
        """Return the documents that exist and may be read, by id; one request."""
        documents = self.run_on_reader(index, lambda reader: reader.fetch(ids, groups))
        return {id: document for id, document in zip(ids, documents, strict=True) if document is not None}
