"""Documents submitted over HTTP: stored in chunks, added to the index by one short task for each chunk."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from indexer.documents import Document
from indexer.errors import Expired
from worker.access import Caller, make_access_key
from worker.jobs.job import NewJob, StoredAnswer
from worker.jobs.runner import Continue, JobContext
from worker.json_bytes import dumps, loads

if TYPE_CHECKING:
    from worker.service.container import ServiceContainer

_CHUNK_TTL_SECONDS = 6 * 3600.0


def make_ingest_job(container: ServiceContainer, index: str, documents: Sequence[Document], caller: Caller) -> NewJob:
    """Store the documents for the workers and return the job that adds them, not yet submitted.

    Of documents with the same id the last one counts. The job carries the sequence number of the submission: however
    late its documents are written, those of a later submission stay.
    """
    id = "i" + uuid.uuid4().hex[:31]
    sequence = _take_sequence(container, index)
    documents = list({document.id: document for document in documents}.values())
    size = container.config.chunk_size
    chunks = [documents[start : start + size] for start in range(0, len(documents), size)]
    values = {
        _make_chunk_key(id, n): dumps([document.to_dict() for document in chunk]) for n, chunk in enumerate(chunks)
    }
    container.key_values.set(values, _CHUNK_TTL_SECONDS)
    content = {"index": index, "pieces": len(chunks), "documents": len(documents), "sequence": sequence}
    payload = dumps(content).decode()
    return NewJob(id, "ingest", payload, caller.key_id, "bulk", make_access_key(index, caller.groups))


def run_ingest_chunk(container: ServiceContainer, context: JobContext) -> StoredAnswer | Continue:
    """Add the next chunk; adding a chunk twice has the effect of adding it once.

    Raise Expired when the stored documents are gone.
    """
    from indexer.indexing.update import add_documents  # the web process, which imports this module, does not need it

    claim = context.claim
    payload: Mapping[str, Any] = loads(claim.payload)
    index, chunk_count = payload["index"], payload["pieces"]
    key = _make_chunk_key(claim.id, claim.next_chunk)
    chunk = container.key_values.get([key])[0]
    if chunk is None:
        raise Expired("the documents waited too long and were discarded", fix="send them again")
    documents = [Document.from_dict(value) for value in loads(chunk)]
    add_documents(
        documents,
        container.engine,
        index,
        listener=container.versions,
        sequence=payload.get("sequence"),  # a job of a former version has none
        check_claim=context.check_claim,
    )
    context.add_cleanup(lambda: container.key_values.delete([key]))
    done = claim.next_chunk + 1
    context.report_progress(done / chunk_count, f"{done} of {chunk_count} chunks")
    if done < chunk_count:
        return Continue(done)
    body = {"id": claim.id, "state": "done", "progress": 1.0, "index": index, "written": payload["documents"]}
    return StoredAnswer(dumps(body), {}, index)


def _take_sequence(container: ServiceContainer, index: str) -> int:
    """Return a sequence number for a submission that is accepted now."""
    key, take_sequence = f"sequence:{index}", container.key_values.take_sequence
    generation = container.engine.get_write_generation(index)
    sequence = take_sequence(key, generation, is_new_generation=False) if generation else None
    if sequence is None:
        sequence = take_sequence(key, container.engine.start_write_generation(index), is_new_generation=True)
    assert sequence is not None, "a new generation has numbers"
    return sequence


def _make_chunk_key(job_id: str, chunk_number: int) -> str:
    return f"piece:{job_id}:{chunk_number}"
