"""The index of ``search_bodies`` in Elasticsearch, with an index of ours attached to it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar
from urllib.request import Request, urlopen

import pytest
from elasticsearch import Elasticsearch, helpers

from indexer.cli.main import run
from indexer.engines import open_engine
from indexer.engines.base import Engine
from tests.support.http_server import serve_in_thread
from tests.support.search_bodies import FIELD_MAPS, MAPPINGS, SearchBody, make_articles


@dataclass(frozen=True)
class Articles:
    """An Elasticsearch index, with the index ``articles`` of ours attached to it."""

    url: str
    """Of the server that PhraseCom asks."""
    index: str
    prefix: str
    client: Elasticsearch

    def open_engine(self) -> Engine:
        return open_engine(self.url, prefix=self.prefix)

    def attach(self, name: str, *more_options: str) -> None:
        """Attach ``articles`` to an index or an alias of the server."""
        maps = [argument for field_map in FIELD_MAPS for argument in ("--map", field_map)]
        options = ["--index", "articles", "--engine", self.url, "--index-processes", "1", *maps, *more_options]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PHRASECOM_INDEX_PREFIX", self.prefix)
            assert run(["attach", f"{self.url}/{name}", *options]) == 0

    def make_sent_body(self, one: SearchBody) -> dict[str, Any]:
        """Return a body as a caller sends it, with a point in time of its own if it needs one."""
        if not one.with_pit:
            return dict(one.body)
        return {**one.body, "pit": {"id": self.open_point_in_time(self.index), "keep_alive": "1m"}}

    def open_point_in_time(self, index: str) -> str:
        return str(self.client.open_point_in_time(index=index, keep_alive="1m")["id"])

    def search(self, body: Mapping[str, Any], **parameters: Any) -> dict[str, Any]:
        """Return Elasticsearch's own answer."""
        index = None if "pit" in body else self.index
        return dict(self.client.options(headers={}).search(index=index, body=dict(body), **parameters).body)


@contextmanager
def attach_articles(
    elasticsearch_url: str,
    asked_url: str = "",
    documents: Mapping[str, dict[str, Any]] | None = None,
    options: Sequence[str] = (),
) -> Iterator[Articles]:
    """Create the index and attach to it.

    ``asked_url``: the server that PhraseCom asks, if it is another; ``options``: further ones of the command.
    """
    tag = uuid.uuid4().hex[:8]
    client = Elasticsearch(elasticsearch_url)
    articles = Articles(asked_url or elasticsearch_url, f"source-{tag}", f"side-{tag}-", client)
    client.indices.create(index=articles.index, mappings=MAPPINGS)
    entries = (make_articles() if documents is None else documents).items()
    helpers.bulk(client, ({"_index": articles.index, "_id": id, "_source": one} for id, one in entries), refresh=True)
    articles.attach(articles.index, *options)
    yield articles
    with articles.open_engine() as engine:
        for index in engine.list_indexes():
            engine.delete_index(index)
    for name in client.indices.get(index=f"{articles.index}*").body:
        client.indices.delete(index=name)
    client.close()


class RecordingElasticsearch(BaseHTTPRequestHandler):
    """Stands for a server that knows searches which the one behind it lacks: it records them, and answers with the
    first documents. Everything else is passed on."""

    target: ClassVar[str]
    unknown_names: ClassVar[frozenset[str]]
    """Names in the bodies of searches that the server behind it lacks."""
    recorded: ClassVar[list[dict[str, Any]]]

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(size) if size else None
        if content and self.path.partition("?")[0].endswith("/_search") and self._is_unknown(json.loads(content)):
            self.recorded.append(json.loads(content))
            content = b'{"size": 3}'
        own_headers = ("host", "connection", "content-length")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in own_headers}
        request = Request(f"{self.target}{self.path}", content, headers, method=self.command)
        try:
            with urlopen(request) as response:
                self._answer(response.status, response.headers, response.read())
        except OSError as error:
            if not hasattr(error, "headers"):
                raise
            self._answer(error.status, error.headers, error.read())  # type: ignore[attr-defined]

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

    def _is_unknown(self, node: object) -> bool:
        if isinstance(node, list):
            return any(self._is_unknown(item) for item in node)
        if not isinstance(node, dict):
            return False
        return bool(node.keys() & self.unknown_names) or any(self._is_unknown(value) for value in node.values())

    def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve_recording_elasticsearch(url: str, unknown_names: frozenset[str]) -> Iterator[type[RecordingElasticsearch]]:
    """Serve in front of a real Elasticsearch; the class that is given has the URL as ``address``."""
    handler = type(
        "Handler", (RecordingElasticsearch,), {"target": url, "unknown_names": unknown_names, "recorded": []}
    )
    with serve_in_thread(handler) as address:
        handler.address = address  # type: ignore[attr-defined]
        yield handler
