"""Engines: where documents are kept and searched. Two stand behind one interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from indexer.engines.base import Engine
from indexer.errors import BadSetting


def open_engine(address: str, **options: Any) -> Engine:
    """The engine at an address: an ``http(s)://`` URL is Elasticsearch, anything else a folder."""
    if address.startswith(("http://", "https://")):
        from indexer.engines.elasticsearch.engine import ElasticsearchEngine

        return ElasticsearchEngine(address, **options)
    if "://" in address:
        raise BadSetting(
            f"{address!r} is no engine", fix="give a folder, or a URL that begins with http:// or https://"
        )
    from indexer.engines.embedded.engine import TantivyEngine

    return TantivyEngine(Path(address).expanduser().absolute(), **options)


__all__ = ["open_engine"]
