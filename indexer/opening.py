"""Opening the engine that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from indexer.settings import Settings


def is_server(address: str) -> bool:
    """Whether it is the URL of a server; otherwise it is a folder."""
    return address.startswith(("http://", "https://"))


def engine_options(settings: Settings) -> dict[str, Any]:
    """What ``open_engine`` is to be told besides the address."""
    if not is_server(settings.engine):
        return {}
    options: dict[str, Any] = {
        "prefix": settings.index_prefix,
        "shards": settings.shards,
        "replicas": settings.replicas,
        "timeout": settings.engine_timeout_seconds,
        "query_seconds": settings.query_seconds,
    }
    if key := settings.engine_api_key.get_secret_value():
        options["api_key"] = key
    if settings.engine_ca:
        options["ca_certs"] = settings.engine_ca
    return options


def open_engine_of(settings: Settings) -> Engine:
    """The engine the settings name; the caller closes it."""
    from indexer.engines import open_engine

    return open_engine(settings.engine, **engine_options(settings))
