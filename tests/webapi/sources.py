"""An Elasticsearch index of somebody else, and a side index attached to it."""

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
MAPS = ["title=headline", "text=body", "facets.desk=meta.desk", "acl=groups", "date=published"]
SAID = "The web graph is crawled. Link analysis ranks the pages of the web graph. A random walk stays on it. "


def story(number: int) -> dict[str, Any]:
    """Every third is for staff; only even ones write a lone Graph."""
    topic = ("Topic models find topics.", "Solar cells store energy.", "Page ranks are sums.")[number % 3]
    return {
        "headline": f"Story {number} on the web graph",
        "body": SAID * 2 + topic + (" Graph" if number % 2 == 0 else ""),
        "meta": {"desk": "science" if number < 7 else "sports"},
        "published": f"2011-03-{number:02}",
        "views": 100 - number,
        **({"groups": ["staff"]} if number % 3 == 0 else {}),
    }


class House:
    """A source with twelve stories, a side index ``news`` attached to it, and whoever looks at it."""

    def __init__(self, url: str) -> None:
        tag = uuid.uuid4().hex[:8]
        self.url, self.source, self.prefix = url, f"stories-{tag}", f"side-{tag}-"
        self.elastic = Elasticsearch(url)
        self.elastic.indices.create(index=self.source, mappings=MAPPINGS)
        for number in range(1, 13):
            self.elastic.index(index=self.source, id=f"s{number}", document=story(number))
        self.elastic.indices.refresh(index=self.source)

    def engine(self) -> Engine:
        return open_engine(self.url, prefix=self.prefix)

    def put(self, id: str, document: dict[str, Any]) -> None:
        self.elastic.index(index=self.source, id=id, document=document, refresh=True)

    def close(self) -> None:
        with self.engine() as engine:
            for index in engine.list_indexes():
                engine.delete_index(index)
        for name in self.elastic.indices.get(index=f"{self.source}*").body:
            self.elastic.indices.delete(index=name)
        self.elastic.close()


def attach(house: House, *more: str, source: str = "", engine: str = "") -> None:
    maps = [part for one in MAPS for part in ("--map", one)]
    address = f"{house.url}/{source or house.source}"
    command = ["attach", address, "--index", "news", "--engine", engine or house.url, "--index-processes", "1"]
    assert run([*command, *maps, *more]) == 0
