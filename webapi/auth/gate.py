"""Access control: checks the host of a request, the API key, the rate, and the scope and index that the key allows."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flask import Flask, g, request

from indexer.errors import BadSetting, Forbidden, Unauthorized, Unavailable, UnknownHost, UnknownIndex
from indexer.identifiers import check_index_name
from indexer.settings import Settings
from webapi.auth.api_keys import KeyFile, read_keys
from webapi.auth.rate_limit import RateLimit
from worker.access import Caller
from worker.jobs.payloads import parse_part_id

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

PUBLIC_SCOPE: Final = ""
"""No key needed: the response contains nothing of any index."""
ANY_SCOPE: Final = "any"
"""Any key will do."""
SCOPE_BY_ENDPOINT: Final = {
    "comparisons.ask": "compare",
    "comparisons.follow": "compare",
    "comparisons.leave": "compare",
    "feedback.say": "compare",
    "explanations.ask": "compare",
    "explanations.follow": "compare",
    "explanations.leave": "compare",
    "search.search": "read",
    "search.count": "read",
    "search.mget": "read",
    "search.info": "read",
    "msearch.search": "read",
    "msearch.search_index": "read",
    "indexes.listed": "read",
    "indexes.one": "read",
    "indexes.document": "read",
    "indexes.suggest": "read",
    "indexes.add": "ingest",
    "indexes.job": ANY_SCOPE,
    "health.metrics": "admin",
    "health.alive": PUBLIC_SCOPE,
    "health.ready": PUBLIC_SCOPE,
    "openapi.served": PUBLIC_SCOPE,
    "docs.page": PUBLIC_SCOPE,
}
"""Requests to endpoints that are not listed are refused."""
_GUESSING_SCOPES: Final = ("read", "compare")
"""Scopes of requests that may guess what hidden documents contain; writing is not slowed down."""
_WAITING_ENDPOINTS: Final = ("comparisons.follow", "comparisons.leave", "explanations.follow", "explanations.leave")
"""Endpoints that only wait for a job or leave it, except for the comparison of a hit, which they may submit."""
_PAGE_ENDPOINT_PREFIX: Final = "pages."
_HEALTH_ENDPOINTS: Final = ("health.alive", "health.ready")
_AUTHORIZATION_SCHEMES: Final = ("bearer", "apikey")


class Gate:
    """Admits or refuses requests before a view sees them."""

    def __init__(self, settings: Settings, rate: RateLimit) -> None:
        """Read the keys; raise BadSetting for a keys file that is missing, not valid or empty."""
        self._rate = rate
        self._keys: KeyFile | None = None
        if settings.keys_file:
            check_keys_file(settings)
            self._keys = KeyFile(Path(settings.keys_file))
        self._allowed_hosts = frozenset(host.lower() for host in settings.allowed_hosts.split())
        self._checks_hosts = bool(self._allowed_hosts) or self._keys is None

    def register(self, app: Flask) -> None:
        """Check every request of the app."""
        app.before_request(self._admit_request)

    def identify_unrestricted(self, environ: WSGIEnvironment) -> Caller | None:
        """Return the caller if nothing has to be checked: no rate to count, no scope, index or group missing."""
        if self._rate.per_minute or not self._is_host_allowed(environ):
            return None
        try:
            caller = self._identify_caller(environ)
        except BadSetting:
            return None
        if caller is None or caller.groups is not None or caller.indexes is not None:
            return None
        return caller if "compare" in caller.scopes else None

    def count_search(self, caller: Caller) -> None:
        """Count a further search of a request that has several; raise RateLimited if it is one too many."""
        self._rate.check(caller.key_id, has_limited_groups=caller.groups is not None)

    def check_keys(self) -> None:
        """Raise BadSetting if there is a keys file and it cannot be read now."""
        if self._keys is not None:
            self._keys.check_file()

    def _admit_request(self) -> None:
        endpoint = request.endpoint
        if endpoint not in _HEALTH_ENDPOINTS and not self._is_host_allowed(request.environ):
            raise UnknownHost(request.environ.get("HTTP_HOST", ""))
        if endpoint is None or request.method == "OPTIONS" or endpoint.startswith(_PAGE_ENDPOINT_PREFIX):
            return  # not found, a CORS preflight, or a page without any data
        scope = SCOPE_BY_ENDPOINT.get(endpoint)
        if scope == PUBLIC_SCOPE:
            return
        g.caller = self._require_caller()
        is_waiting = endpoint in _WAITING_ENDPOINTS and parse_part_id((request.view_args or {}).get("id", "")) is None
        may_guess = g.caller.groups is not None and scope in _GUESSING_SCOPES and not is_waiting
        self._rate.check(g.caller.key_id, has_limited_groups=may_guess)
        if scope is None:
            raise Forbidden(f"no API key gives access to {endpoint}")
        if scope != ANY_SCOPE:
            require_scope(g.caller, scope)
        arguments = request.view_args or {}
        index = arguments.get("index", arguments.get("name"))
        if index is not None:
            check_index_access(g.caller, check_index_name(index))

    def _require_caller(self) -> Caller:
        try:
            caller = self._identify_caller(request.environ)
        except BadSetting:
            self._rate.check(_make_address_id(request.environ))
            raise Unavailable("the API keys cannot be read now", fix="try again later") from None
        if caller is not None:
            return caller
        self._rate.check(_make_address_id(request.environ))
        if _read_credential(request.environ):
            raise Unauthorized("the API key is unknown", fix="request a new one")
        raise Unauthorized("an API key is required", fix="send Authorization: Bearer KEY, or X-API-Key: KEY")

    def _identify_caller(self, environ: WSGIEnvironment) -> Caller | None:
        """Return the caller with the key that is shown; without keys, one for each address, who reads everything.

        Raise BadSetting if the keys cannot be read.
        """
        if self._keys is None:
            return Caller(_make_address_id(environ))
        key = _read_credential(environ)
        return self._keys.find_caller(key) if key else None

    def _is_host_allowed(self, environ: WSGIEnvironment) -> bool:
        """Return whether the ``Host`` is ours: a page of another site may point its name at this machine (DNS
        rebinding)."""
        if not self._checks_hosts:
            return True
        host = parse_host(environ.get("HTTP_HOST", ""))
        return not host or host in self._allowed_hosts or (self._keys is None and is_loopback(host))


def check_keys_file(settings: Settings) -> None:
    """Raise BadSetting if the keys file cannot be read or contains no key."""
    if not read_keys(Path(settings.keys_file)):
        raise BadSetting(
            f"keys_file {settings.keys_file!r} contains no key", fix="create one with: phrasecom keys add NAME"
        )


def require_scope(caller: Caller, scope: str) -> None:
    """Raise Forbidden unless the caller has the scope."""
    if scope not in caller.scopes:
        raise Forbidden(f"this API key lacks the scope {scope!r}", fix="use a key with that scope")


def check_index_access(caller: Caller, index: str) -> None:
    """Raise UnknownIndex unless the caller may use the index: for others it does not exist."""
    if not caller.may_use_index(index):
        raise UnknownIndex(index)


def parse_host(header: str) -> str:
    """Return the host of a ``Host`` header, without the port, in lower case."""
    host = header.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Return whether a host name or address is always this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _make_address_id(environ: WSGIEnvironment) -> str:
    return f"address:{environ.get('REMOTE_ADDR', '')}"


def _read_credential(environ: WSGIEnvironment) -> str:
    """Return the key of a request, or nothing; ``ApiKey`` is the scheme of Elasticsearch's clients."""
    scheme, _, key = environ.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    if scheme.lower() in _AUTHORIZATION_SCHEMES and key.strip():
        return str(key.strip())
    return str(environ.get("HTTP_X_API_KEY", "")).strip()
