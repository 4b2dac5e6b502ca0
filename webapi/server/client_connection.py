"""A client's connection that never blocks: whole requests come out of it, and responses wait in it to be taken."""

from __future__ import annotations

import io
import re
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from gunicorn.config import Config
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

MAX_HEAD_BYTES: Final = 2**16
"""Largest request line and headers together."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;|\r)")


class ClientSocket(socket.socket):
    """A socket whose ``sendall`` sends what the client takes at once and keeps the rest, for ``flush``."""

    def __init__(self, accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self.setblocking(False)
        self._unsent: deque[memoryview] = deque()
        self.unsent_bytes = 0

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send or keep all of the data; raise OSError if the connection is lost."""
        self._unsent.append(memoryview(data))
        self.unsent_bytes += len(data)
        if len(self._unsent) == 1:
            self.flush()

    def flush(self) -> None:
        """Send as much as the client takes now; raise OSError if the connection is lost."""
        while self._unsent:
            first = self._unsent[0]
            try:
                sent = self.send(first)
            except BlockingIOError:
                return
            self.unsent_bytes -= sent
            if sent < len(first):
                self._unsent[0] = first[sent:]
            else:
                self._unsent.popleft()


class ClientConnection:
    """The bytes of a client, cut into whole requests.

    The event loop calls ``receive`` and ``read_request``; while a thread answers the request, the connection belongs to
    that thread. gunicorn reads ``sock``, ``client`` and ``server``.
    """

    def __init__(
        self,
        sock: ClientSocket,
        client: Any,
        server: Any,
        config: Config,
        get_max_body_bytes: Callable[[str], int],
    ) -> None:
        """``get_max_body_bytes`` returns the largest body that is received for a path."""
        self.sock, self.client, self.server = sock, client, server
        self.request: Any = None
        """The request whose head has arrived, until it is answered."""
        self.must_close = False
        """Whether the connection ends with the response."""
        self._config = config
        self._get_max_body_bytes = get_max_body_bytes
        self._received = bytearray()
        self._body_bytes = 0
        self._searched = 0
        """Start of the bytes in which the end of the head, or the next chunk of the body, was not looked for yet."""

    @property
    def has_begun(self) -> bool:
        """Whether anything of the next request has arrived."""
        return self.request is not None or bool(self._received)

    def count_held_bytes(self) -> int:
        """Return the memory that this connection takes: bytes received and not answered, bytes not sent yet."""
        return len(self._received) + self._body_bytes + self.sock.unsent_bytes

    def receive(self, max_bytes: int) -> bool:
        """Receive what has arrived; return False if the client has closed the connection or it is lost."""
        try:
            data = self.sock.recv(max_bytes)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._received += data
        return bool(data)

    def read_request(self) -> bool:
        """Return whether ``request`` is whole, its body in memory; raise gunicorn's error if it cannot be parsed.

        A body beyond the limit is not received: the request then has its length, by which the app refuses it, and no
        body.
        """
        return (self.request is not None or self._read_head()) and self._read_body()

    def discard_received(self) -> None:
        self._received.clear()
        self._searched = 0

    def end_request(self) -> None:
        """Forget the request, which was answered."""
        self.request, self._body_bytes = None, 0

    def _read_head(self) -> bool:
        end = self._received.find(b"\r\n\r\n", max(0, self._searched - 3))
        if end < 0:
            self._searched = len(self._received)
            self._check_head_size()
            return False
        self.request = Request(self._config, IterUnreader([self._take(end + 4)]), self.client)
        return True

    def _check_head_size(self) -> None:
        limit: int = self._config.limit_request_line
        if self._searched > limit and self._received.find(b"\r\n", 2, limit + 4) < 0:  # it may follow an empty line
            raise LimitRequestLine(self._searched, limit)
        if self._searched > MAX_HEAD_BYTES:
            raise LimitRequestHeaders("limit request headers fields size")

    def _read_body(self) -> bool:
        """Return whether the body has arrived, or will not be received because it is beyond the limit."""
        reader = self.request.body.reader
        is_chunked = isinstance(reader, ChunkedReader)
        end = self._find_chunked_end() if is_chunked else reader.length
        length: int = max(len(self._received), self._searched) if end is None else end  # chunks are announced
        if length > self._get_max_body_bytes(self.request.path):
            self.request.force_close()
            self._received.clear()
            body = b""
        elif end is None or end > len(self._received):
            if self.request._expected_100_continue:
                self.request._expected_100_continue = False
                self.sock.sendall(_CONTINUE)
            return False
        else:
            body = self._take(end)
            if is_chunked:
                body = ChunkedReader(self.request, IterUnreader([body])).read(end)
                length = len(body)
        if is_chunked:  # as RFC 9112 section 7.1.3 describes
            headers = [(name, value) for name, value in self.request.headers if name != "TRANSFER-ENCODING"]
            self.request.headers = [*headers, ("CONTENT-LENGTH", str(length))]
        self.request._expected_100_continue = False  # nothing more is expected
        self.request.body = io.BytesIO(body)
        self._body_bytes = len(body)
        return True

    def _find_chunked_end(self) -> int | None:
        """Return where a body in chunks ends, or None if its end has not arrived.

        A chunk that cannot be parsed counts as the end: gunicorn's reader then says what is wrong with it.
        """
        while (line_end := self._received.find(b"\r\n", self._searched)) >= 0:
            size = _CHUNK_SIZE.match(self._received, self._searched)
            if size is None:
                return len(self._received)
            if int(size[1], 16) == 0:
                end = self._received.find(b"\r\n\r\n", line_end)  # after the trailers
                if end >= 0:
                    return end + 4
                break
            self._searched = line_end + 2 + int(size[1], 16) + 2
        if len(self._received) - self._searched > MAX_HEAD_BYTES:  # a line, or trailers, without an end
            raise LimitRequestHeaders("limit request trailer fields size")
        return None

    def _take(self, length: int) -> bytes:
        """Remove these bytes from those received, and return them."""
        taken = bytes(self._received[:length])
        del self._received[:length]
        self._searched = 0
        return taken
