"""What a running service must hear of a write: the names and values it keeps in Redis, and telling it from the shell.

The service remembers each index's epoch and each document's version and acl, so that a cached answer
costs the engine nothing. Whoever writes says so before (the documents are *unsettled*: ask the engine) and after
(their new versions). A service that is not told notices by itself within a minute, when what it remembers expires.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from indexer.documents import AnalysedDocument, Document

if TYPE_CHECKING:
    from indexer.settings import Settings

KEY_PREFIX: Final = "{phrasecom}:"
"""Before every key in Redis: one hash slot for all, so that a step may touch several keys on a cluster too."""
EVENTS: Final = "events"
UNSETTLED: Final = b""
UNSETTLED_SECONDS: Final = 120.0
EPOCH_SECONDS: Final = 5.0
DOCUMENT_SECONDS: Final = 60.0
RIGHTS_SECONDS: Final = 4.0
_MISSING: Final = b"null"
_SECONDS = 1.0
"""A Redis that does not answer holds a command up this long, once."""


@dataclass(frozen=True, slots=True)
class Version:
    version: str
    acl: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: AnalysedDocument | Document) -> Version:
        if isinstance(document, Document):
            return cls(document.version(), tuple(document.acl))
        return cls(document.version, tuple(document.document.acl))


class Audience(ABC):
    """Who is told of writes; told before and after each."""

    @abstractmethod
    def writing(self, index: str, epoch: str, ids: Sequence[str]) -> None:
        """Call before the engine is written."""

    @abstractmethod
    def wrote(self, index: str, epoch: str, documents: Mapping[str, Version | None]) -> None:
        """Call when the write is visible; None for a document that was deleted."""

    @abstractmethod
    def new_epoch(self, index: str, epoch: str | None) -> None:
        """Call when the index was rebuilt; None when it is gone."""


class Service(Audience):
    """A service that shares a Redis with us; one that cannot be reached is not waited for twice."""

    def __init__(self, url: str, prefix: str = KEY_PREFIX) -> None:
        import redis

        self._failure = redis.RedisError
        self._client = redis.Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
        self._prefix = prefix
        self.unreached: str | None = None
        """Why it could not be told."""

    def writing(self, index: str, epoch: str, ids: Sequence[str]) -> None:
        self._set(dict.fromkeys(document_names(index, epoch, ids), UNSETTLED), UNSETTLED_SECONDS)

    def wrote(self, index: str, epoch: str, documents: Mapping[str, Version | None]) -> None:
        for fresh, seconds in ((False, DOCUMENT_SECONDS), (True, RIGHTS_SECONDS)):
            values = {document_name(index, epoch, id, fresh): pack(version) for id, version in documents.items()}
            self._set(values, seconds)
        self._publish(index)

    def new_epoch(self, index: str, epoch: str | None) -> None:
        if epoch is None:
            self._try(lambda: self._client.delete(self._name(epoch_name(index))))
        else:
            self._set({epoch_name(index): epoch.encode()}, EPOCH_SECONDS)
        self._publish(index)

    def close(self) -> None:
        self._client.close()

    def _set(self, values: Mapping[str, bytes], seconds: float) -> None:
        def write() -> None:
            with self._client.pipeline(transaction=False) as pipe:
                for name, value in values.items():
                    pipe.set(self._name(name), value, px=int(seconds * 1000))
                pipe.execute()

        self._try(write)

    def _publish(self, index: str) -> None:
        self._try(lambda: self._client.publish(self._prefix + EVENTS, f"index {index}"))

    def _try(self, step: Any) -> None:
        if self.unreached is None:
            try:
                step()
            except (self._failure, OSError) as error:
                self.unreached = str(error).partition("\n")[0][:200] or type(error).__name__

    def _name(self, name: str) -> bytes:
        return (self._prefix + name).encode("utf-8", "surrogatepass")


def audience_of(settings: Settings) -> Service:
    """The service that shares the settings' Redis, if one runs."""
    return Service(settings.redis_url.get_secret_value())


def epoch_name(index: str) -> str:
    return f"epoch:{index}"


def document_name(index: str, epoch: str, id: str, fresh: bool) -> str:
    """``fresh``: the entry that rights are judged by, which lives for seconds only."""
    return f"{'acl' if fresh else 'doc'}:{index}:{epoch}:{id}"


def document_names(index: str, epoch: str, ids: Sequence[str]) -> list[str]:
    return [document_name(index, epoch, id, fresh) for id in ids for fresh in (False, True)]


def pack(version: Version | None) -> bytes:
    return _MISSING if version is None else orjson.dumps([version.version, list(version.acl)])


def unpack(value: bytes) -> Version | None:
    parsed: list[Any] | None = orjson.loads(value)
    return None if parsed is None else Version(parsed[0], tuple(parsed[1]))
