"""Split text into tokens, lemmatize them, and find phrases among them."""

from __future__ import annotations

ANALYSIS_VERSION = 5
"""Raised when the same documents get other tokens, so that an index built before is not taken for an unchanged one."""
