"""The documents that phrases are mined from where all of them would not fit into memory.

They are those whose ids have the smallest hashes, so the same documents give the same sample in whatever order they
come, and a document that is added changes at most the few that it displaces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from indexer.documents import Document

NO_LIMIT = 0


@dataclass(frozen=True, slots=True)
class SampleBounds:
    """How large a sample may be; NO_LIMIT for any size."""

    documents: int = NO_LIMIT
    text_bytes: int = NO_LIMIT
    """Bytes of the titles and texts."""

    def admit(self, documents: int, text_bytes: int) -> bool:
        """Return whether a sample of this size is within the bounds."""
        return (not self.documents or documents <= self.documents) and (
            not self.text_bytes or text_bytes <= self.text_bytes
        )


class SampleSelector:
    """Selects the sample of a stream of documents; holds a few numbers for each document of the sample."""

    def __init__(self, bounds: SampleBounds) -> None:
        self._bounds = bounds
        self._heap: list[tuple[int, int, int]] = []
        """Negative hash, negative number and size of each selected document: the largest hash is first."""
        self._text_bytes = 0
        self._seen = 0
        self._displaced: tuple[int, int] | None = None
        """Hash and number of the document with the smallest ones that did not fit; no larger one is selected."""

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the documents as they are, and consider each of them."""
        for document in documents:
            self._consider(document)
            yield document

    @property
    def covers_all(self) -> bool:
        """Whether all documents are selected."""
        return self._displaced is None

    def list_numbers(self) -> list[int]:
        """Return the selected documents by their hashes, counted from the first one; nothing without any bound."""
        return [-number for _, number, _ in sorted(self._heap, reverse=True)]

    def _consider(self, document: Document) -> None:
        if self._bounds == SampleBounds():
            return
        hash, number = hash_id(document.id), self._seen
        self._seen += 1
        if self._displaced is not None and (hash, number) > self._displaced:
            return
        size = count_text_bytes(document)
        heappush(self._heap, (-hash, -number, size))
        self._text_bytes += size
        while len(self._heap) > 1 and not self._bounds.admit(len(self._heap), self._text_bytes):
            negative_hash, negative_number, displaced_size = heappop(self._heap)
            self._text_bytes -= displaced_size
            self._displaced = -negative_hash, -negative_number


def hash_id(id: str) -> int:
    """Return a number of 64 bits that is the same for an id everywhere."""
    return int.from_bytes(hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def count_text_bytes(document: Document) -> int:
    return len(document.title.encode("utf-8", "surrogatepass")) + len(document.text.encode("utf-8", "surrogatepass"))
