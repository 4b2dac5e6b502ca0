"""Who comes in: the host they call, the key they show, how often they ask, and what the key allows."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flask import Flask, g, request

from indexer.errors import BadSetting, Forbidden, Unauthorized, UnknownHost, UnknownIndex
from indexer.identifiers import check_index_name
from indexer.settings import Settings
from webapi.auth.api_keys import KeyFile, read_keys
from webapi.auth.rate_limit import RateLimit
from worker.access import Caller

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PUBLIC: Final = ""
"""Needs no key: nothing of any index is shown."""
ANY: Final = "any"
"""Whatever the key is for."""
SCOPE_OF: Final = {
    "comparisons.ask": "compare",
    "comparisons.follow": "compare",
    "comparisons.leave": "compare",
    "feedback.say": "compare",
    "explanations.ask": "compare",
    "explanations.follow": "compare",
    "explanations.leave": "compare",
    "search.search": "read",
    "indexes.listed": "read",
    "indexes.one": "read",
    "indexes.document": "read",
    "indexes.suggest": "read",
    "indexes.add": "ingest",
    "indexes.job": ANY,
    "health.metrics": "admin",
    "health.alive": PUBLIC,
    "health.ready": PUBLIC,
    "openapi.served": PUBLIC,
    "docs.page": PUBLIC,
}
"""By endpoint. What is not listed here is refused."""
_PAGES: Final = "pages."
_HEALTH: Final = ("health.alive", "health.ready")
_SCHEMES: Final = ("bearer", "apikey")


class Gate:
    def __init__(self, settings: Settings, rate: RateLimit) -> None:
        """Raises BadSetting for a keys file that is not there, not right, or empty."""
        self._rate = rate
        self._keys: KeyFile | None = None
        if settings.keys_file:
            check_keys(settings)
            self._keys = KeyFile(Path(settings.keys_file))
        named = frozenset(host.lower() for host in settings.allowed_hosts.split())
        self._hosts = named if named or self._keys is not None else frozenset()
        self._check_hosts = bool(named) or self._keys is None

    def register(self, app: Flask) -> None:
        app.before_request(self._enter)

    def glance(self, environ: WSGIEnvironment) -> Caller | None:
        """The caller, if there is nothing to look into: no count to keep, no scope, index or group to check."""
        if self._rate.per_minute or not self._host_is_right(environ):
            return None
        caller = self._known(environ)
        if caller is None or caller.groups is not None or caller.indexes is not None:
            return None
        return caller if "compare" in caller.scopes else None

    def _enter(self) -> None:
        endpoint = request.endpoint
        if endpoint not in _HEALTH and not self._host_is_right(request.environ):
            raise UnknownHost(request.environ.get("HTTP_HOST", ""))
        if endpoint is None or request.method == "OPTIONS" or endpoint.startswith(_PAGES):
            return  # nothing there, a question about other sites' rights, or a page without any data
        scope = SCOPE_OF.get(endpoint)
        if scope == PUBLIC:
            return
        g.caller = self._caller()
        self._rate.check(g.caller.key_id)
        if scope is None:
            raise Forbidden(f"no key allows {endpoint}")
        if scope != ANY:
            require(g.caller, scope)
        index = (request.view_args or {}).get("index", (request.view_args or {}).get("name"))
        if index is not None:
            check_index(g.caller, check_index_name(index))

    def _caller(self) -> Caller:
        found = self._known(request.environ)
        if found is not None:
            return found
        self._rate.check(_address(request.environ))
        if _credential(request.environ):
            raise Unauthorized("the API key is unknown", fix="ask for a new one")
        raise Unauthorized("an API key is needed", fix="send Authorization: Bearer KEY, or X-API-Key: KEY")

    def _known(self, environ: WSGIEnvironment) -> Caller | None:
        """Where keys are off, everybody reads everything and is told apart by address."""
        if self._keys is None:
            return Caller(_address(environ))
        shown = _credential(environ)
        return self._keys.find(shown) if shown else None

    def _host_is_right(self, environ: WSGIEnvironment) -> bool:
        """Against pages of other sites that point their own name at this machine (DNS rebinding)."""
        if not self._check_hosts:
            return True
        host = host_name(environ.get("HTTP_HOST", ""))
        return not host or host in self._hosts or (self._keys is None and is_loopback(host))


def check_keys(settings: Settings) -> None:
    if not read_keys(Path(settings.keys_file)):
        raise BadSetting(f"keys_file {settings.keys_file!r} holds no key", fix="make one with: phrasecom keys add NAME")


def require(caller: Caller, scope: str) -> None:
    if scope not in caller.scopes:
        raise Forbidden(f"this API key is not for {scope!r}", fix=f"use one with the scope {scope!r}")


def check_index(caller: Caller, index: str) -> None:
    """An index that is not this caller's is one that does not exist."""
    if not caller.may_use(index):
        raise UnknownIndex(index)


def host_name(written: str) -> str:
    """The host of a ``Host`` header, without the port, in lower case."""
    written = written.strip().lower()
    if written.startswith("["):
        return written[1:].partition("]")[0]
    return written.partition(":")[0].rstrip(".")


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(environ: WSGIEnvironment) -> str:
    return f"address:{environ.get('REMOTE_ADDR', '')}"


def _credential(environ: WSGIEnvironment) -> str:
    """The key as shown; ``ApiKey`` is what clients of Elasticsearch say."""
    scheme, _, key = environ.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    if scheme.lower() in _SCHEMES and key.strip():
        return str(key.strip())
    return str(environ.get("HTTP_X_API_KEY", "")).strip()
