"""Clients that hold connections to a web server: requests sent in part, responses not read, nothing sent at all."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from tests.support.polling import wait_until

_POST: Final = b"POST /v1/comparisons HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_GET_PAGE: Final = b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n"
_UNREAD_PAGES: Final = 300
"""Requests that a client sends without reading: their responses are larger than the buffers of both sockets."""


def hold_half_head(connection: socket.socket) -> None:
    connection.sendall(_POST)


def hold_half_body(connection: socket.socket) -> None:
    connection.sendall(_POST + b'Content-Length: 100\r\n\r\n{"index": ')


def hold_half_chunk(connection: socket.socket) -> None:
    connection.sendall(_POST + b'Transfer-Encoding: chunked\r\n\r\n50\r\n{"index": ')


def hold_idle(connection: socket.socket) -> None:
    """Send a request and read its response; the connection stays open."""
    connection.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(4096)


def hold_unread(connection: socket.socket) -> None:
    """Request pages until the first response begins; never read any."""
    connection.sendall(_GET_PAGE * _UNREAD_PAGES)
    wait_until(lambda: is_readable(connection))


Hold = Callable[[socket.socket], None]
ALL_HOLDS: Final[tuple[Hold, ...]] = (hold_half_head, hold_half_body, hold_half_chunk, hold_idle, hold_unread)


def connect(url: str) -> socket.socket:
    """Return a connection with a small receive buffer, so that little can be sent to it before it is read."""
    address = urlsplit(url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(120)
    connection.connect((address.hostname, address.port))
    return connection


def is_readable(connection: socket.socket) -> bool:
    """Return whether there is something to read: a response, or the end of the connection."""
    return bool(select.select([connection], [], [], 0)[0])


def read_to_end(connection: socket.socket) -> bytes:
    """Return all that the server sends until it closes the connection."""
    received = b""
    while data := connection.recv(65536):
        received += data
    return received


class SlowClients:
    """A number of connections of each kind, held while the context is open."""

    def __init__(self, url: str, count: int, holds: Iterable[Hold] = ALL_HOLDS) -> None:
        self._url, self._count, self._holds = url, count, tuple(holds)
        self._stack = ExitStack()
        self.connections: dict[Hold, list[socket.socket]] = {hold: [] for hold in self._holds}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for _ in range(self._count):
                for hold in self._holds:
                    connection = stack.enter_context(connect(self._url))
                    hold(connection)
                    self.connections[hold].append(connection)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stack.close()

    def are_all_held(self) -> bool:
        """Return whether the server has ended no connection and answered no half-sent request."""
        silent = [one for hold, held in self.connections.items() if hold is not hold_unread for one in held]
        return not select.select(silent, [], [], 0)[0]
