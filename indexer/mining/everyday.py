"""Words of everyday: those of very many documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SHARE, FEW = 0.05, 12
"""A word in more than this share of the documents, and this many, is an everyday one."""


def everyday(frequency: NDArray[np.integer], documents: int) -> NDArray[np.bool_]:
    """Which words are, by the documents that hold each; same shape."""
    return np.asarray(frequency > max(SHARE * documents, FEW))
