"""Engines that store and search documents: Elasticsearch and the embedded one (tantivy), behind one interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indexer.engines.base import Engine
from indexer.errors import BadSetting


def open_engine(address: str, **options: Any) -> Engine:
    """Open the engine at an address: Elasticsearch for an ``http(s)://`` URL, otherwise a folder.

    ``options`` are passed to the engine. Raises BadSetting for another kind of URL.
    """
    if address.startswith(("http://", "https://")):
        from indexer.engines.elasticsearch.engine import ElasticsearchEngine

        return ElasticsearchEngine(address, **options)
    if "://" in address:
        raise BadSetting(
            f"{address!r} is not an engine", fix="give a folder, or a URL that begins with http:// or https://"
        )
    from indexer.engines.embedded.engine import EmbeddedEngine

    return EmbeddedEngine(Path(address).expanduser().absolute(), **options)


__all__ = ["open_engine"]
