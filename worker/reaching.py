"""Waiting for Redis before a worker begins: whoever starts it sees what is wrong and how to mend it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

import redis

from indexer.errors import BadSetting, root_cause
from indexer.logging_setup import redact

log = logging.getLogger(__name__)

_TIMEOUT: Final = 2.0
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0
FIX: Final = "start Redis or Valkey there, or name another with redis_url (PHRASECOM_REDIS_URL, --redis-url)"


def wait_for_store(url: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Return once Redis answers; until then say every time that it does not, less and less often.

    Servers are started in any order, so one that is away is waited for. One that refuses us will go on doing so:
    that is BadSetting.
    """
    seconds = _FIRST_PAUSE
    while (reason := _missing(url)) is not None:
        log.warning("no Redis at %s (%s); %s; trying again in %.0f s", redact(url), reason, FIX, seconds)
        pause(seconds)
        seconds = min(seconds * 2, _LONGEST_PAUSE)


def _missing(url: str) -> str | None:
    """Why there is nobody to talk to; None if there is."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=_TIMEOUT, socket_timeout=_TIMEOUT) as client:
            client.ping()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
        raise _refused(url, error) from None
    except redis.ResponseError as error:
        if "auth" not in str(error).lower():
            return redact(root_cause(error))
        raise _refused(url, error) from None
    except (redis.RedisError, OSError) as error:
        return redact(root_cause(error))
    return None


def _refused(url: str, error: Exception) -> BadSetting:
    fix = "write its password into redis_url: redis://:PASSWORD@HOST:6379/0"
    return BadSetting(f"Redis at {redact(url)} refuses us ({redact(root_cause(error))})", fix=fix)
