"""Phrase models made by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from indexer.model.phrase_model import PhraseModel

WORDS = "web graph meta learn metalearn reinforcement rl deep personalise e mail email".split()


def make_phrase_model(acronyms: Mapping[str, list[str]] | None = None) -> PhraseModel:
    """Return a model of 100 documents without phrases, five of which hold each of ``WORDS``."""
    nothing = np.zeros(0)
    return PhraseModel(
        settings={}, document_count=100, average_length=10.0, phrases=[], display_forms=[],
        document_frequency=nothing.astype(np.int32), quality=nothing.astype(np.float32),
        degree=nothing, background=nothing,
        words=WORDS, word_document_frequency=np.full(len(WORDS), 5, dtype=np.int32),
        acronyms=acronyms or {},
    )  # fmt: skip
