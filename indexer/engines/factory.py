"""The engine that the settings name: its kind, its options and its address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from indexer.engines import open_engine
from indexer.errors import BadParameter

if TYPE_CHECKING:
    from indexer.engines.base import Engine
    from indexer.settings import Settings


def open_engine_from_settings(settings: Settings) -> Engine:
    """Open the engine that the settings name."""
    return open_engine(settings.engine, **make_engine_options(settings))


def make_engine_options(settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments of ``open_engine`` besides the address."""
    if not is_server_url(settings.engine):
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


def is_server_url(address: str) -> bool:
    """Return whether an engine's address is the URL of a server; otherwise it is a folder."""
    return address.startswith(("http://", "https://"))


def check_server_url(address: str) -> None:
    """Raise BadParameter if ``address`` is not the URL of a server, but would be taken for a folder."""
    if not is_server_url(address):
        raise BadParameter(f"{address!r} is not an Elasticsearch URL", fix="write http://HOST:9200")


def strip_credentials(address: str) -> str:
    """Return an engine's address without user names and passwords."""
    if not is_server_url(address):
        return address
    parts = [urlsplit(url.strip()) for url in address.split(",")]
    return ",".join(urlunsplit(part._replace(netloc=part.netloc.rpartition("@")[2])) for part in parts)
