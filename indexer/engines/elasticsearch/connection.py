"""Talking to Elasticsearch: one client, and every way it can fail told in one line."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
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
    root_cause,
)

SUPPORTED = (8, 9)
_PING_SECONDS = 2.0
LONG = 3600.0
"""Seconds for what takes its time, such as merging a whole index."""


class PartialAnswer(EngineUnavailable):
    """Some shard did not answer: its node went away, or its index is just being removed."""


class TimedTransport(Transport):
    """Tells how long each request took, its retries included, however it ended."""

    took: Callable[[float], None] | None = None

    def perform_request(self, *arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return super().perform_request(*arguments, **options)
        finally:
            if self.took is not None:
                self.took(time.perf_counter() - began)


class Connection:
    """The client, and what it knows of its server."""

    def __init__(self, url: str, timeout: float, **options: Any) -> None:
        self.url = url
        self.hang = Hang(timeout)
        try:
            self.client = Elasticsearch(
                [one.strip() for one in url.split(",")],
                transport_class=TimedTransport,
                serializer=OrjsonSerializer(),
                request_timeout=timeout,
                http_compress=False,
                max_retries=3,
                retry_on_status=(429, 502, 503),
                retry_backoff_base=0.1,  # who is told that there are too many requests does not ask again at once
                retry_backoff_cap=1.0,
                **options,
            )
        except ValueError as error:
            raise BadSetting(f"{url!r} is no address of Elasticsearch: {error}", fix="write http://HOST:9200") from None
        self._version: str | None = None

    def version(self) -> str:
        """Asked for once; nothing else is sent to a server that is too old or too new."""
        if self._version is None:
            with self.telling():
                self._version = check_version(self.url, self.client.info().body)
        return self._version

    def time_requests(self, took: Callable[[float], None]) -> None:
        transport = self.client.transport
        assert isinstance(transport, TimedTransport)
        transport.took = took

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Turn the client's errors into ours. A missing index passes through: its meaning is the caller's."""
        if self.hang.now():
            raise self.unavailable("no answer in time a moment ago")
        try:
            with self.hang:
                yield
        except NotFoundError:
            raise
        except UnsupportedProductError as error:
            raise UnsupportedVersion(
                f"{self.url} is not Elasticsearch: {error}", fix="give another --engine"
            ) from error
        except (AuthenticationException, AuthorizationException) as error:
            reason = f"Elasticsearch at {self.url} refuses us ({error.status_code})"
            raise BadSetting(reason, fix="check the user, password or API key") from error
        except ApiError as error:
            raise _told(self.url, error) from error
        except SSLError as error:
            reason = f"no secure connection to Elasticsearch at {self.url} ({root_cause(error)})"
            fix = "check that it speaks https, or name its certificate authority with engine_ca"
            raise EngineUnavailable(reason, fix=fix) from error
        except TransportError as error:
            raise self.unavailable(root_cause(error)) from error

    def ping(self) -> None:
        """Raise EngineUnavailable when the server does not answer within two seconds."""
        with self.telling():
            self.client.options(request_timeout=_PING_SECONDS, max_retries=0).info()

    def unavailable(self, reason: str) -> EngineUnavailable:
        return EngineUnavailable(
            f"Elasticsearch at {self.url} does not answer ({reason})", fix="start it, or give another --engine"
        )

    def partial(self, reason: str) -> PartialAnswer:
        return PartialAnswer(
            f"Elasticsearch at {self.url} has no whole answer ({reason})", fix="look at its health and try again"
        )

    def whole(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer, if every shard has had its say: a partial one would pass for a full one."""
        failed = answer.get("_shards", {}).get("failed", 0)
        if failed:
            raise self.partial(f"{failed} shards failed")
        if answer.get("timed_out"):
            raise TooSlow("Elasticsearch searched longer than it may", fix="ask for less, or raise query_seconds")
        return answer


class Hang:
    """Whether the server was seen to hang a moment ago.

    During the pause after a request that got no answer in time no other is sent: who asks is told at once instead of
    queueing up behind a server that hangs. When the pause is over one request may try; the rest wait for that one.
    """

    def __init__(self, timeout: float) -> None:
        self.pause = 0.0
        """Seconds; 0: every request tries for itself."""
        self._timeout = timeout
        self._until = 0.0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Around each request: any end but a time-out shows that the server lives."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        hangs = self.pause and isinstance(error, ConnectionTimeout)
        with self._lock:
            self._until = time.monotonic() + self.pause if hangs else 0.0

    def now(self) -> bool:
        if not self._until:
            return False
        with self._lock:
            if time.monotonic() < self._until:
                return True
            self._until = time.monotonic() + self._timeout  # this one tries
            return False


def check_version(url: str, info: Mapping[str, Any]) -> str:
    number = str(info.get("version", {}).get("number", "?"))
    if number.partition(".")[0] not in map(str, SUPPORTED):
        raise UnsupportedVersion(
            f"{url} runs version {number}", fix=f"use Elasticsearch {' or '.join(map(str, SUPPORTED))}"
        )
    return number


def _told(url: str, error: ApiError) -> PhraseComError:
    reason = _first_line(error)
    if error.status_code == 400 and "media_type_header_exception" in str(error):
        return UnsupportedVersion(
            f"the installed client does not speak to {url}",
            fix="pip install 'elasticsearch<9' for a server of version 8",
        )
    if error.status_code == 400:
        return BadParameter(f"Elasticsearch refused the request: {reason}")
    return EngineUnavailable(f"Elasticsearch at {url} failed: {reason}", fix="look into its log and try again")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
