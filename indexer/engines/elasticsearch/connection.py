"""Connection to Elasticsearch: the client, the translation of its errors, and a circuit breaker."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from elastic_transport import Transport
from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    ConnectionTimeout,
    Elasticsearch,
    NotFoundError,
    OrjsonSerializer,
    SSLError,
    TransportError,
    UnsupportedProductError,
)

from indexer.errors import (
    BadParameter,
    BadSetting,
    EngineUnavailable,
    PhraseComError,
    TooSlow,
    UnsupportedVersion,
    describe_root_cause,
)

SUPPORTED_VERSIONS = (8, 9)
"""Supported major versions."""
_LEAVES_VECTORS_OUT = (9, 2)
"""First version that returns documents without their vectors, unless a search asks for them."""
_PING_SECONDS = 2.0
LONG_TIMEOUT = 3600.0
"""Timeout in seconds of slow requests, such as merging a whole index."""


class PartialResponse(EngineUnavailable):
    """A response that lacks some shard: its node is gone, or its index is being deleted."""


class TimedTransport(Transport):
    """Transport that reports the duration of each request, retries included, whether it succeeds or fails."""

    record_seconds: Callable[[float], None] | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Wait before a retry after "too many requests". Clients before 9.5 have no option for this; with client 8, the
        # transport retries at once.
        self.retry_backoff_base, self.retry_backoff_cap = 0.1, 1.0

    def perform_request(self, *arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return super().perform_request(*arguments, **options)
        finally:
            if self.record_seconds is not None:
                self.record_seconds(time.perf_counter() - began)


class ElasticsearchConnection:
    """The client with the version of its server and the circuit breaker."""

    def __init__(self, url: str, timeout: float, **options: Any) -> None:
        self.url = url
        self.breaker = CircuitBreaker(timeout)
        try:
            self.client = Elasticsearch(
                [node.strip() for node in url.split(",")],
                transport_class=TimedTransport,
                serializer=OrjsonSerializer(),
                request_timeout=timeout,
                http_compress=False,
                max_retries=3,
                retry_on_status=(429, 502, 503),
                **options,
            )
        except ValueError as error:
            raise BadSetting(f"{url!r} is not an Elasticsearch URL: {error}", fix="write http://HOST:9200") from None
        self._info: Mapping[str, Any] | None = None

    def get_version(self) -> str:
        """Return the version of the server, requested once; raise UnsupportedVersion for one we do not support.

        Called before anything else is sent.
        """
        if self._info is None:
            with self.translate_errors():
                info = self.client.info().body
            require_supported_version(self.url, info)
            self._info = info
        return str(self._info["version"]["number"])

    def leaves_vectors_out(self) -> bool:
        """Return whether documents come without their vectors unless a search asks for them; older servers refuse a
        search that asks."""
        version = self.get_version()
        assert self._info is not None
        if self._info["version"].get("build_flavor") == "serverless":  # it calls itself 8.11, and is always the newest
            return True
        return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= _LEAVES_VECTORS_OUT

    def time_requests(self, record_seconds: Callable[[float], None]) -> None:
        """Call ``record_seconds`` with the duration of every request."""
        transport = self.client.transport
        assert isinstance(transport, TimedTransport)
        transport.record_seconds = record_seconds

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Translate the client's errors into ours within a block; NotFoundError passes through to the caller.

        Raises EngineUnavailable at once while the circuit breaker is open.
        """
        if self.breaker.is_open():
            raise self.unavailable_error("a recent request timed out")
        try:
            with self.breaker:
                yield
        except NotFoundError:
            raise
        except UnsupportedProductError as error:
            raise UnsupportedVersion(
                f"{self.url} is not Elasticsearch: {error}", fix="give another --engine"
            ) from error
        except (AuthenticationException, AuthorizationException) as error:
            reason = f"Elasticsearch at {self.url} denies access ({error.status_code})"
            raise BadSetting(reason, fix="check the user, password or API key") from error
        except ApiError as error:
            raise _translate_api_error(self.url, error) from error
        except SSLError as error:
            reason = f"no secure connection to Elasticsearch at {self.url} ({describe_root_cause(error)})"
            fix = "check that it uses https, or set engine_ca to its certificate authority"
            raise EngineUnavailable(reason, fix=fix) from error
        except TransportError as error:
            raise self.unavailable_error(describe_root_cause(error)) from error

    def ping(self) -> None:
        """Raise EngineUnavailable if the server does not answer within two seconds."""
        with self.translate_errors():
            self.client.options(request_timeout=_PING_SECONDS, max_retries=0).info()

    def unavailable_error(self, reason: str) -> EngineUnavailable:
        return EngineUnavailable(
            f"Elasticsearch at {self.url} does not answer ({reason})", fix="start it, or give another --engine"
        )

    def partial_error(self, reason: str) -> PartialResponse:
        return PartialResponse(
            f"Elasticsearch at {self.url} returned an incomplete answer ({reason})",
            fix="check its health and try again",
        )

    def require_complete(self, response: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the response; raise PartialResponse if a shard failed, TooSlow if the search timed out.

        Elasticsearch answers with status 200 in both cases.
        """
        failed = response.get("_shards", {}).get("failed", 0)
        if failed:
            raise self.partial_error(f"{failed} shards failed")
        if response.get("timed_out"):
            raise TooSlow(
                "the Elasticsearch search exceeded its time limit", fix="narrow the request, or raise query_seconds"
            )
        return response

    def require_found(self, entries: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Return the entries of a multi-get; raise PartialResponse if one of them could not be read."""
        for entry in entries:
            if error := entry.get("error"):
                raise self.partial_error(error["reason"])
        return entries


class CircuitBreaker:
    """Circuit breaker that a timed-out request opens for ``pause_seconds``.

    While it is open, callers get an error at once instead of queueing up behind a server that hangs. After the pause
    one request is let through as a trial, and the others keep failing until it ends.
    """

    def __init__(self, timeout: float) -> None:
        self.pause_seconds = 0.0
        """Seconds to stay open; 0: never open."""
        self._timeout = timeout
        self._open_until = 0.0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Enclose a request: a timeout opens the breaker, any other outcome closes it."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        timed_out = self.pause_seconds and isinstance(error, ConnectionTimeout)
        with self._lock:
            self._open_until = time.monotonic() + self.pause_seconds if timed_out else 0.0

    def is_open(self) -> bool:
        """Return whether requests must fail; after the pause the first caller gets False and becomes the trial."""
        if not self._open_until:
            return False
        with self._lock:
            if time.monotonic() < self._open_until:
                return True
            self._open_until = time.monotonic() + self._timeout  # this caller is the trial
            return False


def require_supported_version(url: str, info: Mapping[str, Any]) -> str:
    """Return the version in the server's info; raise UnsupportedVersion if it is not supported."""
    number = str(info.get("version", {}).get("number", "?"))
    if number.partition(".")[0] not in map(str, SUPPORTED_VERSIONS):
        raise UnsupportedVersion(
            f"{url} runs version {number}", fix=f"use Elasticsearch {' or '.join(map(str, SUPPORTED_VERSIONS))}"
        )
    return number


def _translate_api_error(url: str, error: ApiError) -> PhraseComError:
    reason = _first_line(error)
    if error.status_code == 400 and "media_type_header_exception" in str(error):
        return UnsupportedVersion(
            f"the installed client does not support the server at {url}",
            fix="pip install 'elasticsearch<9' for a server of version 8",
        )
    if error.status_code == 400:
        return BadParameter(f"Elasticsearch refused the request: {reason}")
    return EngineUnavailable(f"Elasticsearch at {url} failed: {reason}", fix="check its log and try again")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
