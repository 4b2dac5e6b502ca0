"""A small load generator: many kept-alive connections in one thread, each with one request under way."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from worker.benchmark.timing import compute_percentile

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_ANSWER_TIMEOUT = 10.0
"""Seconds without any answer before it gives up."""


class LoadConnection:
    """One kept-alive connection: asks, and asks again when the whole answer is there."""

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

    def receive_part(self) -> bool:
        """Take in what is there; whether the answer is complete."""
        part = self.socket.recv(1 << 18)
        if not part:
            raise ConnectionError("the server closed a connection")
        self._received += part
        head, end, body = self._received.partition(_END)
        if not end or len(body) < _content_length(head):
            return False
        self.latencies.append(time.perf_counter() - self._sent_at)
        self.errors += not head.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))
        return True


def generate_load(port: int, request: bytes, connections: int, seconds: float) -> dict[str, Any]:
    """Ask as fast as answers come, for so long."""
    with _open_connections(port, request, connections) as (selector, opened):
        began = time.perf_counter()
        for connection in opened:
            connection.send_request()
        while time.perf_counter() - began < seconds:
            ready = selector.select(_ANSWER_TIMEOUT)
            if not ready:
                raise TimeoutError("the server does not answer")
            for key, _ in ready:
                if key.data.receive():
                    key.data.ask()
        took = time.perf_counter() - began
        latencies = [latency for connection in opened for latency in connection.latencies]
        return {
            "requests": len(latencies),
            "errors": sum(connection.errors for connection in opened),
            "rate": len(latencies) / took,
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


def _content_length(head: bytes) -> int:
    lowered = head.lower()
    at = lowered.find(_LENGTH)
    return int(lowered[at + len(_LENGTH) :].partition(b"\r\n")[0]) if at >= 0 else 0
