"""Largest request bodies: the server receives no more, and the routes refuse more.

A module of its own because the server must not import the routes: they import the metrics, which have to wait for the
settings of their processes.
"""

from __future__ import annotations

import re

from indexer.settings import Settings

_SUBMISSION_PATH = re.compile(r"/v1/indexes/[^/]+/documents")


def get_max_body_bytes(settings: Settings, path: str) -> int:
    """Return the largest body of a request to this path: a submission may have the largest document in addition."""
    is_submission = _SUBMISSION_PATH.fullmatch(path) is not None
    return settings.max_body_bytes + (settings.max_document_bytes if is_submission else 0)
