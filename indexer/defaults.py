"""Defaults that the settings and the library share; apart from ``settings`` because importing that takes 0.4 s."""

from __future__ import annotations

from typing import Final

DEFAULT_K: Final = 30
"""Salient phrases stored for each document."""
DEFAULT_MU: Final = 3.0
"""Weight of a phrase's score relative to its similarity to salient phrases already selected."""
DEFAULT_CAP: Final = 8
"""Phrases shown in each list of a comparison."""
DEFAULT_MAX_DOCUMENT_BYTES: Final = 10 * 2**20
"""Longest document that readers accept, in UTF-8."""
DEFAULT_SAMPLE_DOCUMENTS: Final = 100_000
DEFAULT_SAMPLE_BYTES: Final = 128 * 2**20
"""Documents, and bytes of their texts, that phrases are mined from; see deploy/SCALING.md for what a larger sample
finds, and the memory it takes."""
MAX_DRIFT: Final = 0.2
"""Changed share of an index from which its phrases should be mined again."""
