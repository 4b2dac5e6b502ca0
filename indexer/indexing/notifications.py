"""Notifications of a running service about writes: keys, values and lifetimes of its version cache in Redis.

The service caches the epoch of each index and the version and acl of each document, so that a cached answer needs no
request to the engine. A writer marks the documents as *unsettled* before the write (the service then reads the
engine) and stores their new versions after it, unless the version of a newer write is there already. Without
notifications the service notices a write within a minute, when its entries expire.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
    """Content version and acl of a document."""

    version: str
    acl: tuple[str, ...] = ()

    @classmethod
    def from_document(cls, document: AnalysedDocument | Document) -> DocumentVersion:
        if isinstance(document, Document):
            return cls(document.compute_version(), tuple(document.acl))
        return cls(document.version, tuple(document.document.acl))


class WriteListener(ABC):
    """Notified before and after every write to an index."""

    @abstractmethod
    def before_write(self, index: str, epoch: str, ids: Sequence[str], write_name: bytes) -> None:
        """Call before the engine is written; ``write_name``: from ``make_write_name``, for this write alone."""

    @abstractmethod
    def after_write(
        self,
        index: str,
        epoch: str,
        versions_by_document_id: Mapping[str, DocumentVersion | None],
        sequence: int,
        write_name: bytes,
    ) -> None:
        """Call when the write with this sequence number is visible; None for a document that was deleted.

        ``write_name`` is that of ``before_write``.
        """

    @abstractmethod
    def set_epoch(self, index: str, epoch: str | None) -> None:
        """Call when the index was rebuilt; None when it is gone."""


class RedisNotifier(WriteListener):
    """Notifies a service through its Redis; after the first failure it does nothing more."""

    def __init__(self, url: str, prefix: str = KEY_PREFIX) -> None:
        import redis

        self._error_type = redis.RedisError
        self._client = redis.Redis.from_url(
            url, socket_timeout=_REDIS_TIMEOUT_SECONDS, socket_connect_timeout=_REDIS_TIMEOUT_SECONDS
        )
        self._prefix = prefix
        self.failure: str | None = None
        """Why the service could not be notified; None if it was."""

    def before_write(self, index: str, epoch: str, ids: Sequence[str], write_name: bytes) -> None:
        self._set_values(make_unsettled_values(index, epoch, ids, write_name), UNSETTLED_TTL_SECONDS)

    def after_write(
        self,
        index: str,
        epoch: str,
        versions_by_document_id: Mapping[str, DocumentVersion | None],
        sequence: int,
        write_name: bytes,
    ) -> None:
        script = self._client.register_script(SET_UNLESS_NEWER)
        for is_acl, seconds in ((False, DOCUMENT_TTL_SECONDS), (True, ACL_TTL_SECONDS)):
            for batch in split_versions_into_batches(versions_by_document_id):
                keys = [self._redis_key(make_version_key(index, epoch, id, is_acl)) for id in batch]
                values = [encode_version(version, sequence) for version in batch.values()]
                self._run_unless_failed(
                    partial(script, keys=keys, args=[int(seconds * 1000), sequence, write_name, *values])
                )
        self._publish_change(index)

    def set_epoch(self, index: str, epoch: str | None) -> None:
        if epoch is None:
            self._run_unless_failed(lambda: self._client.delete(self._redis_key(make_epoch_key(index))))
        else:
            self._set_values({make_epoch_key(index): epoch.encode()}, EPOCH_TTL_SECONDS)
        self._publish_change(index)

    def close(self) -> None:
        self._client.close()

    def _set_values(self, values: Mapping[str, bytes], seconds: float) -> None:
        def write() -> None:
            with self._client.pipeline(transaction=False) as pipe:
                for name, value in values.items():
                    pipe.set(self._redis_key(name), value, px=int(seconds * 1000))
                pipe.execute()

        self._run_unless_failed(write)

    def _publish_change(self, index: str) -> None:
        self._run_unless_failed(lambda: self._client.publish(self._prefix + EVENTS_CHANNEL, f"index {index}"))

    def _run_unless_failed(self, step: Callable[[], object]) -> None:
        if self.failure is None:
            try:
                step()
            except (self._error_type, OSError) as error:
                self.failure = str(error).partition("\n")[0][:200] or type(error).__name__

    def _redis_key(self, name: str) -> bytes:
        return (self._prefix + name).encode("utf-8", "surrogatepass")


def open_notifier(settings: Settings) -> RedisNotifier:
    """Return a notifier of the service that uses the Redis of the settings, if one runs."""
    return RedisNotifier(settings.redis_url.get_secret_value())


def make_epoch_key(index: str) -> str:
    return f"epoch:{index}"


def make_version_key(index: str, epoch: str, id: str, is_acl: bool) -> str:
    """Return the key of a document's version; ``is_acl`` for the short-lived entry that access is decided by."""
    return f"{'acl' if is_acl else 'doc'}:{index}:{epoch}:{id}"


def make_version_keys(index: str, epoch: str, ids: Sequence[str]) -> list[str]:
    """Return both keys of every document."""
    return [make_version_key(index, epoch, id, is_acl) for id in ids for is_acl in (False, True)]


def split_versions_into_batches(
    versions_by_document_id: Mapping[str, DocumentVersion | None],
) -> Iterator[dict[str, DocumentVersion | None]]:
    """Yield the documents in parts that one call of SET_UNLESS_NEWER takes; Lua limits the arguments of a script."""
    remaining = iter(versions_by_document_id.items())
    while batch := dict(islice(remaining, _MAX_SCRIPT_KEYS)):
        yield batch


def encode_version(version: DocumentVersion | None, sequence: int = 0) -> bytes:
    """Return the value of a document's keys.

    ``version`` is None if there is no such document; ``sequence`` is the number of the write, 0 if it is not known.
    """
    if version is None:
        return orjson.dumps([None, [], sequence])
    return orjson.dumps([version.version, list(version.acl), sequence])


def make_write_name() -> bytes:
    """Return a name for one write, unlike that of any other."""
    return uuid.uuid4().hex.encode()


def make_unsettled_values(index: str, epoch: str, ids: Sequence[str], write_name: bytes) -> dict[str, bytes]:
    """Return the values of documents' keys while a write takes place, and of the keys that name the write."""
    keys = make_version_keys(index, epoch, ids)
    return dict.fromkeys(keys, UNSETTLED) | {make_writer_key(key): write_name for key in keys}


def make_writer_key(version_key: str) -> str:
    """Return the key that names the write which a document is unsettled by."""
    return version_key + _WRITER_SUFFIX


def decode_version(value: bytes) -> DocumentVersion | None:
    parsed: list[Any] | None = orjson.loads(value)
    return None if parsed is None or parsed[0] is None else DocumentVersion(parsed[0], tuple(parsed[1]))
