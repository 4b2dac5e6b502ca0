"""Requests to Elasticsearch: those of an engine recorded and replayed by the same client, and more-like-this."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from indexer.engines.elasticsearch.engine import ElasticsearchEngine


@dataclass
class RequestRecording:
    """The requests of one comparison, ready to be sent again."""

    send: Callable[..., Any]
    """The client's own ``perform_request``."""
    requests: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def replay(self) -> None:
        """Send the requests again; the client parses the answers as it did."""
        for positional, named in self.requests:
            self.send(*positional, **named)


@contextmanager
def record_requests(engine: ElasticsearchEngine) -> Iterator[RequestRecording]:
    """Record what the engine's client sends meanwhile."""
    client: Any = engine.connection.client
    recording = RequestRecording(client.perform_request)

    def record_and_send(*positional: Any, **named: Any) -> Any:
        recording.requests.append((positional, named))
        return recording.send(*positional, **named)

    client.perform_request = record_and_send
    try:
        yield recording
    finally:
        del client.perform_request


def make_more_like_this_search(
    engine: ElasticsearchEngine, index: str, id: str, hits: int = 10
) -> Callable[[], object]:
    """Return a function that searches documents like one, with the titles of the hits: the least of a results page."""
    client, alias = engine.connection.client, engine.documents_alias(index)
    query = {"more_like_this": {"fields": ["tokens"], "like": [{"_index": alias, "_id": id}]}}
    return lambda: (
        client.search(index=alias, query=query, size=hits, source=False, docvalue_fields=[{"field": "card"}]).body
    )
