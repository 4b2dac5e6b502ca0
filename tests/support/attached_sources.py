"""An Elasticsearch index that another program owns, with an index of ours attached to it."""

from __future__ import annotations

import uuid
from typing import Any

from elasticsearch import Elasticsearch

from indexer.cli.main import run
from indexer.engines import open_engine
from indexer.engines.base import Engine

MAPPINGS = {
    "properties": {
        "headline": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        "body": {"type": "text", "analyzer": "whitespace"},  # unlike ours: capitals count
        "meta": {"properties": {"desk": {"type": "keyword"}}},
        "groups": {"type": "keyword"},
        "published": {"type": "date"},
        "views": {"type": "integer"},
    }
}
FIELD_MAPS = ["title=headline", "text=body", "facets.desk=meta.desk", "acl=groups", "date=published"]
BASE_TEXT = "The web graph is crawled. Link analysis ranks the pages of the web graph. A random walk stays on it. "


def make_story(number: int) -> dict[str, Any]:
    """Return a document; every third is for the group ``staff``, and only even ones contain "Graph" alone."""
    topic = ("Topic models find topics.", "Solar cells store energy.", "Page ranks are sums.")[number % 3]
    return {
        "headline": f"Story {number} on the web graph",
        "body": BASE_TEXT * 2 + topic + (" Graph" if number % 2 == 0 else ""),
        "meta": {"desk": "science" if number < 7 else "sports"},
        "published": f"2011-03-{number:02}",
        "views": 100 - number,
        **({"groups": ["staff"]} if number % 3 == 0 else {}),
    }


class AttachedSource:
    """An Elasticsearch index with twelve stories, to which ``attach_source`` attaches the index ``news``."""

    def __init__(self, url: str) -> None:
        tag = uuid.uuid4().hex[:8]
        self.url, self.index, self.prefix = url, f"stories-{tag}", f"side-{tag}-"
        self.client = Elasticsearch(url)
        self.client.indices.create(index=self.index, mappings=MAPPINGS)
        for number in range(1, 13):
            self.client.index(index=self.index, id=f"s{number}", document=make_story(number))
        self.client.indices.refresh(index=self.index)

    def open_engine(self) -> Engine:
        return open_engine(self.url, prefix=self.prefix)

    def put_document(self, id: str, document: dict[str, Any]) -> None:
        self.client.index(index=self.index, id=id, document=document, refresh=True)

    def close(self) -> None:
        with self.open_engine() as engine:
            for index in engine.list_indexes():
                engine.delete_index(index)
        for name in self.client.indices.get(index=f"{self.index}*").body:
            self.client.indices.delete(index=name)
        self.client.close()


def attach_source(attached: AttachedSource, *options: str, index: str = "", engine: str = "") -> None:
    """Run ``phrasecom attach`` on the source, or on another index of its server."""
    maps = [argument for field_map in FIELD_MAPS for argument in ("--map", field_map)]
    address = f"{attached.url}/{index or attached.index}"
    command = ["attach", address, "--index", "news", "--engine", engine or attached.url, "--index-processes", "1"]
    assert run([*command, *maps, *options]) == 0
