"""The connection to Redis or Valkey: a client with bounded waits, its errors as ours, and waiting for the server."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from indexer.errors import BadSetting, StoreUnavailable, describe_root_cause
from indexer.logging_setup import redact

log = logging.getLogger(__name__)
T = TypeVar("T")

REDIS_FIX: Final = "start Redis or Valkey there, or set redis_url (PHRASECOM_REDIS_URL, --redis-url)"
_TIMEOUT_SECONDS: Final = 2.0
_FIRST_PAUSE_SECONDS: Final = 1.0
_MAX_PAUSE_SECONDS: Final = 30.0


def connect(url: str, *, timeout: float = _TIMEOUT_SECONDS, max_connections: int = 64) -> redis.Redis:
    """Return a client whose every wait is bounded: a dead server is an error within ``timeout`` seconds."""
    pool = redis.BlockingConnectionPool.from_url(
        url,
        max_connections=max_connections,
        timeout=timeout,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        health_check_interval=30,
        retry=Retry(NoBackoff(), 1),
    )
    return redis.Redis.from_pool(pool)  # the client owns the pool: closing the client closes all connections


def call_redis(command: Callable[[], T]) -> T:
    """Run a command against Redis; raise StoreUnavailable when Redis cannot be reached or is out of memory."""
    try:
        return command()
    except (redis.ConnectionError, redis.TimeoutError, redis.exceptions.BusyLoadingError, OSError) as error:
        raise StoreUnavailable(
            "the job store cannot be reached", fix="start Redis, or run phrasecom serve --inline"
        ) from error
    except redis.exceptions.OutOfMemoryError as error:
        raise StoreUnavailable("the job store is out of memory", fix="raise its maxmemory") from error


def wait_for_redis(url: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Return once Redis answers; until then log a warning before every pause, the pauses growing longer.

    Servers are started in any order, so one that is down is waited for. One that refuses the connection will go on
    doing so: raise BadSetting.
    """
    seconds = _FIRST_PAUSE_SECONDS
    while (reason := _find_connection_problem(url)) is not None:
        log.warning(
            "cannot connect to Redis at %s (%s); %s; retrying in %.0f s", redact(url), reason, REDIS_FIX, seconds
        )
        pause(seconds)
        seconds = min(seconds * 2, _MAX_PAUSE_SECONDS)


def _find_connection_problem(url: str) -> str | None:
    """Return why Redis does not answer, or None if it does; raise BadSetting if it refuses the connection."""
    try:
        with redis.Redis.from_url(
            url, socket_connect_timeout=_TIMEOUT_SECONDS, socket_timeout=_TIMEOUT_SECONDS
        ) as client:
            client.ping()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
        raise _make_refused_error(url, error) from None
    except redis.ResponseError as error:
        if "auth" not in str(error).lower():
            return redact(describe_root_cause(error))
        raise _make_refused_error(url, error) from None
    except (redis.RedisError, OSError) as error:
        return redact(describe_root_cause(error))
    return None


def _make_refused_error(url: str, error: Exception) -> BadSetting:
    fix = "put its password into redis_url: redis://:PASSWORD@HOST:6379/0"
    return BadSetting(f"Redis at {redact(url)} denies access ({redact(describe_root_cause(error))})", fix=fix)
