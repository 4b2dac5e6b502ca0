"""What an engine sent to Elasticsearch, written down and sent again by the same client."""

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
    requests: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def replay(self) -> None:
        """Send exactly the same again; the client parses the answers as it did."""
        for positional, named in self.requests:
            self.send(*positional, **named)


@contextmanager
def record_requests(engine: ElasticsearchEngine) -> Iterator[RequestRecording]:
    """Writes down what the engine's client sends meanwhile."""
    client: Any = engine.connection.client
    taken = RequestRecording(client.perform_request)

    def noted(*positional: Any, **named: Any) -> Any:
        taken.requests.append((positional, named))
        return taken.send(*positional, **named)

    client.perform_request = noted
    try:
        yield taken
    finally:
        del client.perform_request


def build_more_like_this(engine: ElasticsearchEngine, index: str, id: str, hits: int = 10) -> Callable[[], object]:
    """The search for documents like this one, each hit with its title: the least that a results page needs."""
    client, alias = engine.connection.client, engine.documents_alias(index)
    query = {"more_like_this": {"fields": ["tokens"], "like": [{"_index": alias, "_id": id}]}}
    return lambda: (
        client.search(index=alias, query=query, size=hits, source=False, docvalue_fields=[{"field": "card"}]).body
    )
