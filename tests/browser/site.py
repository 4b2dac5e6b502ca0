"""The real app on a real port, in threads of this process: requests are counted, faults are ordered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from werkzeug.serving import WSGIRequestHandler, make_server

from indexer.engines.base import Engine
from worker.comparer import Comparer
from worker.question import Question

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Progress = Callable[[float, str], None]


class Pace:
    """How long a comparison takes beyond its work, in seconds."""

    seconds = 0.0


class SlowComparer(Comparer):
    """The real comparison, slowed down when a test asks for it."""

    def __init__(self, engine: Engine, limits: Any = None) -> None:
        super().__init__(engine, limits=limits)

    def compare(self, question: Question, progress: Progress | None = None) -> Any:
        steps = 10 if Pace.seconds else 0
        for step in range(steps):
            if progress:
                progress(step / steps, "fetched both sides")
            time.sleep(Pace.seconds / steps)
        return super().compare(question, progress)


@dataclass
class Fault:
    """What to answer instead, for paths that start so."""

    path: str
    status: int
    body: bytes = b'{"type": "/errors/x", "title": "x", "status": 0, "detail": "as ordered", "code": "x"}'
    left: int = 1_000_000
    """How many requests it strikes."""
    without: str = ""
    """Strikes only requests whose Authorization is not this."""
    delay: float = 0.0
    """Seconds to let pass; with status 0 the request is then answered as usual."""

    def strikes(self, environ: WSGIEnvironment) -> bool:
        allowed = self.without and environ.get("HTTP_AUTHORIZATION") == self.without
        return environ["PATH_INFO"].startswith(self.path) and self.left > 0 and not allowed


@dataclass
class Site:
    app: WSGIApplication
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """(method, path) of every request."""
    faults: list[Fault] = field(default_factory=list)
    _server: Any = None

    def start(self) -> Site:
        self._server = make_server("127.0.0.1", 0, self, threaded=True, request_handler=_Quiet)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def asked(self, method: str, start: str) -> int:
        return sum(1 for how, path in self.requests if how == method and path.startswith(start))

    def calm(self) -> None:
        """As it was at the beginning."""
        self.requests.clear()
        self.faults.clear()
        Pace.seconds = 0.0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        self.requests.append((environ["REQUEST_METHOD"], path))
        for fault in self.faults:
            if fault.strikes(environ):
                fault.left -= 1
                time.sleep(fault.delay)
                if not fault.status:
                    break
                start_response(f"{fault.status} Ordered", [("Content-Type", "application/problem+json")])
                return [fault.body]
        return self.app(environ, start_response)


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: pytest has enough to say."""
