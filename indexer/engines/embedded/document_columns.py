"""Column access to documents of an embedded epoch, from its forward index and its phrase graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.embedded.forward_index import ForwardIndex
from indexer.engines.embedded.open_epoch import OpenEpoch, report_damage
from indexer.engines.lazy_documents import DocumentColumns, EncodedLines, LazyDocument, PhraseWeights, Positions

TOKEN_BLOCK_DOCUMENTS = 256
"""Documents whose tokens are joined at once."""
SINGLE_READ_SHARE = 0.25
"""Share of the documents that may be read one at a time; after that all are, as most of them will be needed."""
ReadDocuments = Callable[[Sequence[str]], Mapping[str, AnalysedDocument]]
"""Reads stored documents by id."""


class EmbeddedColumns(DocumentColumns):
    """Some documents of an epoch; a document's position is its index in ``ids``."""

    def __init__(
        self,
        epoch: OpenEpoch,
        forward_index: ForwardIndex,
        ids: Sequence[str],
        numbers: NDArray[np.int64],
        read_documents: ReadDocuments,
    ) -> None:
        """``numbers``: document numbers of ``ids`` in the graph, shape (documents,)."""
        self._epoch, self._forward_index, self._graph, self._model = epoch, forward_index, epoch.graph, epoch.model
        self._ids, self._numbers, self._read_documents = ids, numbers, read_documents
        self._documents: dict[str, AnalysedDocument] = {}
        self._token_blocks: dict[int, list[str]] = {}

    @report_damage
    def build_documents(self) -> list[AnalysedDocument]:
        """Return a LazyDocument for each id, in order."""
        graph, numbers = self._graph, self._numbers
        acl_numbers, degrees = graph.acl_numbers[numbers].tolist(), graph.degrees[numbers].tolist()
        versions = self._forward_index.versions[numbers].tolist()
        columns = zip(self._ids, acl_numbers, degrees, versions, strict=True)
        return [
            LazyDocument(self, position, id, graph.acls[acl_number], degree, f"{version:016x}")
            for position, (id, acl_number, degree, version) in enumerate(columns)
        ]

    @report_damage
    def get_lines(self, positions: Positions) -> EncodedLines:
        return self._forward_index.get_lines(self._numbers[positions])

    @report_damage
    def get_edges(self, positions: Positions) -> PhraseWeights:
        return self._forward_index.get_edges(self._numbers[positions])

    @report_damage
    def get_salience(self, positions: Positions) -> PhraseWeights:
        return self._forward_index.get_salience(self._numbers[positions])

    def find_phrase_row(self, phrase: str) -> int | None:
        return self._epoch.find_phrase_row(phrase)

    @report_damage
    def get_phrase(self, row: int) -> str:
        return self._model.phrases[row] if row < len(self._model.phrases) else self._other_phrases[row]

    @report_damage
    def get_tokens(self, position: int) -> str:
        block, index = divmod(position, TOKEN_BLOCK_DOCUMENTS)
        if block not in self._token_blocks:
            first = block * TOKEN_BLOCK_DOCUMENTS
            last = min(first + TOKEN_BLOCK_DOCUMENTS, len(self._ids))
            self._token_blocks[block] = self._join_tokens(np.arange(first, last))
        return self._token_blocks[block][index]

    @report_damage
    def read_document(self, position: int) -> AnalysedDocument:
        id = self._ids[position]
        if id not in self._documents:
            is_single = len(self._documents) < SINGLE_READ_SHARE * len(self._ids)
            self._documents.update(self._read_documents([id] if is_single else self._ids))
        return self._documents[id]

    @cached_property
    def _other_phrases(self) -> dict[int, str]:
        """Phrases that the model does not name, by row."""
        return {row: phrase for phrase, row in self._graph.other_phrases.items()}

    @cached_property
    def _words_and_line_end(self) -> list[str]:
        """Words by id, and a newline at -1."""
        return [*self._model.words, "\n"]

    def _join_tokens(self, positions: Positions) -> list[str]:
        """Return the tokens string of each document, as it was analysed."""
        word_ids, word_counts = self.get_lines(positions)
        words = list(map(self._words_and_line_end.__getitem__, word_ids.tolist()))
        indexes, ends = np.flatnonzero(word_ids >= 0).tolist(), np.cumsum(word_counts).tolist()
        return [
            " ".join(words[indexes[first] : indexes[end - 1] + 1]).replace(" \n ", "\n") if end > first else ""
            for first, end in pairwise([0, *ends])
        ]
