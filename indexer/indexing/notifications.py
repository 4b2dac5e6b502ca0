"""Notifications of a running service about writes: keys, values and lifetimes of its version cache in Redis.

The service caches the epoch of each index and the version and acl of each document, so that a cached answer needs no
request to the engine. A writer marks the documents as *unsettled* before the write (the service then reads the
engine) and stores their new versions after it, unless the version of a newer write is there already. Without
notifications the service notices a write within a minute, when its entries expire.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import orjson

from indexer.documents import AnalysedDocument, Document

if TYPE_CHECKING:
    from indexer.settings import Settings

KEY_PREFIX: Final = "{phrasecom}:"
"""Start of every key in Redis; the braces put all of them into one hash slot, so that scripts work on a cluster."""
EVENTS_CHANNEL: Final = "events"
"""Pub/sub channel, without the prefix; the message ``index NAME`` says that an index has changed."""
UNSETTLED: Final = b""
"""Value of a document that is being written."""
_WRITER_SUFFIX: Final = ":writer"
"""End of the key that names the write which a document is unsettled by."""
UNSETTLED_TTL_SECONDS: Final = 120.0
EPOCH_TTL_SECONDS: Final = 5.0
DOCUMENT_TTL_SECONDS: Final = 60.0
ACL_TTL_SECONDS: Final = 4.0
"""Lifetime of the entries that access of callers with limited groups is decided by."""
SET_UNLESS_NEWER: Final = """
local sequence, mark = tonumber(ARGV[2]), ARGV[3]
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key) or ''
  local is_json, entry = pcall(cjson.decode, value)
  local known = is_json and type(entry) == 'table' and tonumber(entry[3]) or 0
  local writer = redis.call('GET', key .. ':writer')
  local is_foreign = value == '' and writer and writer ~= mark
  if known <= sequence and not is_foreign then redis.call('SET', key, ARGV[i + 3], 'PX', ARGV[1]) end
