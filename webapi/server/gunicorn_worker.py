"""A gunicorn worker that gives a thread to a request when all of it has arrived, and takes it back with the response.

gunicorn's own threaded worker reads requests and sends responses in its threads, so that a few clients that send or
read slowly hold all of them. Here the event loop receives requests and sends what a client does not take at once; each
of these has a deadline, in total. Errors of the worker itself are application/problem+json.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import orjson
from gunicorn.http.errors import (
    ExpectationFailed,
    InvalidHTTPVersion,
    InvalidRequestLine,
    InvalidRequestMethod,
    LimitRequestHeaders,
    LimitRequestLine,
    NoMoreData,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.workers.gthread import ThreadWorker

from indexer.errors import BadRequest, TooLarge, Unavailable
from indexer.settings import Settings
from webapi.http.body_limits import get_max_body_bytes
from webapi.http.problems import PROBLEM_TYPE, RETRY_AFTER_SECONDS, RequestTimeout
from webapi.server.client_connection import ClientConnection, ClientSocket

MAX_REQUEST_LINE_BYTES: Final = 8190
"""Longest first line of a request, its address included."""
_LINE_TOO_LONG: Final = f"the address is longer than {MAX_REQUEST_LINE_BYTES} bytes; shorten it"
_RECEIVED_AT_ONCE: Final = 2**16
_KEEP_ALIVE_SECONDS: Final = 15.0
"""Time for which a connection without a request stays open."""
_CLOSE_SECONDS: Final = 2.0
"""Time for a client to read a last response; closing at once could discard it (RFC 9112 section 9.6)."""
_MIN_HELD_BYTES: Final = 64 * 2**20
_HELD_BODIES: Final = 16
"""All connections of a process may hold as many bodies of the largest size in memory, and at least the bytes above."""


class _HeadTimeout(ParseException):  # type: ignore[misc]
    pass


class _BodyTimeout(ParseException):  # type: ignore[misc]
    pass


class _MemoryExhausted(ParseException):  # type: ignore[misc]
    pass


_BAD_REQUEST: Final = (400, "Bad Request", BadRequest.code)
_TIMEOUT: Final = (RequestTimeout.status, "Request Timeout", RequestTimeout.code)
_PROBLEMS: Final[dict[type[Exception], tuple[int, str, str, str]]] = {
    LimitRequestLine: (414, "URI Too Long", TooLarge.code, _LINE_TOO_LONG),
    LimitRequestHeaders: (431, "Request Header Fields Too Large", TooLarge.code, "the headers are too large"),
    InvalidRequestLine: (*_BAD_REQUEST, "the request line cannot be read"),
    InvalidRequestMethod: (*_BAD_REQUEST, "the method cannot be read"),
    InvalidHTTPVersion: (*_BAD_REQUEST, "only HTTP/1.0 and HTTP/1.1 are supported"),
    ExpectationFailed: (417, "Expectation Failed", BadRequest.code, "only Expect: 100-continue is supported"),
    UnsupportedTransferCoding: (501, "Not Implemented", BadRequest.code, "the transfer coding is not supported"),
    _HeadTimeout: (*_TIMEOUT, "the head of the request did not arrive within request_head_seconds"),
    _BodyTimeout: (*_TIMEOUT, "the body of the request did not arrive within request_body_seconds"),
    _MemoryExhausted: (503, "Service Unavailable", Unavailable.code, "too many large requests at once; try again"),
    NoMoreData: (*_BAD_REQUEST, "the body cannot be read"),
    ParseException: (*_BAD_REQUEST, "a header or the body cannot be read"),
}
"""Status, reason, code and detail of the response, by kind of error; the first that fits."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """What clients may do to the connections of a process."""

    head_seconds: float
    body_seconds: float
    response_seconds: float
    max_body_bytes: int
    get_max_body_bytes: Callable[[str], int]
    """Returns the largest body of a request to a path."""

    @classmethod
    def from_settings(cls, settings: Settings) -> ClientLimits:
        return cls(
            settings.request_head_seconds,
            settings.request_body_seconds,
            settings.response_seconds,
            settings.max_body_bytes,
            partial(get_max_body_bytes, settings),
        )


class _Stage:
    """Connections that wait for the same thing, each until its deadline; ``on_deadline`` ends it then."""

    def __init__(self, event: int, seconds: float, on_deadline: Callable[[ClientConnection], None]) -> None:
        self.event = event
        self._seconds = seconds
        self._on_deadline = on_deadline
        self.deadlines: dict[ClientConnection, float] = {}
        """In the order in which they end, as all connections have the same time."""

    def __len__(self) -> int:
        return len(self.deadlines)

    def add(self, connection: ClientConnection) -> None:
        self.deadlines[connection] = time.monotonic() + self._seconds

    def end_overdue(self) -> None:
        now = time.monotonic()
        while self.deadlines:
            connection, deadline = next(iter(self.deadlines.items()))
            if deadline > now:
                return
            self._on_deadline(connection)


class BufferingWorker(ThreadWorker):  # type: ignore[misc]
    """A threaded worker whose threads never wait for a client.

    A connection is in one stage at a time, or with a thread:

    idle -> receiving head -> receiving body -> thread -> sending -> idle, or closing
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits: ClientLimits = self.app.client_limits
        read, write = selectors.EVENT_READ, selectors.EVENT_WRITE
        self._idle = self.keepalived_conns = _Stage(read, _KEEP_ALIVE_SECONDS, self._end)
        self._receiving_head = _Stage(read, self._limits.head_seconds, self._end_half_sent)
        self._receiving_body = _Stage(read, self._limits.body_seconds, self._end_half_sent)
        self._sending = _Stage(write, self._limits.response_seconds, self._end_unread)
        self._closing = _Stage(read, _CLOSE_SECONDS, self._end)
        self._stages = (self._idle, self._receiving_head, self._receiving_body, self._sending, self._closing)
        self._stage_by_connection: dict[ClientConnection, _Stage] = {}
        self._held_bytes: dict[ClientConnection, int] = {}
        self._total_held_bytes = 0

    # Steps of a connection, in the event loop

    def accept(self, listener: socket.socket) -> None:
        try:
            sock, client = listener.accept()
        except (BlockingIOError, ConnectionError):  # another process was faster, or the client has gone
            return
        except OSError as error:
            self.log.warning("cannot accept a connection: %s", error)
            time.sleep(0.1)  # no file descriptor is free; one may be soon
            return
        self.nr_conns += 1
        server, get_max_bytes = listener.getsockname(), self._limits.get_max_body_bytes
        self._enter(ClientConnection(ClientSocket(sock), client, server, self.cfg, get_max_bytes), self._receiving_head)

    def _receive(self, connection: ClientConnection) -> None:
        if not connection.receive(_RECEIVED_AT_ONCE):
            self._end(connection)
        elif self._stage_by_connection[connection] is self._closing:
            connection.discard_received()
        else:
            self._count_bytes(connection)
            if self._bound_memory() is not connection:
                self._advance(connection)

    def _advance(self, connection: ClientConnection) -> None:
        """Give the next request to a thread if it is whole; otherwise wait for the rest of it."""
        try:
            is_whole = connection.read_request()
        except (ParseException, NoMoreData) as error:
            self._refuse(connection, error)
        except OSError:
            self._end(connection)
        else:
            if is_whole:
                self._leave_stage(connection)
                self.enqueue_req(connection)
            elif connection.request is not None:
                self._enter(connection, self._receiving_body)
            else:
                self._enter(connection, self._receiving_head if connection.has_begun else self._idle)

    def handle(self, connection: ClientConnection) -> bool:
        """Answer the request, in a thread; return whether the connection may be used again."""
        try:
            return bool(self.handle_request(connection.request, connection))
        except (OSError, StopIteration) as error:
            self.log.debug("a response could not be sent: %s", error)
        except Exception as error:  # noqa: BLE001 - answered with 500 and logged
            self.handle_error(connection.request, connection.sock, connection.client, error)
        return False

    def finish_request(self, connection: ClientConnection, outcome: Future[bool]) -> None:
        connection.end_request()
        connection.must_close = outcome.cancelled() or not outcome.result() or not self.alive
        self._send(connection)

    def _send(self, connection: ClientConnection) -> None:
        """Send what is left of a response; then continue with the next request, or close."""
        try:
            connection.sock.flush()
            if not connection.sock.unsent_bytes and connection.must_close:
                connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._end(connection)
            return
        self._count_bytes(connection)
        if connection.sock.unsent_bytes:
            self._enter(connection, self._sending)
        elif connection.must_close:
            self._enter(connection, self._closing)
        else:
            self._advance(connection)

    # Ends of a connection

    def _end(self, connection: ClientConnection) -> None:
        if connection.sock.fileno() < 0:  # it has ended before
            return
        self._leave_stage(connection)
        self._total_held_bytes -= self._held_bytes.pop(connection, 0)
        self.nr_conns -= 1
        with suppress(OSError):
            connection.sock.close()

    def _end_half_sent(self, connection: ClientConnection) -> None:
        if connection.has_begun:
            is_body = self._stage_by_connection[connection] is self._receiving_body
            self._refuse(connection, _BodyTimeout() if is_body else _HeadTimeout())
        else:
            self._end(connection)

    def _end_unread(self, connection: ClientConnection) -> None:
        self.log.info("a client did not read its response within response_seconds")
        self._end(connection)

    def _refuse(self, connection: ClientConnection, error: Exception) -> None:
        """Answer with a problem and close."""
        connection.end_request()
        connection.discard_received()
        connection.must_close = True
        self.handle_error(None, connection.sock, connection.client, error)
        self._send(connection)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        problem = next((problem for kind, problem in _PROBLEMS.items() if isinstance(exc, kind)), None)
        if problem is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("unreadable request: %s", type(exc).__name__)
        with suppress(OSError):  # the client may have disconnected
            client.sendall(_format_response(*problem))

    def murder_keepalived(self, force: bool = False) -> None:
        """End the connections whose deadline has passed, or all; gunicorn calls this after each round of events."""
        for stage in self._stages:
            stage.end_overdue()
        if force:
            for connection in list(self._stage_by_connection):
                self._end(connection)

    # Bookkeeping

    def _enter(self, connection: ClientConnection, stage: _Stage) -> None:
        """Move a connection to a stage; one that is in it already keeps its deadline."""
        if self._stage_by_connection.get(connection) is stage:
            return
        self._leave_stage(connection)
        step = self._send if stage is self._sending else self._receive

        def handle_event(_: Any) -> None:
            # another event of the same round may have ended the connection
            if self._stage_by_connection.get(connection) is stage:
                step(connection)

        self.poller.register(connection.sock, stage.event, handle_event)
        self._stage_by_connection[connection] = stage
        stage.add(connection)

    def _leave_stage(self, connection: ClientConnection) -> None:
        stage = self._stage_by_connection.pop(connection, None)
        if stage is not None:
            del stage.deadlines[connection]
            self.poller.unregister(connection.sock)

    def _count_bytes(self, connection: ClientConnection) -> None:
        held = connection.count_held_bytes()
        self._total_held_bytes += held - self._held_bytes.get(connection, 0)
        self._held_bytes[connection] = held

    def _bound_memory(self) -> ClientConnection | None:
        """End and return the connection that holds the most bytes, if all together hold too many.

        Small requests, and connections with a whole request, are left alone.
        """
        if self._total_held_bytes <= max(_MIN_HELD_BYTES, _HELD_BODIES * self._limits.max_body_bytes):
            return None
        largest = max(self._stage_by_connection, key=lambda connection: self._held_bytes.get(connection, 0))
        if self._held_bytes.get(largest, 0) < _RECEIVED_AT_ONCE:
            return None
        if self._stage_by_connection[largest] is self._sending:
            self._end(largest)
        else:
            self._refuse(largest, _MemoryExhausted())
        return largest


def _format_response(status: int, reason: str, code: str, detail: str) -> bytes:
    problem = {"type": f"/errors/{code}", "title": reason, "status": status, "detail": detail, "code": code}
    body = orjson.dumps(problem)
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\n"
    head += f"Content-Type: {PROBLEM_TYPE}\r\nContent-Length: {len(body)}\r\n"
    if status == Unavailable.status:
        head += f"Retry-After: {RETRY_AFTER_SECONDS}\r\n"
    return head.encode() + b"X-Content-Type-Options: nosniff\r\n\r\n" + body
