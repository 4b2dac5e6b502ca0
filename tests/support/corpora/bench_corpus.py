"""The benchmark's generated corpus, as small as tests need it."""

from __future__ import annotations

INDEX = "generated"
DOCUMENT_COUNT = 400
