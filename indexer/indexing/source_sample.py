"""The sample of a shared source: chosen by the ids alone, then read in the order of their hashes.

It is the sample that ``SampleSelector`` takes of the same documents.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice

import numpy as np

from indexer.defaults import DEFAULT_SAMPLE_DOCUMENTS
from indexer.documents import Document
from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.errors import BadInput
from indexer.indexing.vector_check import VectorCheck
from indexer.mining.document_sample import SampleBounds, count_text_bytes, hash_id
from indexer.progress import Progress, no_progress
from indexer.readers.shared_source import ID_PAGE_SIZE, SharedSource, SourceSlice

PLACE_INTERVAL = 16
"""Documents between two whose places are kept: slices begin at these."""
_SPARE_IDS = 1000
"""Ids kept beyond the bound, for documents that are not valid; a larger sample costs further passes over the ids."""


class SourceIds:
    """The ids of a source: how many there are, where slices may begin, and which have the smallest hashes.

    Holds 9 bytes for each document while it reads them, one afterwards, and the ids of the sample.
    """

    def __init__(
        self,
        connection: ElasticsearchConnection,
        source: SharedSource,
        bounds: SampleBounds,
        progress: Progress = no_progress,
    ) -> None:
        """Read all ids; raise BadInput if two are equal, which would be written and counted as one and as two."""
        self._connection, self._source = connection, source
        self._wanted = (bounds.documents or DEFAULT_SAMPLE_DOCUMENTS) + _SPARE_IDS
        self._places = array("q")
        self.count = 0
        hashes = array("Q")
        self._smallest = self._select_after(-1, self._watch(hashes, progress))
        ascending = np.frombuffer(hashes, dtype=np.uint64)
        ascending.sort()
        if (ascending[1:] == ascending[:-1]).any():
            raise BadInput(
                "several documents of the source have the same id: its name covers several indices, or routing put "
                "them into several shards",
                fix="leave --shared out: the first of them is then read, and the others are rejected",
            )

    def _watch(self, hashes: array[int], progress: Progress) -> Iterator[tuple[int, str]]:
        for id, place in self._source.list_places(self._connection):
            hash = hash_id(id.strip())
            hashes.append(hash)
            self.count += 1
            if self.count % PLACE_INTERVAL == 0:
                self._places.append(place)
            if self.count % ID_PAGE_SIZE == 0:
                progress("choose", self.count, 0)
            yield hash, id

    def _select_after(self, last: int, ids: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return the ids with the smallest hashes above one, and these, ascending."""
        above = (each for each in ids if each[0] > last)
        return nsmallest(self._wanted, above)

    def iterate_by_hash(self) -> Iterator[str]:
        """Yield all ids by their hashes, ascending; reads the ids again where those kept are used up."""
        selected = self._smallest
        while True:
            yield from (id for _, id in selected)
            if len(selected) < self._wanted:
                return
            places = self._source.list_places(self._connection)
            selected = self._select_after(selected[-1][0], ((hash_id(id.strip()), id) for id, _ in places))

    def split(self, max_documents: int) -> list[SourceSlice]:
        """Return slices of the source, each of this many documents, rounded to the places that are kept."""
        step = max(1, max_documents // PLACE_INTERVAL)
        starts = [None, *(self._places[step - 1 :: step])]
        if self.count % (step * PLACE_INTERVAL) == 0:  # the last place has nothing behind it
            starts.pop()
        return [SourceSlice(start, step * PLACE_INTERVAL) for start in starts]


class SourceSample:
    """Reads the sample; ``covers_all``, known at the end, is whether it has all valid documents of the source."""

    def __init__(
        self,
        connection: ElasticsearchConnection,
        source: SharedSource,
        ids: SourceIds,
        bounds: SampleBounds,
        vectors: VectorCheck,
    ) -> None:
        """``vectors``: finds the dimensions of the documents' vectors."""
        self._connection, self._source, self._ids, self._bounds = connection, source, ids, bounds
        self._vectors = vectors
        self.text_bytes = 0
        self.covers_all = False

    def __iter__(self) -> Iterator[Document]:
        for number, document in enumerate(self._vectors.keep_fitting(self._read_by_hash())):
            size = count_text_bytes(document)
            if number and not self._bounds.admit(number + 1, self.text_bytes + size):
                return
            self.text_bytes += size
            yield document
        self.covers_all = True

    def _read_by_hash(self) -> Iterator[Document]:
        ids = self._ids.iterate_by_hash()
        while batch := list(islice(ids, self._source.page_size)):
            yield from self._source.read_documents(self._connection, batch)
