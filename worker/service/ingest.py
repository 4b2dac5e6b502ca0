"""Documents handed in over HTTP: stored in pieces, added to the index one short task at a time."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from indexer.documents import Document
from indexer.errors import Expired
from indexer.indexing.notifications import Version
from worker.access import Caller, eyes_of
from worker.jobs.job import Answer, NewJob
from worker.jobs.runner import More, Running
from worker.json_bytes import dumps, loads
from worker.service.container import Service

_KEEP_SECONDS = 6 * 3600.0


def hand_in(service: Service, index: str, documents: Sequence[Document], caller: Caller) -> NewJob:
    """Store the documents for the workers; the job that adds them."""
    id = "i" + uuid.uuid4().hex[:31]
    size = service.config.chunk
    pieces = [documents[start : start + size] for start in range(0, len(documents), size)]
    values = {_piece(id, n): dumps([document.plain() for document in piece]) for n, piece in enumerate(pieces)}
    service.keys.set(values, _KEEP_SECONDS)
    question = dumps({"index": index, "pieces": len(pieces), "documents": len(documents)}).decode()
    return NewJob(id, "ingest", question, caller.key_id, "bulk", eyes_of(index, caller.groups))


def ingest(service: Service, running: Running) -> Answer | More:
    """Add one piece; adding it twice is the same as once."""
    claim = running.claim
    asked: Mapping[str, Any] = loads(claim.question)
    stored = service.keys.get([_piece(claim.id, claim.cursor)])[0]
    if stored is None:
        raise Expired("the documents waited too long and are gone", fix="send them again")
    add(service, asked["index"], [Document.of_plain(value) for value in loads(stored)])
    service.keys.drop([_piece(claim.id, claim.cursor)])
    done = claim.cursor + 1
    running.progress(done / asked["pieces"], f"{done} of {asked['pieces']} pieces")
    if done < asked["pieces"]:
        return More(done)
    body = {"id": claim.id, "state": "done", "progress": 1.0, "index": asked["index"], "written": asked["documents"]}
    return Answer(dumps(body), {}, asked["index"])


def add(service: Service, index: str, documents: Sequence[Document]) -> None:
    """Write to the engine with the mirror kept true at every moment."""
    from indexer.indexing.update import add_documents

    ids = [document.id for document in documents]
    service.mirror.writing(index, ids)
    add_documents(documents, service.engine, index)
    service.mirror.wrote(index, {d.id: Version(d.version(), tuple(d.acl)) for d in documents})


def _piece(id: str, n: int) -> str:
    return f"piece:{id}:{n}"
