"""One subscriber thread a process: who waits for a job is woken, who remembers an index is told."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import redis

from indexer.errors import root_cause
from indexer.logging_setup import redact
from worker.reaching import FIX

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told what: ``job ID`` when a job ends, ``index NAME`` when an index was written."""

    job: Callable[[str], None]
    index: Callable[[str | None], None]
    """None: any index may have changed."""

    def hear(self, message: str) -> None:
        kind, _, name = message.partition(" ")
        if kind == "job":
            self.job(name)
        elif kind == "index":
            self.index(name)


class Subscriber:
    """Listens on the events channel; reconnects by itself. ``connected`` says whether news arrive."""

    def __init__(self, client: redis.Redis, channel: str, listeners: Listeners) -> None:
        self._client = client
        self._channel = channel
        self._listeners = listeners
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="events", daemon=True)
        self.connected = False
        self._told = False
        """Whether its absence was logged."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(timeout=5)

    def _loop(self) -> None:
        while not self._over.is_set():
            try:
                self._listen()
            except (redis.RedisError, OSError) as error:
                if not self._told:
                    log.warning("no Redis, so no news and no new jobs (%s); %s", redact(root_cause(error)), FIX)
                self.connected, self._told = False, True
                self._over.wait(0.5)

    def _listen(self) -> None:
        with self._client.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
            channel.subscribe(self._channel)
            channel.get_message(timeout=1.0)
            self._listeners.index(None)  # something may have changed while nobody listened
            self.connected, self._told = True, False
            quiet = time.monotonic()
            while not self._over.is_set():
                message = channel.get_message(timeout=0.5)
                if message is not None:
                    self._listeners.hear(message["data"].decode("utf-8", "surrogatepass"))
                    quiet = time.monotonic()
                elif time.monotonic() - quiet > 10:
                    channel.ping()  # a connection that died without a word is noticed
                    quiet = time.monotonic()


class Waiters:
    """Threads that wait for jobs, at most so many at once."""

    def __init__(self, most: int, told: Callable[[int], object] = int) -> None:
        """``told`` hears how many wait, whenever that changes."""
        self._most = most
        self._told = told
        self._lock = threading.Lock()
        self._waiting: dict[str, list[threading.Event]] = {}
        self.count = 0

    def wake(self, id: str) -> None:
        with self._lock:
            waiting = self._waiting.get(id, ())
            for event in waiting:
                event.set()

    def wait(self, id: str, seconds: float, ended: Callable[[], bool]) -> bool:
        """Until ``ended()`` or the time is up. False at once when too many wait already."""
        event = threading.Event()
        with self._lock:
            if self.count >= self._most:
                return False
            self.count += 1
            self._told(self.count)
            self._waiting.setdefault(id, []).append(event)
        try:
            deadline = time.monotonic() + seconds
            while not ended():
                left = deadline - time.monotonic()
                if left <= 0:
                    return True
                event.wait(min(left, 0.5))  # look now and then: a message may be lost
                event.clear()
            return True
        finally:
            with self._lock:
                self.count -= 1
                self._told(self.count)
                self._waiting[id].remove(event)
                if not self._waiting[id]:
                    del self._waiting[id]
