"""The facade of the web layer: submit jobs, wait for them, deliver answers the caller may see; indexes and health."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from indexer.documents import AnalysedDocument, Document
from indexer.engines.attached_source import AttachedSource
from indexer.engines.search_types import Groups, IndexInfo
from indexer.errors import UnknownIndex, UnknownJob
from indexer.indexing.notifications import EVENTS_CHANNEL, DocumentVersion
from worker.access import Caller, make_access_key, make_groups_key
from worker.cache.answers import AnswerCache, CachedAnswer, KnownRequests
from worker.cache.readable_ids import DocumentIds, ReadableIds
from worker.index_catalog import IndexCatalog
from worker.jobs.events import EventListeners, EventSubscriber, JobWaiters
from worker.jobs.job import OPEN_STATES, Job, JobState, NewJob, StoredAnswer
from worker.jobs.payloads import Against, ComparisonRequest, PageBatch, PageRequest, PartId, make_part_id, parse_part_id
from worker.jobs.statistics import JobStatistics
from worker.json_bytes import dumps, loads
from worker.service.container import ServiceContainer
from worker.service.feedback import record_feedback
from worker.service.ingest import make_ingest_job
from worker.service.job_handlers import HitPart, make_page_job

_MAX_REPLACED_ANSWERS = 3
"""How many stored answers to one request are passed over because they name documents the caller may not read."""


@dataclass(frozen=True, slots=True)
class JobView:
    """A job at this moment: its answer, or how far it is."""

    job: Job
    answer: CachedAnswer | None = None
    cache_status: str = "miss"
    """Where the answer came from: ``local`` (this process), ``hit`` (the store), ``miss`` (computed just now),
    ``stale`` (this process, unchecked)."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The id under which a request is answered."""

    id: str
    created: bool
    """Whether a job was entered for it, rather than found."""


