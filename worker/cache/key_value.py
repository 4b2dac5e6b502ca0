"""Short-lived values by name: in Redis for many processes, in memory for one."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import redis

from indexer.indexing.notifications import KEY_PREFIX
from worker.jobs.redis_store import guarded


class Keys(ABC):
    @abstractmethod
    def get(self, names: Sequence[str]) -> list[bytes | None]: ...

    @abstractmethod
    def set(self, values: Mapping[str, bytes], seconds: float, *, only_new: bool = False) -> None:
        """``only_new`` leaves what is there as it is."""

    @abstractmethod
    def drop(self, names: Sequence[str]) -> None: ...

    @abstractmethod
    def append(self, name: str, values: Sequence[bytes], most: int) -> None:
        """At the end of a list that keeps its ``most`` newest values."""

    @abstractmethod
    def listed(self, name: str) -> list[bytes]: ...

    @abstractmethod
    def publish(self, message: str) -> None:
        """Tell every process (the channel the job store uses)."""


class RedisKeys(Keys):
    def __init__(self, client: redis.Redis, prefix: str = KEY_PREFIX) -> None:
        self._client = client
        self._prefix = prefix

    def get(self, names: Sequence[str]) -> list[bytes | None]:
        if not names:
            return []
        return guarded(lambda: cast("list[bytes | None]", self._client.mget([self._name(n) for n in names])))

    def set(self, values: Mapping[str, bytes], seconds: float, *, only_new: bool = False) -> None:
        def write() -> None:
            with self._client.pipeline(transaction=False) as pipe:
                for name, value in values.items():
                    pipe.set(self._name(name), value, px=max(1, int(seconds * 1000)), nx=only_new)
                pipe.execute()

        if values:
            guarded(write)

    def drop(self, names: Sequence[str]) -> None:
        if names:
            guarded(lambda: self._client.delete(*(self._name(n) for n in names)))

    def append(self, name: str, values: Sequence[bytes], most: int) -> None:
        def write() -> None:
            with self._client.pipeline() as pipe:
                pipe.rpush(self._name(name), *values)
                pipe.ltrim(self._name(name), -most, -1)
                pipe.execute()

        guarded(write)

    def listed(self, name: str) -> list[bytes]:
        return guarded(lambda: cast("list[bytes]", self._client.lrange(self._name(name), 0, -1)))

    def publish(self, message: str) -> None:
        guarded(lambda: self._client.publish(self._prefix + "events", message.encode("utf-8", "surrogatepass")))

    def _name(self, name: str) -> bytes:
        return (self._prefix + name).encode("utf-8", "surrogatepass")


class MemoryKeys(Keys):
    def __init__(self, told: Callable[[str], None], most: int = 200_000) -> None:
        """``told`` hears what is published."""
        self._told = told
        self._values: dict[str, tuple[bytes, float]] = {}
        self._lock = threading.Lock()
        self._most = most
        self._lists: dict[str, deque[bytes]] = {}

    def get(self, names: Sequence[str]) -> list[bytes | None]:
        now = time.monotonic()
        with self._lock:
            found = [self._values.get(name) for name in names]
        return [value[0] if value is not None and value[1] > now else None for value in found]

    def set(self, values: Mapping[str, bytes], seconds: float, *, only_new: bool = False) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._values) + len(values) > self._most:
                self._values = {name: value for name, value in self._values.items() if value[1] > now}
            for name, value in values.items():
                old = self._values.get(name)
                if not (only_new and old is not None and old[1] > now):
                    self._values[name] = (value, now + seconds)

    def drop(self, names: Sequence[str]) -> None:
        with self._lock:
            for name in names:
                self._values.pop(name, None)

    def append(self, name: str, values: Sequence[bytes], most: int) -> None:
        with self._lock:
            self._lists[name] = deque([*self._lists.get(name, ()), *values], most)

    def listed(self, name: str) -> list[bytes]:
        with self._lock:
            return list(self._lists.get(name, ()))

    def publish(self, message: str) -> None:
        self._told(message)