end
"""
"""Script that stores versions, except where a newer one is or another write takes place; ARGV: milliseconds, sequence
number, name of this write, values. The other write may be newer: its documents stay unsettled until it ends."""
_MAX_SCRIPT_KEYS = 1000
_REDIS_TIMEOUT_SECONDS = 1.0
"""How long a command waits, once, for a Redis that does not answer."""


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """Content version and acl of a document, and its revision in an attached source."""

    version: str
    acl: tuple[str, ...] = ()
    revision: str | None = None

    @classmethod
    def from_document(cls, document: AnalysedDocument | Document) -> DocumentVersion:
        if isinstance(document, Document):
            return cls(document.compute_version(), tuple(document.acl), document.revision)
        return cls(document.version, tuple(document.document.acl), document.document.revision)


class WriteListener(ABC):
    """Keeps the version cache of a service right while an index is written; subclasses reach its key-value store."""

    epoch_ttl: float = EPOCH_TTL_SECONDS
    document_ttl: float = DOCUMENT_TTL_SECONDS
    acl_ttl: float = ACL_TTL_SECONDS

    def before_write(self, index: str, epoch: str, ids: Sequence[str]) -> bytes:
        """Mark documents as unsettled, before the engine is written; return a name of this write for after_write."""
        write_name = uuid.uuid4().hex.encode()
        keys = [make_version_key(index, epoch, id, is_acl) for id in ids for is_acl in (False, True)]
        unsettled = dict.fromkeys(keys, UNSETTLED) | {make_writer_key(key): write_name for key in keys}
        self._set_values(unsettled, UNSETTLED_TTL_SECONDS)
        return write_name

    def after_write(
        self,
        index: str,
        epoch: str,
        versions_by_document_id: Mapping[str, DocumentVersion | None],
        sequence: int,
        write_name: bytes,
    ) -> None:
        """Store the versions of the write with this sequence number, which is visible; None for a deleted document."""
        for is_acl, seconds in ((False, self.document_ttl), (True, self.acl_ttl)):
            remaining = iter(versions_by_document_id.items())
            while batch := list(islice(remaining, _MAX_SCRIPT_KEYS)):
                values = {
                    make_version_key(index, epoch, id, is_acl): encode_version(version, sequence)
                    for id, version in batch
                }
                self._set_unless_newer(values, sequence, write_name, seconds)
        self._publish(f"index {index}")

    def set_epoch(self, index: str, epoch: str | None) -> None:
        """Store the current epoch of an index that was rebuilt; None when it is gone."""
        key = make_epoch_key(index)
        if epoch is None:
            self._delete_value(key)
        else:
            self._set_values({key: epoch.encode()}, self.epoch_ttl)
        self._publish(f"index {index}")

    @abstractmethod
    def _set_values(self, values: Mapping[str, bytes], seconds: float) -> None: ...

    @abstractmethod
    def _set_unless_newer(self, values: Mapping[str, bytes], sequence: int, write_name: bytes, seconds: float) -> None:
        """Do what SET_UNLESS_NEWER does."""

    @abstractmethod
    def _delete_value(self, key: str) -> None: ...

    @abstractmethod
    def _publish(self, message: str) -> None:
        """Send a message to all processes of the service."""


class RedisNotifier(WriteListener):
    """Notifies a service through its Redis; after the first failure it does nothing more."""

    def __init__(self, url: str, prefix: str = KEY_PREFIX) -> None:
        import redis

        self._error_type = redis.RedisError
        self._client = redis.Redis.from_url(
            url, socket_timeout=_REDIS_TIMEOUT_SECONDS, socket_connect_timeout=_REDIS_TIMEOUT_SECONDS
        )
        self._script = self._client.register_script(SET_UNLESS_NEWER)
        self._prefix = prefix
        self.failure: str | None = None
        """Why the service could not be notified; None if it was."""

    def close(self) -> None:
        self._client.close()

    def _set_values(self, values: Mapping[str, bytes], seconds: float) -> None:
        def write() -> None:
            with self._client.pipeline(transaction=False) as pipe:
                for name, value in values.items():
                    pipe.set(self._redis_key(name), value, px=int(seconds * 1000))
                pipe.execute()

        self._run_unless_failed(write)

    def _set_unless_newer(self, values: Mapping[str, bytes], sequence: int, write_name: bytes, seconds: float) -> None:
        keys = [self._redis_key(name) for name in values]
        arguments: list[bytes | int] = [int(seconds * 1000), sequence, write_name, *values.values()]
        self._run_unless_failed(lambda: self._script(keys=keys, args=arguments))

    def _delete_value(self, key: str) -> None:
        self._run_unless_failed(lambda: self._client.delete(self._redis_key(key)))

    def _publish(self, message: str) -> None:
        self._run_unless_failed(lambda: self._client.publish(self._prefix + EVENTS_CHANNEL, message))

    def _run_unless_failed(self, step: Callable[[], object]) -> None:
        if self.failure is None:
            try:
                step()
            except (self._error_type, OSError) as error:
                self.failure = _describe_failure(error)

    def _redis_key(self, name: str) -> bytes:
        return (self._prefix + name).encode("utf-8", "surrogatepass")


def _describe_failure(error: Exception) -> str:
    """Return one line about a failure of Redis, without the command that failed."""
    text = str(error).partition("\n")[0]
    if "read only replica" in text:
        return "its Redis is a read-only replica; set redis_url to the primary"
    return text.rpartition(" caused error: ")[2][:200] or type(error).__name__


def open_notifier(settings: Settings) -> RedisNotifier:
    """Return a notifier of the service that uses the Redis of the settings, if one runs."""
    return RedisNotifier(settings.redis_url.get_secret_value())


def make_epoch_key(index: str) -> str:
    return f"epoch:{index}"


def make_version_key(index: str, epoch: str, id: str, is_acl: bool) -> str:
    """Return the key of a document's version; ``is_acl`` for the short-lived entry that access is decided by."""
    return f"{'acl' if is_acl else 'doc'}:{index}:{epoch}:{id}"


def encode_version(version: DocumentVersion | None, sequence: int = 0) -> bytes:
    """Return the value of a document's keys.

    ``version`` is None if there is no such document; ``sequence`` is the number of the write, 0 if it is not known.
    """
    if version is None:
        return orjson.dumps([None, [], sequence])
    return orjson.dumps([version.version, list(version.acl), sequence, version.revision])


def make_writer_key(version_key: str) -> str:
    """Return the key that names the write which a document is unsettled by."""
    return version_key + _WRITER_SUFFIX


def decode_version(value: bytes) -> DocumentVersion | None:
    parsed: list[Any] | None = orjson.loads(value)
    if parsed is None or parsed[0] is None:
        return None
    return DocumentVersion(parsed[0], tuple(parsed[1]), *parsed[3:])  # a process of a former version wrote three parts
