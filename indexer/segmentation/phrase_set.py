"""Sets of phrases as arrays, while a model is being mined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.int_arrays import Ints, csr_starts
from indexer.segmentation.matcher import Matcher
from indexer.segmentation.phrase_trie import PhraseTrie


@dataclass(frozen=True)
class PhraseSet:
    """Phrases as arrays: the words of phrase p are ``word_ids[starts[p]:starts[p + 1]]``."""

    starts: Ints
    word_ids: NDArray[np.int32]
    quality: NDArray[np.float32]
    count: NDArray[np.int32]
    """Occurrences in the corpus."""
    is_nested: NDArray[np.bool_]
    """Mask of the phrases that count inside a longer segment as well."""

    @property
    def size(self) -> int:
        """Number of phrases."""
        return len(self.quality)

    @property
    def lengths(self) -> Ints:
        """Words of each phrase."""
        return np.diff(self.starts)

    def phrase_word_ids(self, phrase_id: int) -> NDArray[np.int32]:
        return self.word_ids[self.starts[phrase_id] : self.starts[phrase_id + 1]]

    def build_matcher(self, vocabulary_size: int) -> Matcher:
        return Matcher(
            PhraseTrie(self.starts, self.word_ids, vocabulary_size),
            compute_segment_gains(self.quality, self.lengths),
            self.is_nested,
        )

    def select(self, keep: NDArray[np.bool_]) -> PhraseSet:
        """Return the phrases that a mask of shape (phrases,) keeps."""
        lengths = self.lengths[keep]
        return PhraseSet(
            starts=csr_starts(lengths),
            word_ids=self.word_ids[np.repeat(keep, self.lengths)],
            quality=self.quality[keep],
            count=self.count[keep],
            is_nested=self.is_nested[keep],
        )

    def with_nested_marked(self, min_quality: float) -> PhraseSet:
        """Return this set with the phrases of at least ``min_quality`` marked as nested."""
        return replace(self, is_nested=self.quality >= min_quality)

    @classmethod
    def concatenate(cls, parts: Sequence[PhraseSet]) -> PhraseSet:
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(
            csr_starts(lengths),
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("word_ids", "quality", "count", "is_nested")
            ),
        )


def compute_segment_gains(quality: NDArray[np.float32], lengths: Ints) -> NDArray[np.float64]:
    """Return the contribution of a segment of each phrase to the score of a segmentation, shape (phrases,).

    Two good phrases beat one poor one, and a long one beats a short one; the square root lets a long name win against
    a better known one inside it, which counts as nested anyway. Rounded to float32 as models store it, so that a build
    segments a text as later analysis does.
    """
    exact = np.sqrt(np.maximum(quality.astype(np.float64), 1e-6)) * (lengths - 0.5)
    return np.asarray(exact.astype(np.float32), dtype=np.float64)
