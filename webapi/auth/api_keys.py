"""API keys: a file of hashes, read again when it changes.

A key is ``pc_NAME_SECRET``; the secret is 256 random bits, so one round of SHA-256 hides it as well as
anything slower would. The file never holds a key::

    [search-page]
    sha256 = "9f86d081884c7d65..."
    scopes = ["read", "compare"]
    indexes = ["papers"]
    groups = ["staff"]
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import tempfile
import threading
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import BadSetting, PhraseComError
from indexer.identifiers import check_index_name
from worker.access import SCOPES, Caller

log = logging.getLogger(__name__)

ALL = "*"
PREFIX = "pc"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_HASH = re.compile(r"[0-9a-f]{64}")
_FIELDS = frozenset({"sha256", "scopes", "indexes", "groups"})
_NOBODY = "0" * 64
_LOOK_EVERY = 1.0
_HEAD = "# API keys, written by `phrasecom keys`; running servers read it again when it changes.\n"


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    sha256: str
    scopes: frozenset[str]
    indexes: frozenset[str] | None
    """None: all."""
    groups: frozenset[str] | None
    """None: reads every document, whatever its acl."""

    def caller(self) -> Caller:
        return Caller(f"key:{self.name}", self.groups, self.scopes, self.indexes)


def new_key(name: str) -> str:
    return f"{PREFIX}_{name}_{secrets.token_urlsafe(32)}"


def digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class KeyFile:
    """The keys in force. Looks at the file once a second at most, when somebody asks."""

    def __init__(self, path: Path) -> None:
        """Raises BadSetting unless the file is there and right."""
        self._path = path
        self._lock = threading.Lock()
        self._stamp = _stamp(path)
        self._keys = read_keys(path)
        self._next = time.monotonic() + _LOOK_EVERY

    def find(self, key: str) -> Caller | None:
        """Whose key it is. As quick for a wrong secret as for a name nobody has."""
        self._look()
        parts = key.split("_", 2)
        known = self._keys.get(parts[1]) if len(parts) == 3 and parts[0] == PREFIX else None
        same = hmac.compare_digest(digest(key), known.sha256 if known is not None else _NOBODY)
        return known.caller() if known is not None and same else None

    def _look(self) -> None:
        if time.monotonic() < self._next or not self._lock.acquire(blocking=False):
            return
        try:
            stamp = _stamp(self._path)
            if stamp != self._stamp:
                self._keys = read_keys(self._path) if stamp is not None else {}
                self._stamp = stamp
                log.info("read the API keys again: %d of them", len(self._keys))
        except BadSetting as error:  # perhaps half written: the keys before it stay in force
            log.error("the API keys in force stay: %s", error)
        finally:
            self._next = time.monotonic() + _LOOK_EVERY
            self._lock.release()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What is another once the file was written; None if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def read_keys(path: Path) -> dict[str, Key]:
    """By name; BadSetting names what is wrong and where."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadSetting(
            f"keys_file {str(path)!r}: no such file", fix="make it with: phrasecom keys add NAME"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(
            f"cannot read keys_file {str(path)!r}: {getattr(error, 'strerror', None) or error}",
            fix="write it with: phrasecom keys",
        ) from None
    try:
        return {name: _key(name, table) for name, table in tables.items()}
    except BadSetting as error:
        raise BadSetting(f"keys_file {str(path)!r}: {error.detail}", fix=error.fix) from None


def _key(name: str, table: object) -> Key:
    if not isinstance(table, Mapping) or set(table) - _FIELDS:
        raise BadSetting(f"[{name}] is not a key", fix=f"give it {', '.join(sorted(_FIELDS))}, nothing else")
    hashed = table.get("sha256")
    if not isinstance(hashed, str) or not _HASH.fullmatch(hashed):
        raise BadSetting(f"[{name}] sha256 is not a SHA-256", fix="make a key with: phrasecom keys add NAME")
    return checked_key(name, hashed, *(table.get(field) for field in ("scopes", "indexes", "groups")))


def checked_key(name: str, hashed: str, scopes: Any, indexes: Any, groups: Any) -> Key:
    """A key with these rights; ``["*"]`` stands for all."""
    if not _NAME.fullmatch(name):
        raise BadSetting(f"{name[:80]!r} cannot name a key", fix="use lower-case letters, digits and '-'")
    lists: dict[str, list[str]] = {}
    for field, values in (("scopes", scopes), ("indexes", indexes), ("groups", groups)):
        if not isinstance(values, list | tuple) or not all(isinstance(one, str) and one for one in values):
            raise BadSetting(f"[{name}] {field} must be a list of names", fix=f'write {field} = ["..."]')
        lists[field] = list(values)
    unknown = sorted(set(lists["scopes"]) - SCOPES)
    if unknown:
        raise BadSetting(f"[{name}] has no scope {unknown[0]!r}", fix=f"use {', '.join(sorted(SCOPES))}")
    for index in lists["indexes"]:
        if index != ALL:
            _index_name(name, index)
    return Key(name, hashed, frozenset(lists["scopes"]), _or_all(lists["indexes"]), _or_all(lists["groups"]))


def _index_name(key: str, index: str) -> None:
    try:
        check_index_name(index)
    except PhraseComError as error:
        raise BadSetting(f"[{key}] {error.detail}", fix=error.fix) from None


def _or_all(names: list[str]) -> frozenset[str] | None:
    return None if ALL in names else frozenset(names)


def write_keys(path: Path, keys: Mapping[str, Key]) -> None:
    """In one step, readable by its owner only: a server sees the old file or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(_HEAD + "".join(_table(key) for key in keys.values()))
        Path(part).replace(path)
    except OSError as error:
        raise BadSetting(f"cannot write {str(path)!r}: {error.strerror}", fix="give another --keys-file") from None


def _table(key: Key) -> str:
    lists = {"scopes": key.scopes, "indexes": key.indexes, "groups": key.groups}
    rows = [f"{field} = {listed(values)}" for field, values in lists.items()]
    return "\n".join([f"\n[{key.name}]", f'sha256 = "{key.sha256}"', *rows]) + "\n"


def listed(values: frozenset[str] | None) -> str:
    """As TOML: its strings are written like those of JSON."""
    return json.dumps([ALL] if values is None else sorted(values), ensure_ascii=False).replace("\x7f", "\\u007f")
