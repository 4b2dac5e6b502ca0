"""Many requests to a running service, with the outcome of every job they start."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import redis

from indexer.indexing.notifications import KEY_PREFIX
from tests.support.deployment import MAX_WAIT_SECONDS, Deployment
from tests.support.polling import wait_until
from webapi.client import Reply

COMPARISONS_PATH = "/v1/comparisons"
MAX_OPEN_JOBS = 20


@dataclass
class JobOutcome:
    """The end of a job as its caller saw it."""

    state: str
    """``done``, ``failed`` (with the reason in ``code``) or ``lost``."""
    code: str = ""
    etag: str = ""


@dataclass
class JobTracker:
    """Submits requests, again where the service asks to retry, and follows the jobs to their end."""

    deployment: Deployment
    accepted: dict[str, Any] = field(default_factory=dict)
    """Job id -> its request."""
    outcomes: dict[str, JobOutcome] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    """Error codes of requests that were not accepted at once; each was sent again."""
    bad_replies: list[str] = field(default_factory=list)
    """Replies that must never come."""

    def submit_all(self, bodies: Iterable[Mapping[str, Any]], ended_jobs: Mapping[str, object]) -> None:
        """Submit one after the other, with at most ``MAX_OPEN_JOBS`` open: the subject is the fault, not a long queue.

        ``ended_jobs``: grows by the ids of jobs as they end.
        """
        for body in bodies:
            wait_until(lambda: len(self.accepted.keys() - ended_jobs.keys()) < MAX_OPEN_JOBS, MAX_WAIT_SECONDS)
            self.submit(body)

    def submit(self, body: Mapping[str, Any], path: str = COMPARISONS_PATH) -> str | None:
        """Submit until the job is accepted and return its id, or None if it never is."""
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        with self.deployment.make_client() as client:
            while time.monotonic() < deadline:
                try:
                    reply = client.request("POST", path, body, {"Prefer": "respond-async"})
                except OSError as error:
                    self.bad_replies.append(f"POST {path}: {error!r}")
                    client.close()
                    continue
                if reply.status in (200, 202):
                    id = str(reply.json()["id"])
                    self.accepted[id] = body
                    return id
                if not self._may_retry(reply):
                    return None
                time.sleep(min(float(reply.headers["retry-after"]), 1.0))
        self.bad_replies.append(f"never accepted: {body}")
        return None

    def _may_retry(self, reply: Reply) -> bool:
        self.refusals[str(reply.json().get("code"))] += 1
        if reply.status in (429, 503) and "retry-after" in reply.headers:
            return True
        self.bad_replies.append(f"POST: {reply.status} {reply.body[:300]!r}")
        return False

    def follow_all(self, path: str = COMPARISONS_PATH, timeout_seconds: float = MAX_WAIT_SECONDS) -> None:
        """Wait until every accepted job has ended; those still open after the timeout are lost."""
        deadline = time.monotonic() + timeout_seconds
        with self.deployment.make_client() as client:
            while waiting := [id for id in list(self.accepted) if id not in self.outcomes]:
                if time.monotonic() > deadline:
                    self.outcomes |= {id: JobOutcome("lost", "still open") for id in waiting}
                    return
                for id in waiting:
                    self._record_reply(client.request("GET", f"{path}/{id}"), id)
                time.sleep(0.2)

    def _record_reply(self, reply: Reply, id: str) -> None:
        if reply.status in (202, 503, 429) and "state" not in _read_problem(reply):
            return
        if reply.status == 200:
            body = reply.json()
            assert body["id"] == id
            self.outcomes[id] = JobOutcome("done", etag=reply.headers.get("etag", ""))
            return
        problem = _read_problem(reply)
        if problem.get("state") == "failed":
            self.outcomes[id] = JobOutcome("failed", str(problem["code"]))
        else:
            self.outcomes[id] = JobOutcome("lost", f"{reply.status} {reply.body[:200]!r}")

    def find_changed_answers(self, path: str = COMPARISONS_PATH) -> list[str]:
        """Return the jobs whose answer was computed again: each answer contains the milliseconds of its computation."""
        first = {id: outcome.etag for id, outcome in self.outcomes.items() if outcome.state == "done"}
        with self.deployment.make_client() as client:
            now = {id: client.request("GET", f"{path}/{id}").headers.get("etag") for id in first}
        return [id for id, etag in first.items() if now[id] != etag]

    def count_jobs(self, state: str) -> int:
        return sum(outcome.state == state for outcome in list(self.outcomes.values()))

    def count_failure_codes(self) -> Counter[str]:
        return Counter(outcome.code for outcome in self.outcomes.values() if outcome.state == "failed")


def _read_problem(reply: Reply) -> dict[str, Any]:
    if not reply.headers.get("content-type", "").startswith("application/problem"):
        return {}
    return reply.json()


class JobEndCounter:
    """Counts the end of each job, as the service announces it in Valkey. No job may end twice."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True, name="job-ends")
        self.end_counts: Counter[str] = Counter()
        self.ended_at: dict[str, float] = {}
        """Job id -> its end by the monotonic clock."""
        self._thread.start()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._client.pubsub(ignore_subscribe_messages=True) as channel:
                    channel.subscribe(KEY_PREFIX + "events")
                    while not self._stopping.is_set():
                        self._count_event(channel.get_message(timeout=0.5))
            except (redis.RedisError, OSError):
                self._stopping.wait(0.1)

    def _count_event(self, message: Mapping[str, Any] | None) -> None:
        kind, _, name = message["data"].decode().partition(" ") if message else ("", "", "")
        if kind == "job":
            self.end_counts[name] += 1
            self.ended_at[name] = time.monotonic()

    def find_repeated(self, ids: Iterable[str]) -> set[str]:
        return {id for id in ids if self.end_counts[id] > 1}

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._client.close()
