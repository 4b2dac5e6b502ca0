"""The real app on a real port, in threads of this process: requests are counted, faults are ordered."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from werkzeug.serving import WSGIRequestHandler, make_server

from indexer.engines.base import Engine
from worker.comparer import Comparer
from worker.explain.spec import ComparisonSpec

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Progress = Callable[[float, str], None]
TURN = " turn/"


class Gate:
    """Every comparison of this process passes it: while it is closed they have begun and cannot go on."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self.begun = 0
        """Comparisons and pages that came to it since it was closed."""

    def close(self) -> None:
        self.begun = 0
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def passed(self, waiting: Callable[[], None]) -> None:
        """Until it is open; ``waiting`` is called again and again meanwhile, and may raise."""
        self.begun += 1
        while not self._open.wait(0.02):
            waiting()


GATE = Gate()


class GatedComparer(Comparer):
    """The real comparison, held back half way when a test asks for it."""

    def __init__(self, engine: Engine, limits: Any = None) -> None:
        super().__init__(engine, limits=limits)

    def compare(self, spec: ComparisonSpec, progress: Progress | None = None) -> Any:
        GATE.passed(lambda: progress(0.5, "held back") if progress else None)
        return super().compare(spec, progress)

    def explain(self, specs: Sequence[ComparisonSpec]) -> Iterator[Any]:
        GATE.passed(lambda: None)
        yield from super().explain(specs)


def unheard(words: str) -> str:
    """The words with one that nobody used before: no answer to them is kept."""
    return f"{words} {uuid.uuid4().hex[:8]}"


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
    hold: threading.Event | None = None
    """The request is kept waiting until this is set; with status 0 it is then answered as usual."""

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
    turn: str = ""
    """Whose requests count: a browser that says another one in its User-Agent still finishes an earlier test."""
    _server: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

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
        for fault in self.faults:
            if fault.hold is not None:
                fault.hold.set()
        self.requests.clear()
        self.faults.clear()
        GATE.open()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        fault = self._counted(environ)
        if fault is not None and fault.hold is not None:
            fault.hold.wait()
        if fault is None or not fault.status:
            return self.app(environ, start_response)
        start_response(f"{fault.status} Ordered", [("Content-Type", "application/problem+json")])
        return [fault.body]

    def _counted(self, environ: WSGIEnvironment) -> Fault | None:
        """Count the request; the fault that strikes it."""
        _, said, turn = environ.get("HTTP_USER_AGENT", "").partition(TURN)
        if said and turn != self.turn:
            return None
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            fault = next((one for one in self.faults if one.strikes(environ)), None)
            if fault is not None:
                fault.left -= 1
            return fault


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: pytest has enough to say."""
