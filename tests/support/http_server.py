"""A server in a thread of the test that answers like an Elasticsearch that cannot be installed here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class OldElasticsearch(BaseHTTPRequestHandler):
    """Elasticsearch of a version that the product does not support."""

    product_headers: tuple[tuple[str, str], ...] = (("X-Elastic-Product", "Elasticsearch"),)

    def do_GET(self) -> None:
        body = b'{"version": {"number": "7.17.0"}}'
        self.send_response(200)
        content_headers = (("Content-Type", "application/json"), ("Content-Length", str(len(body))))
        for name, value in (*self.product_headers, *content_headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class OtherProduct(OldElasticsearch):
    """A server that does not call itself Elasticsearch."""

    product_headers = ()


@contextmanager
def serve_in_thread(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve with ``handler`` on a free port until the block ends; give the URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))  # seconds until it notices its shutdown
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
