"""The real app on a real port, in threads of this process: requests are counted, faults are ordered."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from werkzeug.serving import WSGIRequestHandler, make_server

from indexer.engines.base import Engine
from indexer.settings import load_settings
from webapi.app import create_app
from webapi.context import EXTENSION
from worker.comparer import Comparer
from worker.explain.spec import ComparisonSpec
from worker.jobs.config import load_work_config

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Progress = Callable[[float, str], None]
TEST_ID_MARK = " turn/"


class ComparisonGate:
    """Every comparison of this process passes it: while it is closed they have begun and cannot go on."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self.started_count = 0
        """Comparisons and pages that came to it since it was closed."""

    def close(self) -> None:
        self.started_count = 0
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def wait_until_open(self, on_wait: Callable[[], None]) -> None:
        """Until it is open; ``waiting`` is called again and again meanwhile, and may raise."""
        self.started_count += 1
        while not self._open.wait(0.02):
            on_wait()


COMPARISON_GATE = ComparisonGate()


class GatedComparer(Comparer):
    """The real comparison, held back half way when a test asks for it."""

    def __init__(self, engine: Engine, limits: Any = None) -> None:
        super().__init__(engine, limits=limits)

    def compare(self, spec: ComparisonSpec, progress: Progress | None = None) -> Any:
        COMPARISON_GATE.wait_until_open(lambda: progress(0.5, "held back") if progress else None)
        return super().compare(spec, progress)

    def explain(self, specs: Sequence[ComparisonSpec]) -> Iterator[Any]:
        COMPARISON_GATE.wait_until_open(lambda: None)
        yield from super().explain(specs)


def make_unseen_query(words: str) -> str:
    """The words with one that nobody used before: no answer to them is kept."""
    return f"{words} {uuid.uuid4().hex[:8]}"


@dataclass
class InjectedFault:
    """What to answer instead, for paths that start so."""

    path: str
    status: int
    body: bytes = b'{"type": "/errors/x", "title": "x", "status": 0, "detail": "as ordered", "code": "x"}'
    remaining: int = 1_000_000
    """How many requests it strikes."""
    unless_authorization: str = ""
    """Strikes only requests whose Authorization is not this."""
    release: threading.Event | None = None
    """The request is kept waiting until this is set; with status 0 it is then answered as usual."""

    def applies_to(self, environ: WSGIEnvironment) -> bool:
        allowed = self.unless_authorization and environ.get("HTTP_AUTHORIZATION") == self.unless_authorization
        return environ["PATH_INFO"].startswith(self.path) and self.remaining > 0 and not allowed


@dataclass
class Site:
    app: WSGIApplication
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """(method, path) of every request."""
    faults: list[InjectedFault] = field(default_factory=list)
    test_id: str = ""
    """Whose requests count: a browser that says another one in its User-Agent still finishes an earlier test."""
    _server: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> Site:
        self._server = make_server("127.0.0.1", 0, self, threaded=True, request_handler=_QuietHandler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def count_requests(self, method: str, start: str) -> int:
        return sum(1 for how, path in self.requests if how == method and path.startswith(start))

    def reset(self) -> None:
        """As it was at the beginning."""
        for fault in self.faults:
            if fault.release is not None:
                fault.release.set()
        self.requests.clear()
        self.faults.clear()
        COMPARISON_GATE.open()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        fault = self._record_request(environ)
        if fault is not None and fault.release is not None:
            fault.release.wait()
        if fault is None or not fault.status:
            return self.app(environ, start_response)
        start_response(f"{fault.status} Ordered", [("Content-Type", "application/problem+json")])
        return [fault.body]

    def _record_request(self, environ: WSGIEnvironment) -> InjectedFault | None:
        """Count the request; the fault that strikes it."""
        _, said, turn = environ.get("HTTP_USER_AGENT", "").partition(TEST_ID_MARK)
        if said and turn != self.test_id:
            return None
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            fault = next((one for one in self.faults if one.applies_to(environ)), None)
            if fault is not None:
                fault.remaining -= 1
            return fault


class OtherSiteApp:
    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.posts: dict[str, Callable[[bytes], bytes]] = {}
        """What is done with the JSON sent to an address."""

    def __call__(self, environ, start_response):  # type: ignore[no-untyped-def]
        path = environ["PATH_INFO"]
        if environ["REQUEST_METHOD"] == "POST" and path in self.posts:
            sent = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            start_response("200 OK", [("Content-Type", "application/json")])
            return [self.posts[path](sent)]
        page = self.pages.get(path)
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        start_response("200 OK" if page else "404 Not Found", [("Content-Type", f"{kind}; charset=utf-8")])
        return [(page or "").encode()]


def serve_site(folder: Path | str, **settings: object) -> Iterator[Site]:
    loaded = load_settings(engine=str(folder), wait_seconds=0.5, **settings)
    config = load_work_config(loaded, inline=True, comparer="tests.support.site:GatedComparer")
    app = create_app(loaded, config=config)
    served = Site(app).start()
    yield served
    served.stop()
    app.extensions[EXTENSION].gateway.close()


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: pytest has enough to say."""
