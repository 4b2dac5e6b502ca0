"""The indexes of one engine, each read at its current epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Engine, Groups, Reader
from indexer.errors import EpochChanged
from indexer.text.tokenizer import places
from worker.analysers import Analysers
from worker.explain.side import parse_search

if TYPE_CHECKING:
    from indexer.analysis.analyzer import Analyser
    from indexer.engines.attached_source import Source

_SOURCE_SECONDS = 5.0
T = TypeVar("T")


class Library:
    def __init__(self, engine: Engine, max_set: int = 1000) -> None:
        self.engine = engine
        self._max_set = max_set
        self._analysers = Analysers()
        self._sources: dict[str, tuple[float, Source | None]] = {}

    def current(self, index: str) -> Reader:
        return self.engine.open(index)

    def read(self, index: str, step: Callable[[Reader], T]) -> T:
        """Run a step on the current epoch, once more on the next one if it changes meanwhile."""
        try:
            return step(self.engine.open(index))
        except EpochChanged:
            return step(self.engine.open(index))

    def source(self, index: str) -> Source | None:
        """The index this one was attached to, where it can be searched; looked up every few seconds."""
        until, known = self._sources.get(index, (0.0, None))
        if until < time.monotonic():
            known = self.engine.source(self.current(index).info)
            self._sources[index] = (time.monotonic() + _SOURCE_SECONDS, known)
        return known

    def lemmas(self, index: str, words: str) -> tuple[str, ...]:
        """Words the way the index's documents have them."""
        if not words.strip():
            return ()
        return tuple(lemma for lemma, _ in self.spelled(index, words))

    def spelled(self, index: str, words: str) -> tuple[tuple[str, str], ...]:
        """Each word as the index's documents have it, and as it is written."""
        text = Document(id="", text=words)
        lemmas = self.analyser(index).analyse(text).tokens.split()
        written = (words[start:end] for _, start, end in places(text))
        return tuple(zip(lemmas, written, strict=True))

    def analyser(self, index: str) -> Analyser:
        return self._analysers.of(self.engine.open(index))

    def select(self, index: str, written: str, groups: Groups = None) -> dict[str, str]:
        """The documents a ``search`` side stands for, with their content versions; one request."""
        words, selection = parse_search(written)
        chosen = replace(selection, words=self.lemmas(index, words))
        found = self.read(index, lambda reader: reader.search(chosen, size=self._max_set, groups=groups))
        return {hit.id: hit.document.version for hit in found.hits}

    def fetch(self, index: str, ids: Sequence[str], groups: Groups = None) -> dict[str, AnalysedDocument]:
        """The documents that are there, by id; one request."""
        found = self.read(index, lambda reader: reader.fetch(ids, groups))
        return {id: document for id, document in zip(ids, found, strict=True) if document is not None}
