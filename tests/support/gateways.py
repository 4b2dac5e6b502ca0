"""Callers with different groups, and their requests to a gateway."""

from __future__ import annotations

from indexer.documents import Document
from indexer.indexing.update import add_documents
from tests.support.polling import wait_until
from worker.access import Caller
from worker.explain.side import Side
from worker.jobs.payloads import ComparisonRequest
from worker.service.gateway import JobGateway

UNRESTRICTED = Caller("root")
STAFF = Caller("anna", frozenset({"staff"}))
GUEST = Caller("gus", frozenset({"guests"}))


def make_pair_request(a: str, b: str, caller: Caller = UNRESTRICTED) -> ComparisonRequest:
    """Return the caller's request to compare two documents of ``papers``."""
    return ComparisonRequest("papers", Side.from_id(a), Side.from_id(b), groups=caller.groups)


def wait_until_remembered(gateway: JobGateway, body: bytes) -> None:
    """Let the gateway remember the id ``x`` for a request body, which it does once it listens for changes."""

    def remember() -> bool:
        gateway.remember_job_id(UNRESTRICTED, body, "papers", "x")
        return gateway.recall_job_id(UNRESTRICTED, body) == "x"

    wait_until(remember)


def write_documents(gateway: JobGateway, *documents: Document) -> None:
    """Add documents to the index ``papers`` as a worker does: the version cache of the service is notified."""
    add_documents(documents, gateway.container.engine, "papers", listener=gateway.container.versions)
