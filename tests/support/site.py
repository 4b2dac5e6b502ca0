"""The real app on a real port, in threads of this process, which counts requests and injects faults."""

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
TEST_ID_MARK = " test/"


class ComparisonGate:
    """Holds back every comparison of this process while it is closed."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self.started_count = 0
        """Comparisons and pages started since the gate was closed."""

    def close(self) -> None:
        self.started_count = 0
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def wait_until_open(self, on_wait: Callable[[], None]) -> None:
        """Wait; ``on_wait`` is called again and again meanwhile, and may raise."""
        self.started_count += 1
        while not self._open.wait(0.02):
            on_wait()


COMPARISON_GATE = ComparisonGate()


class GatedComparer(Comparer):
    """The real comparer, which waits at half way while the gate is closed."""

    def __init__(self, engine: Engine, limits: Any = None) -> None:
        super().__init__(engine, limits=limits)

    def compare(self, spec: ComparisonSpec, progress: Progress | None = None) -> Any:
        COMPARISON_GATE.wait_until_open(lambda: progress(0.5, "held back") if progress else None)
        return super().compare(spec, progress)

    def explain(self, specs: Sequence[ComparisonSpec]) -> Iterator[Any]:
        COMPARISON_GATE.wait_until_open(lambda: None)
        yield from super().explain(specs)

    def explain_query_page(self, specs: Sequence[ComparisonSpec]) -> Any:
        COMPARISON_GATE.wait_until_open(lambda: None)
        return super().explain_query_page(specs)


def make_unseen_query(words: str) -> str:
    """Return the words with one that was never used before, so that no answer is cached."""
    return f"{words} {uuid.uuid4().hex[:8]}"


@dataclass
class InjectedFault:
    """A reply sent instead of the app's, for paths that start with ``path``."""

    path: str
    status: int
    body: bytes = b'{"type": "/errors/x", "title": "x", "status": 0, "detail": "as ordered", "code": "x"}'
    remaining: int = 1_000_000
    """Number of requests it still applies to."""
    unless_authorization: str = ""
    """Applies only to requests without this Authorization."""
    release: threading.Event | None = None
    """The request waits until this is set; with status 0 it is then answered by the app."""

    def applies_to(self, environ: WSGIEnvironment) -> bool:
        allowed = self.unless_authorization and environ.get("HTTP_AUTHORIZATION") == self.unless_authorization
        return environ["PATH_INFO"].startswith(self.path) and self.remaining > 0 and not allowed


@dataclass
class Site:
    """A server for an app, in a thread."""

    app: WSGIApplication
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """(method, path) of every request."""
    faults: list[InjectedFault] = field(default_factory=list)
    test_id: str = ""
    """Id of the current test: requests with another id in their User-Agent belong to an earlier one and are ignored."""
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
        return sum(1 for request_method, path in self.requests if request_method == method and path.startswith(start))

    def reset(self) -> None:
        """Forget requests and faults, and let everything that waits go on."""
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
        """Record the request; return the fault that applies to it."""
        _, mark, test_id = environ.get("HTTP_USER_AGENT", "").partition(TEST_ID_MARK)
        if mark and test_id != self.test_id:
            return None
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            fault = next((one for one in self.faults if one.applies_to(environ)), None)
            if fault is not None:
                fault.remaining -= 1
            return fault


class OtherSiteApp:
    """The app of another site: serves the pages that a test writes into ``pages``."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.posts: dict[str, Callable[[bytes], bytes]] = {}
        """Path -> function from the JSON posted there to the reply."""

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
    """Serve the app on an engine, computing in this process; for fixtures to yield from."""
    loaded = load_settings(engine=str(folder), **{"wait_seconds": 0.5, **settings})
    config = load_work_config(loaded, inline=True, comparer="tests.support.site:GatedComparer")
    app = create_app(loaded, config=config)
    site = Site(app).start()
    yield site
    site.stop()
    app.extensions[EXTENSION].gateway.close()


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""
