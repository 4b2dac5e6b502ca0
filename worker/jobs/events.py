"""Events between processes: a subscriber thread wakes requests that wait for a job and reports changed indexes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import redis

from indexer.errors import describe_root_cause
from indexer.logging_setup import redact
from worker.redis_connection import REDIS_FIX

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EventListeners:
    """Callbacks for the messages ``job ID`` (a job ended) and ``index NAME`` (an index was written)."""

    on_job: Callable[[str], None]
    on_index: Callable[[str | None], None]
    """None: any index may have changed."""

    def dispatch(self, message: str) -> None:
        kind, _, name = message.partition(" ")
        if kind == "job":
            self.on_job(name)
        elif kind == "index":
            self.on_index(name)


class EventSubscriber:
    """A thread that listens on the events channel and reconnects by itself.

    While ``is_connected`` is False, events are lost.
    """

    def __init__(self, client: redis.Redis, channel: str, listeners: EventListeners) -> None:
        self._client = client
        self._channel = channel
        self._listeners = listeners
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self.is_connected = False
        self._is_loss_logged = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopped.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._is_stopped.is_set():
            try:
                self._listen()
            except (redis.RedisError, OSError) as error:
                if not self._is_loss_logged:
                    log.warning(
                        "no connection to Redis: events and new jobs are unavailable (%s); %s",
                        redact(describe_root_cause(error)),
                        REDIS_FIX,
                    )
                self.is_connected, self._is_loss_logged = False, True
                self._is_stopped.wait(0.5)

    def _listen(self) -> None:
        with self._client.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
            channel.subscribe(self._channel)
            channel.get_message(timeout=1.0)
            self._listeners.on_index(None)  # an index may have changed before the subscription
            self.is_connected, self._is_loss_logged = True, False
            last_message = time.monotonic()
            while not self._is_stopped.is_set():
                message = channel.get_message(timeout=0.5)
                if message is not None:
                    self._listeners.dispatch(message["data"].decode("utf-8", "surrogatepass"))
                    last_message = time.monotonic()
                elif time.monotonic() - last_message > 10:
                    channel.ping()  # raises on a connection that died silently
                    last_message = time.monotonic()


class JobWaiters:
    """Threads that wait for jobs, up to ``max_waiting`` at once.

    ``on_change`` is called with the number of waiting threads whenever it changes.
    """

    def __init__(self, max_waiting: int, on_change: Callable[[int], object] = int) -> None:
        self._max_waiting = max_waiting
        self._on_change = on_change
        self._lock = threading.Lock()
        self._events: dict[str, list[threading.Event]] = {}
        self.count = 0

    def wake(self, id: str) -> None:
        """Wake the threads that wait for this job."""
        with self._lock:
            for event in self._events.get(id, ()):
                event.set()

    def wait(self, id: str, seconds: float, has_ended: Callable[[], bool]) -> bool:
        """Wait until ``has_ended()`` or the time is up; return False at once when too many threads wait already."""
        event = threading.Event()
        with self._lock:
            if self.count >= self._max_waiting:
                return False
            self.count += 1
            self._on_change(self.count)
            self._events.setdefault(id, []).append(event)
        try:
            deadline = time.monotonic() + seconds
            while not has_ended():
                seconds_left = deadline - time.monotonic()
                if seconds_left <= 0:
                    return True
                event.wait(min(seconds_left, 0.5))  # checks now and then, since a message may be lost
                event.clear()
            return True
        finally:
            with self._lock:
                self.count -= 1
                self._on_change(self.count)
                self._events[id].remove(event)
                if not self._events[id]:
                    del self._events[id]
