"""The connection to Redis or Valkey: a client with bounded waits, its errors as ours, and waiting for the server."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import Final, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from indexer.errors import BadSetting, StoreUnavailable, describe_root_cause
from indexer.indexing.notifications import KEY_PREFIX
from indexer.logging_setup import redact

log = logging.getLogger(__name__)
T = TypeVar("T")

REDIS_FIX: Final = "start Redis or Valkey there, or set redis_url (PHRASECOM_REDIS_URL, --redis-url)"
_TIMEOUT_SECONDS: Final = 2.0
_FIRST_PAUSE_SECONDS: Final = 1.0
_MAX_PAUSE_SECONDS: Final = 30.0
_PROBE_MILLISECONDS: Final = 10_000
_USE_PRIMARY: Final = "set redis_url to a server that is the primary"
_USE_ONE_SERVER: Final = "set redis_url to one primary server, or to a proxy or name that follows it"
_REFUSALS: Final = {
    "READONLY": _USE_PRIMARY,
    "MASTERDOWN": _USE_PRIMARY,
    "NOREPLICAS": "start the replicas that its min-replicas-to-write demands",
    "MISCONF": "free its disk; its log says why it cannot save",
    "OOM": "raise its maxmemory",
    "BUSY": "wait for the script that it runs",
    "UNBLOCKED": "wait: it becomes a primary or a replica",
    "CLUSTERDOWN": _USE_ONE_SERVER,
    "TRYAGAIN": _USE_ONE_SERVER,
    "MOVED": _USE_ONE_SERVER,
    "ASK": _USE_ONE_SERVER,
}
"""Code of an error with which a server refuses commands that it would accept in another state -> the fix."""
_REFUSAL_PATTERN: Final = re.compile(rf"\b({'|'.join(_REFUSALS)})\b")
_REFUSAL_TYPES: Final[dict[type[Exception], str]] = {
    redis.exceptions.ReadOnlyError: "READONLY",
    redis.exceptions.MasterDownError: "MASTERDOWN",
    redis.exceptions.OutOfMemoryError: "OOM",
    redis.exceptions.ClusterDownError: "CLUSTERDOWN",
    redis.exceptions.TryAgainError: "TRYAGAIN",
    redis.exceptions.MovedError: "MOVED",
    redis.exceptions.AskError: "ASK",
}
"""Errors whose message the client strips of the code; the first that fits."""


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
    """Run a command against Redis; raise StoreUnavailable when Redis cannot be reached, or refuses the command because
    of its own state."""
    try:
        return command()
    except (redis.ConnectionError, redis.TimeoutError, redis.exceptions.BusyLoadingError, OSError) as error:
        raise StoreUnavailable(
            "the job store cannot be reached", fix="start Redis, or run phrasecom serve --inline"
        ) from error
    except redis.ResponseError as error:
        code = find_refusal(error)
        if code is None:
            raise
        raise StoreUnavailable(f"the job store refuses commands ({code})", fix=_REFUSALS[code]) from error


def find_refusal(error: redis.ResponseError) -> str | None:
    """Return the code of an error by which the server refuses commands because of its own state; None for others."""
    for kind, code in _REFUSAL_TYPES.items():
        if isinstance(error, kind):
            return code
    found = _REFUSAL_PATTERN.search(str(error))
    return found[1] if found else None


def probe_write(client: redis.Redis, prefix: str = KEY_PREFIX) -> None:
    """Write a key that expires: a server that only answers a ping may refuse every job. Raise the client's errors."""
    client.set(prefix + "probe", b"", px=_PROBE_MILLISECONDS)


def check_server_kind(url: str) -> None:
    """Raise BadSetting for a Sentinel or a node of a cluster; return if it is another server, or does not answer."""
    try:
        with _open_client(url) as client:
            _check_kind(client, url)
    except (redis.RedisError, OSError):
        return


def wait_for_redis(url: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Return once Redis accepts writes; until then log a warning before every pause, the pauses growing longer.

    Servers are started in any order, so one that is down is waited for. One that refuses the connection, and one of
    an unsupported kind, will go on doing so: raise BadSetting.
    """
    seconds = _FIRST_PAUSE_SECONDS
    while (problem := _find_problem(url)) is not None:
        reason, fix = problem
        log.warning("cannot use Redis at %s (%s); %s; retrying in %.0f s", redact(url), reason, fix, seconds)
        pause(seconds)
        seconds = min(seconds * 2, _MAX_PAUSE_SECONDS)


def _find_problem(url: str) -> tuple[str, str] | None:
    """Return why Redis cannot be used and the fix, or None; raise BadSetting if it refuses the connection."""
    try:
        with _open_client(url) as client:
            client.ping()
            _check_kind(client, url)
            probe_write(client)
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
        raise _make_refused_error(url, error) from None
    except redis.ResponseError as error:
        code = find_refusal(error)
        if code is not None:
            return f"{code} {redact(describe_root_cause(error))}", _REFUSALS[code]
        if "auth" in str(error).lower():
            raise _make_refused_error(url, error) from None
        return redact(describe_root_cause(error)), REDIS_FIX
    except (redis.RedisError, OSError) as error:
        return redact(describe_root_cause(error)), REDIS_FIX
    return None


def _open_client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_connect_timeout=_TIMEOUT_SECONDS, socket_timeout=_TIMEOUT_SECONDS)


def _check_kind(client: redis.Redis, url: str) -> None:
    """Raise BadSetting for a Sentinel or a node of a cluster; the name of the field depends on the server."""
    try:
        info = client.info("server")
    except redis.exceptions.NoPermissionError:
        return  # what a server is need not be known to use it
    kind = info.get("redis_mode") or info.get("server_mode") or info.get("valkey_mode")
    if kind in ("sentinel", "cluster"):
        raise BadSetting(
            f"Redis at {redact(url)} is a {kind} server; Sentinel and Cluster are not supported", fix=_USE_ONE_SERVER
        )


def _make_refused_error(url: str, error: Exception) -> BadSetting:
    fix = "put its password into redis_url: redis://:PASSWORD@HOST:6379/0"
    return BadSetting(f"Redis at {redact(url)} denies access ({redact(describe_root_cause(error))})", fix=fix)
