"""Many questions to a running service, each followed to its end, and an account of what became of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import redis

from indexer.indexing.notifications import KEY_PREFIX
from tests.support.faults.deployment import PATIENCE, House
from tests.worker.jobs.conftest import until
from webapi.client import Reply

COMPARISONS = "/v1/comparisons"
AT_ONCE = 20


@dataclass
class Ended:
    """How a job ended, as its caller saw it."""

    state: str
    """``done``, ``failed`` (with the reason in ``code``) or ``lost``."""
    code: str = ""
    etag: str = ""


@dataclass
class Crowd:
    """Asks everything it is given; patient where it is told to come back."""

    house: House
    accepted: dict[str, Any] = field(default_factory=dict)
    """Job id -> its question."""
    ended: dict[str, Ended] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    """What was answered to requests that were not accepted at once; each was asked again."""
    wrong: list[str] = field(default_factory=list)
    """Replies there must never be."""

    def ask_all(self, bodies: Iterable[Mapping[str, Any]], ended: Mapping[str, object]) -> None:
        """At most ``AT_ONCE`` jobs are open at a time: what is to be seen is the fault, not a long queue.
        ``ended``: those that have."""
        for body in bodies:
            until(lambda: len(self.accepted.keys() - ended.keys()) < AT_ONCE, PATIENCE)
            self.ask(body)

    def ask(self, body: Mapping[str, Any], path: str = COMPARISONS) -> str | None:
        """Until the job is accepted; its id. None if it never was."""
        deadline = time.monotonic() + PATIENCE
        with self.house.client() as client:
            while time.monotonic() < deadline:
                try:
                    reply = client.request("POST", path, body, {"Prefer": "respond-async"})
                except OSError as error:
                    self.wrong.append(f"POST {path}: {error!r}")
                    client.close()
                    continue
                if reply.status in (200, 202):
                    id = str(reply.json()["id"])
                    self.accepted[id] = body
                    return id
                if not self._may_come_back(reply):
                    return None
                time.sleep(min(float(reply.headers["retry-after"]), 1.0))
        self.wrong.append(f"never accepted: {body}")
        return None

    def _may_come_back(self, reply: Reply) -> bool:
        self.refused[str(reply.json().get("code"))] += 1
        if reply.status in (429, 503) and "retry-after" in reply.headers:
            return True
        self.wrong.append(f"POST: {reply.status} {reply.body[:300]!r}")
        return False

    def follow_all(self, path: str = COMPARISONS, patience: float = PATIENCE) -> None:
        """Until every accepted job has ended; what has not by then is lost."""
        deadline = time.monotonic() + patience
        with self.house.client() as client:
            while waiting := [id for id in list(self.accepted) if id not in self.ended]:
                if time.monotonic() > deadline:
                    self.ended |= {id: Ended("lost", "still open") for id in waiting}
                    return
                for id in waiting:
                    self._look(client.request("GET", f"{path}/{id}"), id)
                time.sleep(0.2)

    def _look(self, reply: Reply, id: str) -> None:
        if reply.status in (202, 503, 429) and "state" not in _problem(reply):
            return
        if reply.status == 200:
            body = reply.json()
            assert body["id"] == id
            self.ended[id] = Ended("done", etag=reply.headers.get("etag", ""))
            return
        problem = _problem(reply)
        if problem.get("state") == "failed":
            self.ended[id] = Ended("failed", str(problem["code"]))
        else:
            self.ended[id] = Ended("lost", f"{reply.status} {reply.body[:200]!r}")

    def changed(self, path: str = COMPARISONS) -> list[str]:
        """Jobs whose answer is not the one that was seen first: each holds the milliseconds it took to compute."""
        done = {id: ended.etag for id, ended in self.ended.items() if ended.state == "done"}
        with self.house.client() as client:
            now = {id: client.request("GET", f"{path}/{id}").headers.get("etag") for id in done}
        return [id for id, etag in done.items() if now[id] != etag]

    def count(self, state: str) -> int:
        return sum(ended.state == state for ended in list(self.ended.values()))

    def reasons(self) -> Counter[str]:
        return Counter(ended.code for ended in self.ended.values() if ended.state == "failed")


def _problem(reply: Reply) -> dict[str, Any]:
    if not reply.headers.get("content-type", "").startswith("application/problem"):
        return {}
    return reply.json()


class Endings:
    """Counts, from the service's own announcements, how often each job ended. Twice would be an effect too many."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True, name="endings")
        self.times: Counter[str] = Counter()
        self.last: dict[str, float] = {}
        """When a job ended, by the monotonic clock."""
        self._thread.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                with self._client.pubsub(ignore_subscribe_messages=True) as channel:
                    channel.subscribe(KEY_PREFIX + "events")
                    while not self._over.is_set():
                        self._hear(channel.get_message(timeout=0.5))
            except (redis.RedisError, OSError):
                self._over.wait(0.1)

    def _hear(self, message: Mapping[str, Any] | None) -> None:
        kind, _, name = message["data"].decode().partition(" ") if message else ("", "", "")
        if kind == "job":
            self.times[name] += 1
            self.last[name] = time.monotonic()

    def twice(self, ids: Iterable[str]) -> set[str]:
        return {id for id in ids if self.times[id] > 1}

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
        self._client.close()
