"""How often one caller may ask: counted in Redis for all processes together, in memory for one alone.

A caller has so many requests at once and gets one back every ``60 / rate`` seconds (the generic cell rate
algorithm: one number per caller, the time at which all of them are back).
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

import redis

from indexer.errors import RateLimited, StoreUnavailable
from worker.jobs.redis_store import guarded
from worker.service.container import Service

_MINUTE: Final = 60.0
_MOST_CALLERS: Final = 10_000

# the caller's key; requests a minute. How long to wait, as text: Redis would cut a number
_SCRIPT: Final = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1e6
local every = 60 / tonumber(ARGV[1])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = full + every - now - 60
if wait > 1e-6 then return string.format('%.6f', wait) end
full = full + every
redis.call('SET', KEYS[1], string.format('%.6f', full), 'PX', math.ceil((full - now) * 1000) + 1)
return '0'
"""


class Meter(Protocol):
    def wait(self, caller: str, rate: int) -> float:
        """Count a request; 0, or the seconds after which it would be allowed (then it does not count)."""


class MemoryMeter:
    def __init__(self) -> None:
        self._full: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, caller: str, rate: int) -> float:
        now = time.monotonic()
        with self._lock:
            if len(self._full) > _MOST_CALLERS:
                self._full = {name: at for name, at in self._full.items() if at > now}
            full = max(self._full.get(caller, 0.0), now)
            wait = full + _MINUTE / rate - now - _MINUTE
            if wait > 1e-6:
                return wait
            self._full[caller] = full + _MINUTE / rate
            return 0.0


class RedisMeter:
    """While Redis is away each process counts for itself."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._script = client.register_script(_SCRIPT)
        self._prefix = prefix
        self._alone = MemoryMeter()

    def wait(self, caller: str, rate: int) -> float:
        key = f"{self._prefix}rate:{caller}"
        try:
            return float(guarded(lambda: self._script(keys=[key], args=[rate])))
        except StoreUnavailable:
            return self._alone.wait(caller, rate)


class RateLimit:
    def __init__(self, per_minute: int, meter: Meter) -> None:
        """``per_minute`` 0: no limit."""
        self.per_minute = per_minute
        self._meter = meter

    def check(self, caller: str) -> None:
        """Count a request; raises RateLimited."""
        wait = self._meter.wait(caller, self.per_minute) if self.per_minute else 0.0
        if wait > 0:
            raise RateLimited(self.per_minute, wait)


def rate_limit(service: Service, per_minute: int) -> RateLimit:
    meter: Meter = MemoryMeter() if service.inline else RedisMeter(service.redis, service.config.key_prefix)
    return RateLimit(per_minute, meter)
