"""Short-lived values by key: in Redis for several processes, in memory for one."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import redis

from indexer.engines.write_order import get_first_sequence_of_generation, get_write_generation_of
from indexer.indexing.notifications import EVENTS_CHANNEL, KEY_PREFIX, SET_UNLESS_NEWER, UNSETTLED, make_writer_key
from worker.json_bytes import loads
from worker.redis_connection import call_redis

_TAKE_SEQUENCE = """
local first, next_first = tonumber(ARGV[1]), tonumber(ARGV[2])
local number = tonumber(redis.call('GET', KEYS[1]) or 0) + 1
if ARGV[3] == '1' then
  number = math.max(number, first)
elseif number <= first or number >= next_first then
  return nil
end
redis.call('SET', KEYS[1], string.format('%.0f', number))
return string.format('%.0f', number)
"""
"""ARGV: first number of the generation, first number of the next one, 1 if the caller has just started this one."""


class KeyValueStore(ABC):
    """Values that expire, lists of bounded length, and messages to all processes.

    Every method raises StoreUnavailable when the store cannot be reached.
    """

    @abstractmethod
    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return one value for each key; None where there is none."""

    @abstractmethod
    def set(self, values: Mapping[str, bytes], seconds: float, *, only_new: bool = False) -> None:
        """Store the values for a number of seconds; ``only_new`` leaves existing values as they are."""

    @abstractmethod
    def set_unless_newer(self, values: Mapping[str, bytes], sequence: int, write_name: bytes, seconds: float) -> None:
        """Store versions of documents (``encode_version``), except where that of a newer write is stored already, or
        the document is unsettled by another write than this one."""

    @abstractmethod
    def take_sequence(self, key: str, write_generation: int, *, is_new_generation: bool) -> int | None:
        """Return the next sequence number (``indexer.engines.write_order``) of a generation.

        None if the last number under this key is not of that generation, or was the last one of it.
        ``is_new_generation``: this caller has just started it; the number is then above all under this key.
        """

    @abstractmethod
    def delete(self, keys: Sequence[str]) -> None: ...

    @abstractmethod
    def append(self, key: str, values: Sequence[bytes], max_length: int) -> None:
        """Append to a list, of which the newest ``max_length`` values are kept."""

    @abstractmethod
    def get_list(self, key: str) -> list[bytes]: ...

    @abstractmethod
    def publish(self, message: str) -> None:
        """Send a message to every process, on the channel that the job store uses."""


class RedisKeyValueStore(KeyValueStore):
    def __init__(self, client: redis.Redis, prefix: str = KEY_PREFIX) -> None:
        self._client = client
        self._prefix = prefix
        self._set_unless_newer = client.register_script(SET_UNLESS_NEWER)
        self._take_sequence = client.register_script(_TAKE_SEQUENCE)

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        if not keys:
            return []
        return call_redis(lambda: cast("list[bytes | None]", self._client.mget([self._add_prefix(k) for k in keys])))

    def set(self, values: Mapping[str, bytes], seconds: float, *, only_new: bool = False) -> None:
        def write() -> None:
            with self._client.pipeline(transaction=False) as pipe:
                for key, value in values.items():
                    pipe.set(self._add_prefix(key), value, px=max(1, int(seconds * 1000)), nx=only_new)
                pipe.execute()

        if values:
            call_redis(write)

    def set_unless_newer(self, values: Mapping[str, bytes], sequence: int, write_name: bytes, seconds: float) -> None:
        keys = [self._add_prefix(key) for key in values]
        if keys:
            arguments: list[bytes | int] = [max(1, int(seconds * 1000)), sequence, write_name, *values.values()]
            call_redis(lambda: self._set_unless_newer(keys=keys, args=arguments))

    def take_sequence(self, key: str, write_generation: int, *, is_new_generation: bool) -> int | None:
        arguments = [
            get_first_sequence_of_generation(write_generation),
            get_first_sequence_of_generation(write_generation + 1),
            int(is_new_generation),
        ]
        number = call_redis(lambda: self._take_sequence(keys=[self._add_prefix(key)], args=arguments))
        return None if number is None else int(number)

    def delete(self, keys: Sequence[str]) -> None:
        if keys:
            call_redis(lambda: self._client.delete(*(self._add_prefix(k) for k in keys)))

    def append(self, key: str, values: Sequence[bytes], max_length: int) -> None:
        def write() -> None:
            with self._client.pipeline() as pipe:
                pipe.rpush(self._add_prefix(key), *values)
                pipe.ltrim(self._add_prefix(key), -max_length, -1)
                pipe.execute()

        call_redis(write)

    def get_list(self, key: str) -> list[bytes]:
        return call_redis(lambda: cast("list[bytes]", self._client.lrange(self._add_prefix(key), 0, -1)))

    def publish(self, message: str) -> None:
        data = message.encode("utf-8", "surrogatepass")
        call_redis(lambda: self._client.publish(self._prefix + EVENTS_CHANNEL, data))

    def _add_prefix(self, key: str) -> bytes:
        return (self._prefix + key).encode("utf-8", "surrogatepass")


class MemoryKeyValueStore(KeyValueStore):
    """``on_publish`` is called with each message that is published."""

    def __init__(self, on_publish: Callable[[str], None], max_values: int = 200_000) -> None:
        self._on_publish = on_publish
        self._values: dict[str, tuple[bytes, float]] = {}
        """Key -> value, time at which it expires."""
        self._lock = threading.Lock()
        self._max_values = max_values
        self._lists: dict[str, deque[bytes]] = {}
        self._numbers: dict[str, int] = {}

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        now = time.monotonic()
        with self._lock:
            return [self._get_live(key, now) for key in keys]

    def set(self, values: Mapping[str, bytes], seconds: float, *, only_new: bool = False) -> None:
        now = time.monotonic()
        with self._lock:
            if len(self._values) + len(values) > self._max_values:
                self._values = {key: entry for key, entry in self._values.items() if entry[1] > now}
            for key, value in values.items():
                if not only_new or self._get_live(key, now) is None:
                    self._values[key] = (value, now + seconds)

    def set_unless_newer(self, values: Mapping[str, bytes], sequence: int, write_name: bytes, seconds: float) -> None:
        with self._lock:
            now = time.monotonic()
            for key, value in values.items():
                known, writer = self._get_live(key, now), self._get_live(make_writer_key(key), now)
                is_foreign = known == UNSETTLED and writer not in (None, write_name)
                is_newer = bool(known) and loads(known or b"")[2] > sequence
                if not is_foreign and not is_newer:
                    self._values[key] = (value, now + seconds)

    def _get_live(self, key: str, now: float) -> bytes | None:
        value, expires_at = self._values.get(key, (None, 0.0))
        return value if expires_at > now else None

    def take_sequence(self, key: str, write_generation: int, *, is_new_generation: bool) -> int | None:
        with self._lock:
            number = self._numbers.get(key, 0) + 1
            if is_new_generation:
                number = max(number, get_first_sequence_of_generation(write_generation))
            elif get_write_generation_of(number) != write_generation or number == get_first_sequence_of_generation(
                write_generation
            ):
                return None
            self._numbers[key] = number
            return number

    def delete(self, keys: Sequence[str]) -> None:
        with self._lock:
            for key in keys:
                self._values.pop(key, None)

    def append(self, key: str, values: Sequence[bytes], max_length: int) -> None:
        with self._lock:
            self._lists[key] = deque([*self._lists.get(key, ()), *values], max_length)

    def get_list(self, key: str) -> list[bytes]:
        with self._lock:
            return list(self._lists.get(key, ()))

    def publish(self, message: str) -> None:
        self._on_publish(message)
