"""A small proxy in front of Elasticsearch that can delay, cut or refuse its answers."""

from __future__ import annotations

import random
import socket
import socketserver
import threading
import time
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

REFUSAL = b'{"error":{"type":"es_rejected_execution_exception","reason":"rejected execution"},"status":429}'
TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nX-elastic-product: Elasticsearch\r\nContent-Type: application/json\r\n"
    b"Content-Length: " + str(len(REFUSAL)).encode() + b"\r\nConnection: close\r\n\r\n" + REFUSAL
)


class Proxy:
    """Forwards bytes in both directions; the faults it injects can be changed at any time."""

    def __init__(self, target: str, seed: int = 1) -> None:
        parts = urlsplit(target)
        self.target = (parts.hostname or "127.0.0.1", parts.port or 80)
        self.delay_seconds = 0.0
        """Seconds before each answer."""
        self.cut_share = 0.0
        """Share of answers that end in the middle."""
        self.is_refusing = False
        """Whether everything is answered 429."""
        self.lose_answer_to = b""
        """Bytes a request begins with: the answer to the next such request is lost, once."""
        self.fault_counts: dict[str, int] = {"delayed": 0, "cut": 0, "refused": 0}
        self.connection_count = 0
        self.random = random.Random(seed)
        self._server = _Server(("127.0.0.1", 0), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def reset(self) -> dict[str, int]:
        """Stop injecting faults; return how many there were of each kind."""
        self.delay_seconds, self.cut_share, self.is_refusing = 0.0, 0.0, False
        counts, self.fault_counts = self.fault_counts, dict.fromkeys(self.fault_counts, 0)
        return {kind: count for kind, count in counts.items() if count}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True, name="proxy").start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads = True, True
    block_on_close = False

    def __init__(self, address: tuple[str, int], proxy: Proxy) -> None:
        self.proxy = proxy
        super().__init__(address, _ConnectionHandler)


class _ConnectionHandler(socketserver.BaseRequestHandler):
    """One connection: a thread for each direction."""

    def handle(self) -> None:
        proxy: Proxy = self.server.proxy  # type: ignore[attr-defined]
        caller: socket.socket = self.request
        proxy.connection_count += 1
        with socket.create_connection(proxy.target) as server:
            lose_answer = threading.Event()
            back = threading.Thread(target=_forward_responses, args=(proxy, server, caller, lose_answer), daemon=True)
            back.start()
            _forward_requests(proxy, caller, server, lose_answer)
            back.join(timeout=60)


def _forward_requests(proxy: Proxy, caller: socket.socket, server: socket.socket, lose_answer: threading.Event) -> None:
    try:
        while data := caller.recv(65536):
            if proxy.is_refusing:
                proxy.fault_counts["refused"] += 1
                caller.sendall(TOO_MANY)
                break
            if proxy.lose_answer_to and data.startswith(proxy.lose_answer_to):
                proxy.lose_answer_to = b""
                lose_answer.set()
            server.sendall(data)
    except OSError:
        pass
    _shut_down_sockets(caller, server)


def _forward_responses(
    proxy: Proxy, server: socket.socket, caller: socket.socket, lose_answer: threading.Event
) -> None:
    try:
        while data := server.recv(65536):
            if proxy.delay_seconds:
                proxy.fault_counts["delayed"] += 1
                _delay_response(proxy)
            if lose_answer.is_set():
                proxy.fault_counts["cut"] += 1
                break
            if proxy.cut_share and proxy.random.random() < proxy.cut_share:
                proxy.fault_counts["cut"] += 1
                caller.sendall(data[: len(data) // 2])
                break
            caller.sendall(data)
    except OSError:
        pass
    _shut_down_sockets(caller, server)


def _delay_response(proxy: Proxy) -> None:
    """Sleep for the delay, but not beyond a reset."""
    end = time.monotonic() + proxy.delay_seconds
    while proxy.delay_seconds and time.monotonic() < end:
        time.sleep(0.05)


def _shut_down_sockets(*ends: socket.socket) -> None:
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
