"""API keys: a file of hashes, read again when it changes.

A key is ``pc_NAME_SECRET``; the secret is 256 random bits, so one round of SHA-256 protects it as well as
anything slower would. The file never contains a key::

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
import re
import secrets
import threading
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.atomic_files import open_replacement
from indexer.errors import BadSetting, PhraseComError
from indexer.identifiers import check_index_name
from worker.access import SCOPES, Caller

log = logging.getLogger(__name__)

ALL_NAMES = "*"
KEY_PREFIX = "pc"
_KEY_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_SHA256_HEX = re.compile(r"[0-9a-f]{64}")
_FIELDS = frozenset({"sha256", "scopes", "indexes", "groups"})
_IMPOSSIBLE_HASH = "0" * 64
"""Compared with where no key has the name, so that it takes as long."""
_CHECK_SECONDS = 1.0
"""Time between two looks at the file."""
_FILE_HEADER = "# API keys, written by `phrasecom keys`; running servers reload this file when it changes.\n"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The hash of a key and the rights it gives."""

    name: str
    sha256: str
    scopes: frozenset[str]
    indexes: frozenset[str] | None
    """None: all."""
    groups: frozenset[str] | None
    """None: reads every document, whatever its acl."""

    def to_caller(self) -> Caller:
        """Return the caller that shows this key."""
        return Caller(f"key:{self.name}", self.groups, self.scopes, self.indexes)


def generate_key(name: str) -> str:
    """Return a new random key."""
    return f"{KEY_PREFIX}_{name}_{secrets.token_urlsafe(32)}"


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key, in hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class KeyFile:
    """The current keys; the file is checked for changes once a second at most, when a key is looked up.

    While the file is missing or not valid there are no keys: those read before may be the ones that were removed.
    """

    def __init__(self, path: Path) -> None:
        """Read the file; raise BadSetting if it is missing or not valid."""
        self._path = path
        self._lock = threading.Lock()
        self._stamp = _get_file_stamp(path)
        self._keys = read_keys(path)
        self._fault: BadSetting | None = None
        self._next_check = time.monotonic() + _CHECK_SECONDS

    def find_caller(self, key: str) -> Caller | None:
        """Return the caller with this key, or None; a wrong secret takes as long as a name that does not exist.

        Raise BadSetting while the file cannot be read.
        """
        self.check_file()
        parts = key.split("_", 2)
        api_key = self._keys.get(parts[1]) if len(parts) == 3 and parts[0] == KEY_PREFIX else None
        is_equal = hmac.compare_digest(hash_key(key), api_key.sha256 if api_key is not None else _IMPOSSIBLE_HASH)
        return api_key.to_caller() if api_key is not None and is_equal else None

    def check_file(self) -> None:
        """Read the file again if it may have changed; raise BadSetting if it cannot be read."""
        self._reload_if_changed()
        fault = self._fault
        if fault is not None:
            raise BadSetting(fault.detail, fix=fault.fix)

    def _reload_if_changed(self) -> None:
        if time.monotonic() < self._next_check or not self._lock.acquire(blocking=False):
            return
        try:
            stamp = _get_file_stamp(self._path)
            if stamp != self._stamp or self._fault is not None:  # permissions can change without a new stamp
                self._reload()
                self._stamp = stamp
        finally:
            self._next_check = time.monotonic() + _CHECK_SECONDS
            self._lock.release()

    def _reload(self) -> None:
        try:
            keys = read_keys(self._path)
        except BadSetting as fault:
            if self._fault is None or str(self._fault) != str(fault):
                log.error("every API key is refused until its file can be read again: %s", fault)
            self._fault, self._keys = fault, {}
        else:
            self._fault, self._keys = None, keys
            log.info("reloaded the API keys: %d keys", len(keys))


