"""HTTP load generator: many keep-alive connections in one thread, each with one request at a time.

Written on sockets: a client library would take processor time from the servers, which run on the same machine.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from worker.benchmark.timing import compute_percentile

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_ANSWER_TIMEOUT = 10.0
"""Seconds without any answer after which the server counts as stuck."""


class LoadConnection:
    """A keep-alive connection that sends one request again and again and records latencies (seconds) and errors."""

    def __init__(self, port: int, request: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._received = b""
        self._sent_at = 0.0
        self.latencies: list[float] = []
        self.errors = 0

    def send_request(self) -> None:
        self._received = b""
        self._sent_at = time.perf_counter()
        self.socket.sendall(self._request)

    def receive_and_check_complete(self) -> bool:
        """Receive what has arrived; return whether the answer is complete. Raises ConnectionError if it was closed."""
        part = self.socket.recv(1 << 18)
        if not part:
            raise ConnectionError("the server closed a connection")
        self._received += part
        head, end, body = self._received.partition(_HEAD_END)
        if not end or len(body) < _parse_content_length(head):
            return False
        self.latencies.append(time.perf_counter() - self._sent_at)
        self.errors += not head.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))
        return True


def generate_load(port: int, request: bytes, connections: int, seconds: float) -> dict[str, Any]:
    """Send requests as fast as answers come for some seconds; return rate, errors and 95th percentile of latency."""
    with _open_connections(port, request, connections) as (selector, opened):
        start = time.perf_counter()
        for connection in opened:
            connection.send_request()
        while time.perf_counter() - start < seconds:
            ready = selector.select(_ANSWER_TIMEOUT)
            if not ready:
                raise TimeoutError("the server does not answer")
            for key, _ in ready:
                if key.data.receive_and_check_complete():
                    key.data.send_request()
        elapsed = time.perf_counter() - start
        latencies = [latency for connection in opened for latency in connection.latencies]
        return {
            "requests": len(latencies),
            "errors": sum(connection.errors for connection in opened),
            "rate": len(latencies) / elapsed,
            "p95": compute_percentile(latencies, 0.95) if latencies else 0.0,
        }


@contextmanager
def _open_connections(
    port: int, request: bytes, count: int
) -> Iterator[tuple[selectors.BaseSelector, list[LoadConnection]]]:
    opened: list[LoadConnection] = []
    with selectors.DefaultSelector() as selector:
        try:
            for _ in range(count):
                opened.append(LoadConnection(port, request))
                selector.register(opened[-1].socket, selectors.EVENT_READ, opened[-1])
            yield selector, opened
        finally:
            for connection in opened:
                connection.socket.close()


def _parse_content_length(head: bytes) -> int:
    lowered = head.lower()
    start = lowered.find(_LENGTH)
    return int(lowered[start + len(_LENGTH) :].partition(b"\r\n")[0]) if start >= 0 else 0
