"""The rate limit of each caller, counted in Redis for all processes together or in memory for one alone.

A caller may send ``rate`` requests at once and gets one back every ``60 / rate`` seconds (the generic cell rate
algorithm: one number per caller, the time at which all of them are back).
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

import redis

from indexer.errors import RateLimited, StoreUnavailable
from indexer.settings import Settings
from worker.redis_connection import call_redis
from worker.service.container import ServiceContainer

_MINUTE: Final = 60.0
_MAX_CALLERS: Final = 10_000

# KEYS: of the caller. ARGV: requests a minute. Returns the seconds to wait as text: Redis would truncate a number
_SCRIPT: Final = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1e6
local every = 60 / tonumber(ARGV[1])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
full = math.min(full, now + 60)  -- it was later only before the server's clock was set back
local wait = full + every - now - 60
if wait > 1e-6 then return string.format('%.6f', wait) end
full = full + every
redis.call('SET', KEYS[1], string.format('%.6f', full), 'PX', math.ceil((full - now) * 1000) + 1)
return '0'
"""


class RequestCounter(Protocol):
    """Counts the requests of each caller."""

    def count_request(self, caller: str, rate: int) -> float:
        """Count a request and return 0, or return the seconds after which it would be allowed and count nothing."""


class MemoryCounter:
    """Counts in this process."""

    def __init__(self) -> None:
        self._refill_times: dict[str, float] = {}
        """When each caller has all requests back, on the monotonic clock."""
        self._lock = threading.Lock()

    def count_request(self, caller: str, rate: int) -> float:
        now = time.monotonic()
        with self._lock:
            if len(self._refill_times) > _MAX_CALLERS:
                self._refill_times = {name: refill for name, refill in self._refill_times.items() if refill > now}
            refill = max(self._refill_times.get(caller, 0.0), now)
            wait = refill + _MINUTE / rate - now - _MINUTE
            if wait > 1e-6:
                return wait
            self._refill_times[caller] = refill + _MINUTE / rate
            return 0.0


class RedisCounter:
    """Counts in Redis; while it cannot be reached each process counts for itself."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._script = client.register_script(_SCRIPT)
        self._prefix = prefix
        self._fallback = MemoryCounter()

    def count_request(self, caller: str, rate: int) -> float:
        key = f"{self._prefix}rate:{caller}"
        try:
            return float(call_redis(lambda: self._script(keys=[key], args=[rate])))
        except StoreUnavailable:
            return self._fallback.count_request(caller, rate)


class RateLimit:
    """The requests a minute that each caller may send."""

    def __init__(self, per_minute: int, counter: RequestCounter, limited_per_minute: int = 0) -> None:
        """``limited_per_minute``: for callers with limited groups, if it is lower; 0 for no limit."""
        self.per_minute = per_minute
        self._limited_per_minute = min(filter(None, (per_minute, limited_per_minute)), default=0)
        self._counter = counter

    def check(self, caller: str, *, has_limited_groups: bool = False) -> None:
        """Count a request; raise RateLimited if it is one too many."""
        rate = self._limited_per_minute if has_limited_groups else self.per_minute
        wait = self._counter.count_request(caller, rate) if rate else 0.0
        if wait > 0:
            raise RateLimited(rate, wait)


def make_rate_limit(service: ServiceContainer, settings: Settings) -> RateLimit:
    """Make the rate limit of a service: in Redis, or in memory for one that runs inline."""
    counter = MemoryCounter() if service.is_inline else RedisCounter(service.redis, service.config.key_prefix)
    return RateLimit(settings.rate_per_minute, counter, settings.limited_rate_per_minute)
