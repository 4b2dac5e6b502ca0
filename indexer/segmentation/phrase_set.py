"""A set of phrases as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.segmentation.matcher import Matcher
from indexer.segmentation.phrase_trie import PhraseIndex


@dataclass(frozen=True)
class PhraseSet:
    """Phrase p is ``words[starts[p]:starts[p + 1]]``."""

    starts: NDArray[np.int64]
    words: NDArray[np.int32]
    quality: NDArray[np.float32]
    count: NDArray[np.int32]
    """Occurrences in the corpus."""
    nested: NDArray[np.bool_]
    """Counts inside a longer segment as well."""

    @property
    def size(self) -> int:
        return len(self.quality)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def spelled(self, p: int) -> NDArray[np.int32]:
        return self.words[self.starts[p] : self.starts[p + 1]]

    def matcher(self, vocabulary: int) -> Matcher:
        return Matcher(PhraseIndex(self.starts, self.words, vocabulary), gains(self.quality, self.lengths), self.nested)

    def where(self, keep: NDArray[np.bool_]) -> PhraseSet:
        lengths = self.lengths[keep]
        return PhraseSet(
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            words=self.words[np.repeat(keep, self.lengths)],
            quality=self.quality[keep],
            count=self.count[keep],
            nested=self.nested[keep],
        )

    def nesting(self, least: float) -> PhraseSet:
        """With phrases of that quality marked as nested."""
        return replace(self, nested=self.quality >= least)

    @classmethod
    def joined(cls, parts: Sequence[PhraseSet]) -> PhraseSet:
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("words", "quality", "count", "nested")
            ),
        )


def gains(quality: NDArray[np.float32], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """What a segment adds to a segmentation: two good phrases before one poor one, a long one before a short one.

    The root lets a long name win against a better known one inside it, which counts as nested anyway. Rounded as it is
    kept in a model, so that a build cuts a text like everyone after it.
    """
    exact = np.sqrt(np.maximum(quality.astype(np.float64), 1e-6)) * (lengths - 0.5)
    return np.asarray(exact.astype(np.float32), dtype=np.float64)
