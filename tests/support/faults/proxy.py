"""A small proxy before Elasticsearch that can make it slow, cut its connections, or refuse with 429."""

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
    """Passes bytes on, both ways; what it does to new requests can be changed at any time."""

    def __init__(self, target: str, seed: int = 1) -> None:
        parts = urlsplit(target)
        self.target = (parts.hostname or "127.0.0.1", parts.port or 80)
        self.delay = 0.0
        """Seconds before each answer."""
        self.cut = 0.0
        """The share of answers that end in the middle."""
        self.refuse = False
        """Whether everything is answered 429."""
        self.cut_after = b""
        """The answer to the next request that begins like this is lost, once."""
        self.done: dict[str, int] = {"delayed": 0, "cut": 0, "refused": 0}
        self.connections = 0
        self.dice = random.Random(seed)
        self._server = _Server(("127.0.0.1", 0), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def heal(self) -> dict[str, int]:
        """Back to passing on; what was done to answers until now."""
        self.delay, self.cut, self.refuse = 0.0, 0.0, False
        done, self.done = self.done, dict.fromkeys(self.done, 0)
        return {what: times for what, times in done.items() if times}

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
        super().__init__(address, _Passing)


class _Passing(socketserver.BaseRequestHandler):
    """One connection: a thread for each direction."""

    def handle(self) -> None:
        proxy: Proxy = self.server.proxy  # type: ignore[attr-defined]
        caller: socket.socket = self.request
        proxy.connections += 1
        with socket.create_connection(proxy.target) as server:
            losing = threading.Event()
            back = threading.Thread(target=_answers, args=(proxy, server, caller, losing), daemon=True)
            back.start()
            _questions(proxy, caller, server, losing)
            back.join(timeout=60)


def _questions(proxy: Proxy, caller: socket.socket, server: socket.socket, losing: threading.Event) -> None:
    try:
        while data := caller.recv(65536):
            if proxy.refuse:
                proxy.done["refused"] += 1
                caller.sendall(TOO_MANY)
                break
            if proxy.cut_after and data.startswith(proxy.cut_after):
                proxy.cut_after = b""
                losing.set()
            server.sendall(data)
    except OSError:
        pass
    _close(caller, server)


def _answers(proxy: Proxy, server: socket.socket, caller: socket.socket, losing: threading.Event) -> None:
    try:
        while data := server.recv(65536):
            if proxy.delay:
                proxy.done["delayed"] += 1
                _sleep(proxy)
            if losing.is_set():
                proxy.done["cut"] += 1
                break
            if proxy.cut and proxy.dice.random() < proxy.cut:
                proxy.done["cut"] += 1
                caller.sendall(data[: len(data) // 2])
                break
            caller.sendall(data)
    except OSError:
        pass
    _close(caller, server)


def _sleep(proxy: Proxy) -> None:
    """For as long as the proxy says, and no longer once it has healed."""
    end = time.monotonic() + proxy.delay
    while proxy.delay and time.monotonic() < end:
        time.sleep(0.05)


def _close(*ends: socket.socket) -> None:
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
