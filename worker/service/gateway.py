"""The desk where questions are handed in and answers are picked up: cache, single flight, rights."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from indexer.engines.base import Groups
from indexer.errors import UnknownIndex, UnknownJob
from indexer.indexing.notifications import Version
from worker.access import Caller, eyes_of, rights_of
from worker.cache.answers import Kept, KnownQuestions, LocalAnswers
from worker.cache.readable_ids import Ids, ReadableIds
from worker.jobs.events import Listeners, Subscriber, Waiters
from worker.jobs.job import OPEN, Answer, Job, NewJob
from worker.jobs.payloads import Asked, AskedPage, page_of
from worker.json_bytes import dumps, loads
from worker.service.container import Service
from worker.service.job_handlers import named_documents

_AGAIN = 3
"""How often an answer is looked for that names nothing the caller may no longer read."""


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to a job at this moment: an answer, or how far it is."""

    job: Job
    kept: Kept | None = None
    source: str = "miss"
    """Where the answer came from: ``local`` (this process), ``hit`` (the store), ``miss`` (computed
    just now), ``stale`` (this process, unchecked)."""


@dataclass(frozen=True, slots=True)
class Ticket:
    id: str
    new: bool
    """Whether the question was not known before."""


class Desk:
    def __init__(
        self,
        service: Service,
        *,
        max_waiting: int = 8,
        local_bytes: int = 32 * 2**20,
        waiting: Callable[[int], object] = int,
    ) -> None:
        """``waiting`` hears how many requests wait, whenever that changes."""
        self.service = service
        self.waiters = Waiters(max_waiting, waiting)
        self.local = LocalAnswers(local_bytes)
        self.known = KnownQuestions(service.config.epoch_ttl)
        self._subscriber: Subscriber | None = None
        self._readable = ReadableIds(service.config.rights_ttl)
        listeners = Listeners(self.waiters.wake, self._changed)
        if service.inline:
            service.listen(listeners.hear)
        else:
            self._subscriber = Subscriber(service.redis, service.config.key_prefix + "events", listeners)
            self._subscriber.start()

    def _changed(self, index: str | None) -> None:
        self.known.changed(index)
        self._readable.changed(index)

    def readable_ids(self, index: str, epoch: str, groups: Groups, load: Callable[[], Ids]) -> Ids:
        """What these groups may read of an index: remembered for as long as news of it would be heard."""
        if self._subscriber is not None and not self._subscriber.connected:
            return load()
        return self._readable.get(index, epoch, groups, load)

    def recall(self, caller: Caller, body: bytes) -> str | None:
        """The id these very bytes led to a moment ago, if nothing can have changed since."""
        listening = self._subscriber is None or self._subscriber.connected
        return self.known.get(rights_of(caller.groups), body) if listening else None

    def stale(self, caller: Caller, body: bytes) -> Look | None:
        """What these bytes led to, while the store cannot be asked whether that still holds.

        Nothing for a caller with limited rights: whether they still have them cannot be asked either.
        """
        if caller.groups is not None:
            return None
        id = self.known.get(rights_of(caller.groups), body, stale=True)
        kept = self.local.get(id) if id else None
        if id is None or kept is None or not caller.may_use(kept.answer.index):
            return None
        return Look(Job(id, kept.kind, "done", 1.0), kept, "stale")

    def remember(self, caller: Caller, body: bytes, index: str, id: str) -> None:
        self.known.put(rights_of(caller.groups), body, index, id)

    def key(self, asked: Asked) -> str:
        """The id of the answer; raises what is wrong with the question."""
        question = asked.question()
        mirror = self.service.mirror
        epoch = mirror.epoch(asked.index)
        versions = mirror.versions(asked.index, epoch, [*asked.a.ids, *asked.b.ids], asked.groups)
        for side in (asked.a, asked.b):
            if side.form == "search":
                versions |= self.service.library.select(asked.index, side.words, asked.groups)
        return question.key(epoch, versions)

    def ask(self, asked: Asked, caller: Caller) -> Ticket:
        """Hand in a comparison unless it is known or under way."""
        eyes = eyes_of(asked.index, caller.groups)
        return self._enter_for(
            caller, NewJob(self.key(asked), "comparison", asked.to_json(), caller.key_id, rights=eyes)
        )

    def ask_page(self, asked: AskedPage, caller: Caller) -> Ticket:
        """Hand in a results page."""
        mirror = self.service.mirror
        epoch = mirror.epoch(asked.index)
        key = asked.key(epoch, mirror.versions(asked.index, epoch, asked.ids(), asked.groups))
        eyes = eyes_of(asked.index, caller.groups)
        return self._enter_for(caller, NewJob(key, "explanation", asked.to_json(), caller.key_id, rights=eyes))

    def _enter_for(self, caller: Caller, new: NewJob) -> Ticket:
        """Hand in a question. Where an answer is there that names a document which this caller may no longer
        read, the question is asked again under an id that depends on the acls as they are now."""
        ticket = self.enter(new)
        for _ in range(_AGAIN):
            job = None if ticket.new or caller.groups is None else self.service.store.get(ticket.id)
            if job is None or job.answer is None:
                break
            now = self._now(job.answer.index, job.answer.acls)
            if _readable(caller, job.answer.acls, now):
                break
            seen = dumps([ticket.id, [[id, now[id].version if id in now else None] for id in job.answer.acls]])
            other = new.id[:1] + hashlib.sha256(seen).hexdigest()[: len(new.id) - 1]
            ticket = self.enter(replace(new, id=other))
        return ticket

    def enter(self, new: NewJob) -> Ticket:
        entered = self.service.store.submit(new)
        if entered:
            self.service.announce(new.id, new.queue)
        return Ticket(new.id, entered)

    def look(self, id: str, caller: Caller, *, asked_now: bool = False) -> Look:
        """The job or its answer; UnknownJob for what does not exist or is not this caller's to see."""
        kept = self.local.get(id)
        if kept is not None:
            self._permit(caller, id, kept.answer)
            return Look(Job(id, kept.kind, "done", 1.0), kept, "local")
        part = page_of(id)
        if part is not None:
            return self._look_at_part(id, *part, caller)
        job = self.service.store.get(id)
        if job is None:
            raise _unknown(id)
        if job.answer is None:
            if not caller.may_follow(job.rights):
                raise _unknown(id)
            return Look(job)
        self._permit(caller, id, job.answer)
        return Look(job, self.local.put(id, job.kind, job.answer), "miss" if asked_now else "hit")

    def _look_at_part(self, id: str, page: str, position: int, caller: Caller) -> Look:
        """One hit of a page, as a comparison of its own."""
        whole = self.look(page, caller)
        if whole.kept is not None:
            entries = loads(whole.kept.answer.body)["explanations"]
            found = entries[position]["comparison"] if position < len(entries) else None
            if found is None:
                raise _unknown(id)
            answer = replace(whole.kept.answer, body=dumps(found))
            return Look(Job(id, "comparison", "done", 1.0), self.local.put(id, "comparison", answer), "hit")
        question = self.service.store.question(page)
        hits = AskedPage.from_json(question).hits if question else ()
        body = self.ready(page, caller).get(hits[position]) if position < len(hits) else None
        if body is None:
            return Look(replace(whole.job, id=id, kind="comparison"))
        return Look(Job(id, "comparison", "done", 1.0), Kept.of("comparison", Answer(body)), "hit")

    def ready(self, page: str, caller: Caller) -> dict[str, bytes]:
        """The comparisons of an open page that are ready, by hit, as far as the caller may read what they name."""
        parts = self.service.store.parts(page)
        if caller.groups is None or not parts:
            return parts
        bodies = {hit: loads(body) for hit, body in parts.items()}
        named = {hit: named_documents(body) for hit, body in bodies.items()}
        now = self._now(next(iter(bodies.values()))["index"], set().union(*named.values()))
        return {hit: body for hit, body in parts.items() if _readable(caller, named[hit], now)}

    def _permit(self, caller: Caller, id: str, answer: Answer) -> None:
        """Raise UnknownJob unless the index may be used, the answer was made for no more eyes than the caller's,
        and every document it names may be read, then and now."""
        if not caller.may_use(answer.index) or not caller.may_open(answer.eyes) or not caller.may_read_all(answer.acls):
            raise _unknown(id)
        if caller.groups is not None and not _readable(caller, answer.acls, self._now(answer.index, answer.acls)):
            raise _unknown(id)

    def _now(self, index: str, ids: Iterable[str]) -> dict[str, Version]:
        """Versions and acls as they are now; nothing of an index that is gone."""
        wanted = list(ids)
        if not wanted:
            return {}
        mirror = self.service.mirror
        try:
            return mirror.look_up(index, mirror.epoch(index), wanted, fresh=True)
        except UnknownIndex:
            return {}

    def wait(self, ticket: Ticket, caller: Caller, seconds: float) -> Look:
        """Look, and if it is still open wait for it; a full waiting room means no waiting."""
        id = ticket.id
        first = self.look(id, caller, asked_now=ticket.new)
        if first.job.state not in OPEN or seconds <= 0:
            return first
        last = first

        def ended() -> bool:
            nonlocal last
            last = self.look(id, caller, asked_now=True)
            return last.job.state not in OPEN

        self.waiters.wait(id, seconds, ended)
        return last

    def close(self) -> None:
        if self._subscriber is not None:
            self._subscriber.stop()
        self.service.close()


def _readable(caller: Caller, ids: Iterable[str], now: Mapping[str, Version]) -> bool:
    return all(id in now and caller.may_read(now[id].acl) for id in ids)


def _unknown(id: str) -> UnknownJob:
    return UnknownJob(f"no job {id!r}", fix="post the question again")
