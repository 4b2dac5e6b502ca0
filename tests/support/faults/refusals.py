"""States in which a real Valkey answers but refuses commands, each with the way into it and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import redis

from tests.support.polling import wait_until

_DEAD_PRIMARY: Final = ("127.0.0.1", 1)


@dataclass(frozen=True)
class Refusal:
    code: str
    """The first word of the server's error."""
    begin: Callable[[redis.Redis], object]
    end: Callable[[redis.Redis], object]


def _demote(client: redis.Redis) -> None:
    client.execute_command("REPLICAOF", *_DEAD_PRIMARY)  # type: ignore[no-untyped-call]


def _promote(client: redis.Redis) -> None:
    client.config_set("replica-serve-stale-data", "yes")
    client.execute_command("REPLICAOF", "NO", "ONE")  # type: ignore[no-untyped-call]


def _lose_primary(client: redis.Redis) -> None:
    client.config_set("replica-serve-stale-data", "no")
    _demote(client)


def _fail_to_save(client: redis.Redis) -> None:
    """Put a folder where the server wants to write its file."""
    _find_dump(client).unlink(missing_ok=True)
    _find_dump(client).mkdir()
    client.config_set("save", "3600 1")
    client.bgsave()
    wait_until(lambda: _get_persistence(client)["rdb_last_bgsave_status"] == "err")


def _save_again(client: redis.Redis) -> None:
    _find_dump(client).rmdir()
    client.bgsave()
    wait_until(lambda: _get_persistence(client)["rdb_last_bgsave_status"] == "ok")
    client.config_set("save", "")


def _find_dump(client: redis.Redis) -> Path:
    folder, name = (cast("dict[str, str]", client.config_get(key))[key] for key in ("dir", "dbfilename"))
    return Path(folder) / name


def _get_persistence(client: redis.Redis) -> dict[str, Any]:
    return cast("dict[str, Any]", client.info("persistence"))


REFUSALS: Final = (
    Refusal("READONLY", _demote, _promote),
    Refusal(
        "NOREPLICAS",
        lambda client: client.config_set("min-replicas-to-write", 1),
        lambda client: client.config_set("min-replicas-to-write", 0),
    ),
    Refusal("MASTERDOWN", _lose_primary, _promote),
    Refusal("MISCONF", _fail_to_save, _save_again),
    Refusal(
        "OOM",
        lambda client: client.config_set("maxmemory", 1),
        lambda client: client.config_set("maxmemory", 0),
    ),
)


@contextmanager
def refuse(url: str, refusal: Refusal) -> Iterator[None]:
    """Let the server refuse commands during the block."""
    with redis.Redis.from_url(url) as client:
        refusal.begin(client)
        try:
            yield
        finally:
            refusal.end(client)