class JobGateway:
    """What routes may do with jobs and indexes.

    Answers are delivered only if the caller may read every document they name. Methods raise StoreUnavailable or
    EngineUnavailable when the store or the engine cannot be reached.
    """

    def __init__(
        self,
        container: ServiceContainer,
        *,
        max_waiting: int = 8,
        max_cache_bytes: int = 32 * 2**20,
        on_waiting_change: Callable[[int], object] = int,
    ) -> None:
        """Start listening to events; ``on_waiting_change`` is called with the number of waiting requests."""
        self.container = container
        self.waiters = JobWaiters(max_waiting, on_waiting_change)
        self.answers = AnswerCache(max_cache_bytes)
        self.known_requests = KnownRequests(container.config.epoch_ttl)
        self._subscriber: EventSubscriber | None = None
        self._readable_ids = ReadableIds(container.config.acl_ttl)
        listeners = EventListeners(self.waiters.wake, self._forget_index)
        if container.is_inline:
            container.add_listener(listeners.dispatch)
        else:
            channel = container.config.key_prefix + EVENTS_CHANNEL
            self._subscriber = EventSubscriber(container.redis, channel, listeners)
            self._subscriber.start()

    def close(self) -> None:
        if self._subscriber is not None:
            self._subscriber.stop()
        self.container.close()

    # Submitting

    def submit_comparison(self, request: ComparisonRequest, caller: Caller) -> Submission:
        """Submit a comparison; raise what is wrong with the request, or Overloaded."""
        id = self._find_readable_id(self.compute_answer_id(request), caller)
        access_key = make_access_key(request.index, caller.groups)
        return self.submit(NewJob(id, "comparison", request.to_json(), caller.key_id, access_key=access_key))

    def submit_page(self, request: PageRequest, caller: Caller) -> Submission:
        """Submit a results page; raise what is wrong with the request, or Overloaded."""
        id = self.find_page_id(request, caller)
        if caller.groups is None and self.answers.get(id) is not None:
            return Submission(id, created=False)
        return self.submit(make_page_job(id, request, caller.key_id))

    def submit_pages(self, pages: Mapping[str, PageRequest], caller: Caller) -> None:
        """Submit results pages by their ids (``find_page_id``); all that have no job and no answer yet make one job.

        Raise Overloaded.
        """
        states = {id: self._find_page_state(id) for id in pages} if len(pages) > 1 else dict.fromkeys(pages)
        left = {id: pages[id] for id, state in states.items() if state not in OPEN_STATES and state != "done"}
        new = {id: page for id, page in left.items() if states[id] != "failed"}
        if len(new) > 1 and self._submit_batch(PageBatch(new, caller.key_id), caller):
            left = {id: page for id, page in left.items() if id not in new}
        for id, page in left.items():
            if caller.groups is not None or self.answers.get(id) is None:
                self.submit(make_page_job(id, page, caller.key_id))

    def find_page_id(self, request: PageRequest, caller: Caller, read_now: Sequence[AnalysedDocument] = ()) -> str:
        """Return the id under which a results page is answered; raise what is wrong with the request.

        ``read_now``: hits that a search has just found.
        """
        self.catalog.check_vector(request.index, request.query_vector)
        versions = self.container.versions
        epoch = versions.get_epoch(request.index)
        document_versions = versions.get_readable_versions(
            request.index, epoch, request.list_document_ids(), request.groups, read_now
        )
        return self._find_readable_id(request.compute_answer_id(epoch, document_versions), caller)

    def submit_documents(self, index: str, documents: Sequence[Document], caller: Caller) -> Submission:
        """Store documents and submit the job that adds them to the index."""
        return self.submit(make_ingest_job(self.container, index, documents, caller))

    def submit(self, new: NewJob) -> Submission:
        """Enter the job and announce it, unless it is open or answered."""
        is_entered = self.container.store.submit(new)
        if is_entered:
            self.container.announce_job(new.id, new.queue)
        return Submission(new.id, is_entered)

    def compute_answer_id(self, request: ComparisonRequest) -> str:
        """Return the id of the answer; raise what is wrong with the request."""
        spec = request.build_spec()
        index, groups = request.index, request.groups
        for side in (request.a, request.b):
            self.catalog.check_vector(index, side.vector)
        epoch = self.container.versions.get_epoch(index)
        ids = [*request.a.ids, *request.b.ids]
        versions = self.container.versions.get_readable_versions(index, epoch, ids, groups)
        for side in (request.a, request.b):
            if side.form == "search":
                versions |= self.container.catalog.search_document_versions(index, side.words, groups)
        return spec.compute_answer_id(epoch, versions)

    def keep_readable_hits(self, request: PageRequest, caller: Caller) -> PageRequest:
        """Return the request without the hits that do not exist for this caller; unchanged if none of them does."""
        versions = self.get_readable_versions(request.index, request.hits, caller)
        hits = tuple(hit for hit in request.hits if hit in versions)
        return replace(request, hits=hits or request.hits)

    def get_readable_versions(self, index: str, ids: Sequence[str], caller: Caller) -> dict[str, DocumentVersion]:
        """Return the versions of those documents that exist for this caller, by id."""
        epoch = self.container.versions.get_epoch(index)
        versions = self.container.versions.get_versions(index, epoch, ids, fresh=caller.groups is not None)
        return {id: version for id, version in versions.items() if caller.may_read(version.acl)}

    def _find_readable_id(self, id: str, caller: Caller) -> str:
        """Return the id under which an answer is computed for a caller: another one, which depends on the versions of
        the documents as they are now, where the stored answer names a document that they may no longer read."""
        for _ in range(_MAX_REPLACED_ANSWERS if caller.groups is not None else 0):
            job = self.container.store.get(id)
            if job is None or job.answer is None:
                break
            versions = self._get_current_versions(job.answer.index, job.answer.acls)
            if _may_read_documents(caller, job.answer.acls, versions):
                break
            named = [[id, versions[id].version if id in versions else None] for id in job.answer.acls]
            digest = hashlib.sha256(dumps([id, named])).hexdigest()
            id = id[:1] + digest[: len(id) - 1]
        return id

    def _find_page_state(self, id: str) -> JobState | None:
        """Return the state of a results page; None if nobody asked for it yet."""
        if self.answers.get(id) is not None:
            return "done"
        job = self._find_job(id)
        return job.state if job is not None else None

    def _submit_batch(self, batch: PageBatch, caller: Caller) -> bool:
        """Submit several pages as one job; False if that job has ended already, so that it will not be run again."""
        id = batch.compute_job_id()
        pointers = {
            _make_batch_key(page_id): dumps([id, make_access_key(page.index, page.groups)])
            for page_id, page in batch.pages.items()
        }
        self.container.key_values.set(pointers, self.container.store.limits.answer_ttl)
        new = NewJob(id, "page-batch", batch.to_json(), caller.key_id, access_key=make_access_key("", caller.groups))
        if self.submit(new).created:
            return True
        job = self.container.store.get(id)
        return job is not None and job.state in OPEN_STATES

    # Looking up

    def get(self, id: str, caller: Caller, *, just_submitted: bool = False) -> JobView:
        """Return the job or its answer; raise UnknownJob if there is none or the caller may not see it."""
        cached = self.answers.get(id)
        if cached is not None:
            self._check_may_see(caller, id, cached.stored)
            return JobView(Job(id, cached.kind, "done", 1.0), cached, "local")
        part = parse_part_id(id)
        if part is not None:
            return self._get_part_view(part, caller)
        job = self._find_job(id)
        if job is None or job.kind == "page-batch":
            raise _make_unknown_job(id)
        if job.answer is None:
            if not caller.may_see_job(job.access_key):
                raise _make_unknown_job(id)
            return JobView(job)
        self._check_may_see(caller, id, job.answer)
        return JobView(job, self.answers.put(id, job.kind, job.answer), "miss" if just_submitted else "hit")

    def _find_job(self, id: str) -> Job | None:
        """Return a job; a page of a batch has the state of the batch until it is answered."""
        store = self.container.store
        job = store.get(id)
        if job is not None and job.state not in ("expired", "cancelled"):
            return job
        batch_id, access_key = self._find_batch(id)
        batch = store.get(batch_id) if batch_id else None
        if batch is not None and batch.state in OPEN_STATES:
            return replace(batch, id=id, kind="explanation", access_key=access_key)
        return store.get(id) if batch_id else job  # it was answered, or became a job of its own, before the batch ended

    def _find_batch(self, page_id: str) -> tuple[str, str]:
        """Return the id of the batch that a page was submitted in, and the access key of the page; empty if none."""
        pointer = self.container.key_values.get([_make_batch_key(page_id)])[0]
        batch_id, access_key = loads(pointer) if pointer is not None else ("", "")
        return batch_id, access_key

    def wait(self, submission: Submission, caller: Caller, seconds: float) -> JobView:
        """Return the job once it has ended, or after ``seconds``; at once when too many requests wait already."""
        id = submission.id
        view = self.get(id, caller, just_submitted=submission.created)
        if view.job.state not in OPEN_STATES or seconds <= 0:
            return view

        def has_ended() -> bool:
            nonlocal view
            view = self.get(id, caller, just_submitted=True)
            return view.job.state not in OPEN_STATES

        self.waiters.wait(id, seconds, has_ended)
        return view

    def leave(self, id: str, caller: Caller) -> Job | None:
        """Take the caller off a job, which is cancelled when no other caller waits for it; raise UnknownJob."""
        if parse_part_id(id) is not None:
            raise _make_unknown_job(id)  # the comparison of a hit has an id of its own
        self.get(id, caller)
        if self.container.store.get(id) is None:
            id = self._find_batch(id)[0] or id  # a page is computed with the others of its batch
        return self.container.store.leave(id, caller.key_id)

    def get_open_page(self, page_id: str) -> PageRequest | None:
        """Return the request of a page whose job is open; None once it has ended."""
        store = self.container.store
        if payload := store.get_payload(page_id):
            return PageRequest.from_json(payload)
        batch_id, _ = self._find_batch(page_id)
        batch = store.get_payload(batch_id) if batch_id else None
        return PageBatch.from_json(batch).pages.get(page_id) if batch else None

    def get_ready_reasons(self, page_id: str, caller: Caller) -> dict[str, dict[str, Any]]:
        """Return the finished reasons of an open page by hit, without those that the caller may not see."""
        parts = {hit: HitPart(**loads(body)) for hit, body in self.container.store.get_parts(page_id).items()}
        if caller.groups is not None and parts:
            named = set().union(*(part.named_document_ids for part in parts.values()))
            versions = self._get_current_versions(next(iter(parts.values())).index, named)
            parts = {
                hit: part
                for hit, part in parts.items()
                if _may_read_documents(caller, part.named_document_ids, versions)
            }
        return {hit: part.reasons for hit, part in parts.items()}

    def _get_part_view(self, part: PartId, caller: Caller) -> JobView:
        """Return the comparison behind a hit of a page; it is computed when it is first asked for."""
        view = self.get(part.page_id, caller)
        request = self.get_open_page(part.page_id) if view.answer is None else _read_page_request(view.answer)
        against: Against = "page" if part.from_page else request.against if request else "page"
        comparison = request.make_comparison(part.hit_position, against) if request else None
        if comparison is None:
            raise _make_unknown_job(make_part_id(*part[:2], from_page=part.from_page))
        submission = self.submit_comparison(replace(comparison, groups=caller.groups), caller)
        return self.get(submission.id, caller, just_submitted=submission.created)

    # Requests and answers that this process remembers

    def get_cached(self, id: str) -> CachedAnswer | None:
        """Return an answer from the memory of this process, without any check of the caller's rights."""
        return self.answers.get(id)

    def recall_job_id(self, caller: Caller, body: bytes) -> str | None:
        """Return the id that these very bytes led to a moment ago, if nothing can have changed since."""
        hears_changes = self._subscriber is None or self._subscriber.is_connected
        return self.known_requests.get_job_id(make_groups_key(caller.groups), body) if hears_changes else None

    def remember_job_id(self, caller: Caller, body: bytes, index: str, job_id: str) -> None:
        self.known_requests.put(make_groups_key(caller.groups), body, index, job_id)

    def get_stale_answer(self, caller: Caller, body: bytes) -> JobView | None:
        """Return the answer these bytes led to, for use while the store cannot be reached to check it.

        None for a caller with limited groups: their rights cannot be checked either.
        """
        if caller.groups is not None:
            return None
        id = self.known_requests.get_job_id(make_groups_key(caller.groups), body, allow_stale=True)
        cached = self.answers.get(id) if id else None
        if id is None or cached is None or not caller.may_use_index(cached.stored.index):
            return None
        return JobView(Job(id, cached.kind, "done", 1.0), cached, "stale")

    def _forget_index(self, index: str | None) -> None:
        self.known_requests.forget_index(index)
        self._readable_ids.forget_index(index)

    # Indexes

    @property
    def catalog(self) -> IndexCatalog:
        """The indexes of the engine, for reading."""
        return self.container.catalog

    def list_indexes(self, caller: Caller) -> list[str]:
        """Return the names of the indexes that the caller may use."""
        return [name for name in self.container.engine.list_indexes() if caller.may_use_index(name)]

    def get_index_info(self, index: str) -> IndexInfo:
        """Return the engine's information about an index; raise UnknownIndex."""
        return self.container.engine.get_info(index)

    def get_source(self, info: IndexInfo) -> AttachedSource | None:
        """Return the index that this one is attached to, if it can be searched; looked up now."""
        return self.container.engine.attached_source(info)

    def check_index_exists(self, index: str) -> None:
        """Raise UnknownIndex if there is no such index."""
        self.container.versions.get_epoch(index)

    def get_readable_ids(self, index: str, epoch: str, groups: Groups, load: Callable[[], DocumentIds]) -> DocumentIds:
        """Return the ids that these groups may read, from ``load`` or cached while changes are received."""
        if self._subscriber is not None and not self._subscriber.is_connected:
            return load()
        return self._readable_ids.get_or_load(index, epoch, groups, load)

    def record_feedback(self, answer: Mapping[str, Any], phrases: Sequence[Mapping[str, Any]], caller: Caller) -> int:
        """Store user feedback on phrases of an answer; return the number of entries."""
        return record_feedback(self.container.key_values, answer, phrases, caller.key_id)

    # Health

    def ping_store(self) -> None:
        """Raise StoreUnavailable when the job store cannot be reached or accepts no writes."""
        self.container.store.ping()

    def ping_engine(self) -> None:
        """Raise EngineUnavailable when the engine cannot be reached."""
        self.container.engine.ping()

    def get_statistics(self) -> JobStatistics:
        """Count open and ended jobs."""
        return self.container.store.get_statistics()

    # Rights

    def _check_may_see(self, caller: Caller, id: str, answer: StoredAnswer) -> None:
        """Raise UnknownJob unless the caller may use the index, has the groups the answer was made for, and may read
        every document it names, by the acls of then and of now."""
        if (
            not caller.may_use_index(answer.index)
            or not caller.may_see_answer(answer.access_key)
            or not caller.may_read_all(answer.acls)
        ):
            raise _make_unknown_job(id)
        if caller.groups is not None:
            versions = self._get_current_versions(answer.index, answer.acls)
            if not _may_read_documents(caller, answer.acls, versions):
                raise _make_unknown_job(id)

    def _get_current_versions(self, index: str, ids: Iterable[str]) -> dict[str, DocumentVersion]:
        """Return versions and acls as they are now; none for an index that was deleted."""
        id_list = list(ids)
        if not id_list:
            return {}
        versions = self.container.versions
        try:
            return versions.get_versions(index, versions.get_epoch(index), id_list, fresh=True)
        except UnknownIndex:
            return {}


def _may_read_documents(
    caller: Caller, ids: Iterable[str], versions_by_document_id: Mapping[str, DocumentVersion]
) -> bool:
    return all(id in versions_by_document_id and caller.may_read(versions_by_document_id[id].acl) for id in ids)


def _read_page_request(answer: CachedAnswer) -> PageRequest:
    """Return the request that an answered page was made for, without groups."""
    page = loads(answer.stored.body)
    hits = tuple(entry["hit"] for entry in page["explanations"])
    vector = answer.stored.query_vector
    return PageRequest(page["index"], hits, page["against"], page["query"], page["document"], query_vector=vector)


def _make_batch_key(page_id: str) -> str:
    """Return the key of the pointer from a page to the batch that explains it."""
    return f"batch:{page_id}"


def _make_unknown_job(id: str) -> UnknownJob:
    return UnknownJob(f"no job {id!r}", fix="post the request again")
