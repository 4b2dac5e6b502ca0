"""An Elasticsearch index that another program owns, with an index of ours attached to it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch, helpers

from indexer.cli.main import run
from indexer.engines import open_engine
from indexer.engines.base import Engine
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.group_mappings import GROUP_MAPPINGS, GroupMapping

MAPPINGS: dict[str, dict[str, Any]] = {
    "properties": {
        "headline": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        "body": {"type": "text", "analyzer": "whitespace"},  # unlike ours: capitals count
        "meta": {"properties": {"desk": {"type": "keyword"}}},
        "groups": {"type": "keyword"},
        "published": {"type": "date"},
        "views": {"type": "integer"},
    }
}
FIELD_MAPS = ["title=headline", "text=body", "facets.desk=meta.desk", "date=published"]
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


def make_stories() -> dict[str, dict[str, Any]]:
    """Return twelve stories by id."""
    return {f"s{number}": make_story(number) for number in range(1, 13)}


def make_mappings(groups: GroupMapping) -> dict[str, Any]:
    """Return the mappings of a source that maps its groups in this way."""
    fields = {name: options for name, options in MAPPINGS["properties"].items() if name != "groups"}
    return {"properties": fields | groups.properties, **groups.root}


class AttachedSource:
    """An Elasticsearch index, to which ``attach_source`` attaches the index ``news``."""

    def __init__(
        self,
        url: str,
        documents: Mapping[str, dict[str, Any]] | None = None,
        groups: GroupMapping = GROUP_MAPPINGS["keyword"],
        analysis: Mapping[str, Any] | None = None,
        text_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Create the index.

        ``documents``: by id; the twelve stories if there are none. ``groups``: how their groups are mapped.
        ``analysis`` and ``text_options``: analyzers of the index, and further options of its headline and body.
        """
        tag = uuid.uuid4().hex[:8]
        self.url, self.index, self.prefix = url, f"stories-{tag}", f"side-{tag}-"
        self.acl_path = groups.path
        self.client = Elasticsearch(url)
        mappings = make_mappings(groups)
        for name in ("headline", "body"):
            mappings["properties"][name] = mappings["properties"][name] | dict(text_options or {})
        self.client.indices.create(index=self.index, mappings=mappings, settings={"analysis": dict(analysis or {})})
        self.put_documents(make_stories() if documents is None else documents)

    def put_documents(self, documents: Mapping[str, dict[str, Any]]) -> None:
        """Write documents by id and make them visible."""
        actions = ({"_index": self.index, "_id": id, "_source": document} for id, document in documents.items())
        helpers.bulk(self.client, actions, refresh=True)

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


def attach_source(
    attached: AttachedSource, *options: str, index: str = "", engine: str = "", name: str = "news"
) -> None:
    """Run ``phrasecom attach`` on the source, or on another index of its server."""
    field_maps = [*FIELD_MAPS, f"acl={attached.acl_path}"]
    maps = [argument for field_map in field_maps for argument in ("--map", field_map)]
    address = f"{attached.url}/{index or attached.index}"
    command = ["attach", address, "--index", name, "--engine", engine or attached.url, "--index-processes", "1"]
    assert run([*command, *maps, *options]) == 0


@contextmanager
def serve_callers(source: AttachedSource, tmp_path: Path, **settings: Any) -> Iterator[Callable[[str], AppClient]]:
    """Give a function from a caller's name to a client with that caller's key."""
    keys = IssuedKeys(tmp_path / "keys.toml")
    everything = ("read", "compare", "ingest")
    for name, groups in {"root": ("*",), "staff": ("staff",), "guest": ("guests",)}.items():
        keys.issue(name, everything, groups=groups)
    with source.open_engine() as engine:
        app = make_app_client(engine, keys, **settings)
        yield lambda name: app.with_key(keys.secrets[name])
        app.close()