def _get_file_stamp(path: Path) -> tuple[int, int, int] | None:
    """Return a value that differs once the file is written; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_keys(path: Path) -> dict[str, ApiKey]:
    """Return the keys of a file by name; raise BadSetting that says what is wrong and where."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadSetting(
            f"keys_file {str(path)!r}: no such file", fix="create it with: phrasecom keys add NAME"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(
            f"cannot read keys_file {str(path)!r}: {getattr(error, 'strerror', None) or error}",
            fix="manage it with: phrasecom keys",
        ) from None
    try:
        return {name: _parse_key(name, table) for name, table in tables.items()}
    except BadSetting as error:
        raise BadSetting(f"keys_file {str(path)!r}: {error.detail}", fix=error.fix) from None


def _parse_key(name: str, table: object) -> ApiKey:
    if not isinstance(table, Mapping) or set(table) - _FIELDS:
        raise BadSetting(f"[{name}] is not a valid key", fix=f"it must have exactly {', '.join(sorted(_FIELDS))}")
    sha256 = table.get("sha256")
    if not isinstance(sha256, str) or not _SHA256_HEX.fullmatch(sha256):
        raise BadSetting(f"[{name}] sha256 is not a SHA-256 hash", fix="create a key with: phrasecom keys add NAME")
    return make_api_key(name, sha256, *(table.get(field) for field in ("scopes", "indexes", "groups")))


def make_api_key(name: str, sha256: str, scopes: Any, indexes: Any, groups: Any) -> ApiKey:
    """Return a key with these rights, where ``["*"]`` means all; raise BadSetting if they are not valid."""
    if not _KEY_NAME.fullmatch(name):
        raise BadSetting(f"{name[:80]!r} is not a valid key name", fix="use lower-case letters, digits and '-'")
    lists: dict[str, list[str]] = {}
    for field, values in (("scopes", scopes), ("indexes", indexes), ("groups", groups)):
        if not isinstance(values, list | tuple) or not all(isinstance(value, str) and value for value in values):
            raise BadSetting(f"[{name}] {field} must be a list of names", fix=f'write {field} = ["..."]')
        lists[field] = list(values)
    unknown = sorted(set(lists["scopes"]) - SCOPES)
    if unknown:
        raise BadSetting(f"[{name}] has an unknown scope {unknown[0]!r}", fix=f"use {', '.join(sorted(SCOPES))}")
    for index in lists["indexes"]:
        if index != ALL_NAMES:
            _check_index(name, index)
    indexes, groups = _to_restriction(lists["indexes"]), _to_restriction(lists["groups"])
    return ApiKey(name, sha256, frozenset(lists["scopes"]), indexes, groups)


def _check_index(key: str, index: str) -> None:
    try:
        check_index_name(index)
    except PhraseComError as error:
        raise BadSetting(f"[{key}] {error.detail}", fix=error.fix) from None


def _to_restriction(names: list[str]) -> frozenset[str] | None:
    """Return the names, or None for no restriction."""
    return None if ALL_NAMES in names else frozenset(names)


def write_keys(path: Path, keys: Mapping[str, ApiKey]) -> None:
    """Replace the file in one step, readable by its owner only; raise BadSetting if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_replacement(path, is_private=True) as stream:
            stream.write((_FILE_HEADER + "".join(_format_key(key) for key in keys.values())).encode())
    except OSError as error:
        raise BadSetting(f"cannot write {str(path)!r}: {error.strerror}", fix="give another --keys-file") from None


def _format_key(key: ApiKey) -> str:
    lists = {"scopes": key.scopes, "indexes": key.indexes, "groups": key.groups}
    rows = [f"{field} = {_format_names(values)}" for field, values in lists.items()]
    return "\n".join([f"\n[{key.name}]", f'sha256 = "{key.sha256}"', *rows]) + "\n"


def _format_names(values: frozenset[str] | None) -> str:
    """Return a TOML list; TOML strings are written like those of JSON."""
    return json.dumps([ALL_NAMES] if values is None else sorted(values), ensure_ascii=False).replace("\x7f", "\\u007f")
