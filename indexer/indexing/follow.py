"""Follows the source of an attached index: reads what changed since the last pass, and adds or deletes it.

The index itself keeps the revision of every document, and this is the only state that counts: a pass by ids compares
the revisions of all documents with the source, so it is right whatever happened before it. Passes by sequence numbers
come between, and read only what was written since; what they cannot see (deletions, writes that became visible late)
waits for the next pass by ids. So a process that was killed leaves nothing behind that the next one would need.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

from indexer.documents import Document
from indexer.engines.attachment import Attachment
from indexer.engines.base import Engine
from indexer.engines.elasticsearch.attached_source import SourceShard, get_checkpoints
from indexer.engines.search_types import IndexInfo
from indexer.errors import BadInput, Unavailable
from indexer.indexing.build import BuildReport
from indexer.indexing.notifications import WriteListener
from indexer.indexing.update import add_documents, delete_documents, refresh_index
from indexer.indexing.vector_check import get_vector_dimensions
from indexer.progress import Progress, no_progress
from indexer.readers.elasticsearch_changes import SourceChanges, Write
from indexer.readers.registry import make_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap, SourceRow
from indexer.vectors import find_dimension_fault

ShardKey = tuple[str, int]
"""UUID of the index and number of the shard."""

SETTLE_SECONDS = 60.0
"""After this time no search misses a write any more: far above the refresh interval of a source (1 s by default)."""
_BATCH = 500
"""Documents read and added together, or deleted."""
_MAX_SHARE_OF_ID_PASSES = 0.1
"""Share of the time that passes by ids may take when deletions are noticed again and again."""


@dataclass(slots=True)
class PassReport:
    """What one pass did; printed as JSON by field name."""

    by: Literal["ids", "sequence numbers"]
    writes: int | None
    """Writes to the source since the pass before; None if they are not known: in the first pass, or if the key for the
    source may not read its statistics."""
    read: int = 0
    """Documents read from the source, the rejected ones included."""
    added: int = 0
    """Documents added or replaced."""
    rejected: int = 0
    deleted: int = 0
    documents: int = 0
    """Documents in the index after the pass."""
    drift: float = 0.0
    requests: int = 0
    lag_seconds: float = 0.0
    """What was visible in the source this many seconds ago is in the index."""

    @property
    def changed_anything(self) -> bool:
        return bool(self.read or self.added or self.deleted)

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


class _Checkpoint(NamedTuple):
    """Where the shards stood at a time of ``time.monotonic``."""

    seconds: float
    numbers: Mapping[ShardKey, int]


class Follower:
    """Keeps one index up to date with its source; ``run_pass`` reads what changed since the last one.

    ``seconds_between_id_passes`` bounds how long a deletion can stay unnoticed. An error of a pass loses nothing: the
    next one begins where the last successful one ended.
    """

    def __init__(
        self,
        changes: SourceChanges,
        engine: Engine,
        index: str,
        *,
        rejects: Rejects,
        max_document_bytes: int,
        listener: WriteListener | None = None,
        seconds_between_id_passes: float = 600.0,
    ) -> None:
        self._changes, self._engine, self._index = changes, engine, index
        self._rejects, self._max_bytes, self._listener = rejects, max_document_bytes, listener
        self._seconds_between_id_passes = seconds_between_id_passes
        info = engine.get_info(index)
        self._epoch = info.epoch
        self.attachment = replace(require_attachment(info), address=changes.address)
        self._fields = FieldMap({"vector": "", **self.attachment.fields})
        self._below: dict[ShardKey, int] = {}
        """Numbers up to which every write was seen."""
        self._unsettled: deque[_Checkpoint] = deque()
        self._handled: dict[Write, float] = {}
        """Write -> when it was added or rejected; those above ``_below``, which are listed again."""
        self._rejected: set[Write] = set()
        """Writes of the source that are no documents."""
        self._last_numbers: Mapping[ShardKey, int] | None = None
        self._next_id_pass = self._earliest_id_pass = 0.0
        self._requests = 0
        for timed in (changes.connection, engine):
            timed.time_requests(self._count_request)

    def _count_request(self, seconds: float) -> None:
        self._requests += 1

    def run_pass(self) -> PassReport:
        """Bring the index up to date with what the source shows now.

        Raise BadInput if the index was attached otherwise meanwhile. Errors that are ``retryable`` pass by themselves.
        """
        began, requests = time.monotonic(), self._requests
        info = self._engine.get_info(self._index)
        self._require_same_attachment(info)
        if info.epoch != self._epoch:  # rebuilt by another process, from what that saw in the source
            self._epoch, self._next_id_pass = info.epoch, began
        shards = self._changes.fetch_shards()
        report = PassReport("sequence numbers", self._count_writes(shards))
        if shards is None or began >= self._next_id_pass:
            self._run_id_pass(shards, report)
        else:
            self._run_number_pass(shards, report)
            if began >= self._earliest_id_pass and self._misses_deletions(shards):
                self._run_id_pass(shards, report)
        if shards is None:
            self._handled.clear()
        else:
            self._settle(began, shards)
            self._last_numbers = {shard.key: shard.last for shard in shards}
            self._store_checkpoints(info, shards)
        if report.changed_anything:
            info = self._engine.get_info(self._index)
        report.documents, report.drift = info.documents, round(info.drift, 6)
        report.requests = self._requests - requests
        report.lag_seconds = round(time.monotonic() - began, 3)
        return report

    def get_pause(self) -> float:
        """Return the seconds that the next pass should wait at least: without statistics, each pass is one by ids."""
        return 0.0 if self._last_numbers is not None else max(0.0, self._earliest_id_pass - time.monotonic())

    def renew_epoch(self, progress: Progress = no_progress, *, processes: int = 0) -> BuildReport:
        """Mine the phrases again from the documents of the index; the old epoch answers meanwhile."""
        report = refresh_index(self._engine, self._index, progress, processes=processes)
        self._epoch = report.epoch
        if self._listener:
            self._listener.set_epoch(self._index, report.epoch)
        return report

    def _require_same_attachment(self, info: IndexInfo) -> None:
        ours, now = self.attachment, require_attachment(info)
        if (now.index, now.cluster, now.fields) != (ours.index, ours.cluster, ours.fields):
            raise BadInput(f"index {self._index!r} was attached with other options meanwhile", fix="start this again")

    def _count_writes(self, shards: Collection[SourceShard] | None) -> int | None:
        if shards is None or self._last_numbers is None:
            return None
        return sum(max(0, shard.last - self._last_numbers.get(shard.key, -1)) for shard in shards)

    def _run_id_pass(self, shards: Collection[SourceShard] | None, report: PassReport) -> None:
        """Compare the revisions of all documents."""
        report.by, began = "ids", time.monotonic()
        attached = {id: version.revision for id, version in self._engine.open_reader(self._index).scan_versions()}
        same: set[str] = set()
        changed: dict[str, None] = {}
        still_rejected: set[Write] = set()
        for write in self._changes.list_all():
            if attached.get(write.id) == write.revision:
                same.add(write.id)
            elif write in self._rejected:
                still_rejected.add(write)
            else:
                changed[write.id] = None
        if attached and not (same or changed or still_rejected):
            raise Unavailable("the source has no documents now, so nothing is deleted", fix="fill it")
        rest_seconds = (time.monotonic() - began) / _MAX_SHARE_OF_ID_PASSES
        self._rejected = still_rejected
        # a name that covers several indices may have several documents of one id, of which one was attached
        self._add([id for id in changed if id not in same], report)
        self._delete([id for id in attached if id not in same and id not in changed], report)
        pause = self._seconds_between_id_passes
        if not self._below and shards is not None:
            self._below = {shard.key: shard.checkpoint for shard in shards}
            # what was written right before this first pass may become visible after it
            pause = min(pause, SETTLE_SECONDS)
        now = time.monotonic()
        self._next_id_pass, self._earliest_id_pass = now + pause, now + rest_seconds

    def _run_number_pass(self, shards: Collection[SourceShard], report: PassReport) -> None:
        """Read what has a sequence number above those that were seen."""
        written: dict[str, None] = {}
        for shard in shards:
            below = self._below.get(shard.key, -1)
            if shard.last > below:
                writes = self._changes.list_writes(shard, below)
                written |= {write.id: None for write in writes if write not in self._handled}
        self._add(written, report)

    def _misses_deletions(self, shards: Collection[SourceShard]) -> bool:
        """Return whether the source has fewer documents than expected, so that some were deleted.

        Nothing is asked while the source is at rest.
        """
        if all(shard.last <= self._below.get(shard.key, -1) for shard in shards):
            return False
        expected = self._engine.get_info(self._index).documents + len(self._rejected)
        return self._changes.count_documents() < expected

    def _settle(self, began: float, shards: Collection[SourceShard]) -> None:
        """Raise the numbers up to which every write was seen to those of a pass that is long enough ago."""
        self._unsettled.append(_Checkpoint(began, {shard.key: shard.checkpoint for shard in shards}))
        while self._unsettled and self._unsettled[0].seconds <= began - SETTLE_SECONDS:
            settled = self._unsettled.popleft()
            self._below |= {key: max(number, self._below.get(key, -1)) for key, number in settled.numbers.items()}
            oldest = settled.seconds - SETTLE_SECONDS
            self._handled = {write: at for write, at in self._handled.items() if at >= oldest}

    def _add(self, ids: Iterable[str], report: PassReport) -> None:
        """Add documents as they are in the source now; those that are rejected there, or gone, are deleted here."""
        remaining = iter(ids)
        batch = list(islice(remaining, _BATCH))
        plan = self._changes.plan_reading(self._fields) if batch else None
        while batch and plan is not None:
            rejected_before, found = self._rejects.count, set[Write]()
            rows = _note_writes(self._changes.read_rows(batch, plan), found)
            documents = list(self._keep_fitting(make_documents(rows, self._rejects, plan.fields, self._max_bytes)))
            if documents:
                report.added += add_documents(documents, self._engine, self._index, listener=self._listener)
            self._rejected |= found - {Write(document.id, str(document.revision)) for document in documents}
            self._handled |= dict.fromkeys(found, time.monotonic())
            report.read += len(found)
            report.rejected += self._rejects.count - rejected_before
            self._delete_if_there(set(batch) - {document.id for document in documents}, report)
            batch = list(islice(remaining, _BATCH))
        self._rejects.flush()

    def _keep_fitting(self, documents: Iterable[Document]) -> Iterator[Document]:
        dimensions = get_vector_dimensions(self._engine.get_info(self._index))
        for document in documents:
            if fault := find_dimension_fault(document.vector, dimensions):
                self._rejects.add_last_read(f"{fault} (document {document.id!r})")
            else:
                yield document

    def _delete_if_there(self, ids: Collection[str], report: PassReport) -> None:
        if ids:
            found = self._engine.open_reader(self._index).fetch(sorted(ids))
            self._delete([analysed.document.id for analysed in found if analysed], report)

    def _delete(self, ids: Iterable[str], report: PassReport) -> None:
        remaining = iter(ids)
        while batch := list(islice(remaining, _BATCH)):
            report.deleted += delete_documents(self._engine, self._index, batch, listener=self._listener).count

    def _store_checkpoints(self, info: IndexInfo, shards: Collection[SourceShard]) -> None:
        """Store how far the source was read, for the metric of the writes since."""
        attachment = replace(self.attachment, checkpoints=get_checkpoints(shards))
        if attachment != Attachment.from_info(info):
            self._engine.store_attachment(self._index, info.epoch, attachment)


def require_attachment(info: IndexInfo) -> Attachment:
    """Return the attachment of an index that can follow its source; raise BadInput for any other index."""
    attachment = Attachment.from_info(info)
    if attachment is None:
        raise BadInput(
            f"index {info.name!r} cannot follow a source: it was built from files, or with --map id=...",
            fix=f"attach it first: phrasecom attach URL/INDEX --index {info.name}",
        )
    if not attachment.has_revisions:
        raise BadInput(
            f"index {info.name!r} was attached by a version that kept no revisions",
            fix=f"attach it again: phrasecom attach URL/INDEX --index {info.name}",
        )
    return attachment


def _note_writes(rows: Iterable[SourceRow], writes: set[Write]) -> Iterator[SourceRow]:
    for row in rows:
        writes.add(Write(row.default_id, str(row.revision)))
        yield row
