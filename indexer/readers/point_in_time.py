"""A point in time of an Elasticsearch index: its documents as they were, whatever is written to it meanwhile."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from elasticsearch import NotFoundError

from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.engines.elasticsearch.reader import PREFERENCE
from indexer.errors import BadInput, PhraseComError

log = logging.getLogger(__name__)
KEEP_ALIVE = "5m"
"""How long Elasticsearch keeps the point in time between two requests."""
_TOUCH_SECONDS = 60.0
"""Seconds between two requests that keep it, while nothing is read."""


@contextmanager
def open_point_in_time(connection: ElasticsearchConnection, index: str) -> Iterator[str]:
    """Open a point in time and yield its id; raise BadInput if there is no such index."""
    with connection.translate_errors():
        try:
            # always of the same copies: another copy may see a write later
            opened = connection.client.open_point_in_time(index=index, keep_alive=KEEP_ALIVE, preference=PREFERENCE)
        except NotFoundError:
            raise make_unknown_index_error(connection, index) from None
    pit = opened["id"]
    try:
        yield pit
    finally:
        with connection.translate_errors():
            connection.client.options(ignore_status=404).close_point_in_time(id=pit)


@contextmanager
def keep_point_in_time(connection: ElasticsearchConnection, pit: str) -> Iterator[None]:
    """Keep a point in time for the duration of a block, however long nothing is read of it."""
    stopped = threading.Event()

    def touch_until_stopped() -> None:
        while not stopped.wait(_TOUCH_SECONDS):
            try:
                next(iterate_hits(connection, pit, False, 1, count=1), None)
            except PhraseComError as error:  # a reader will meet it too, if it lasts
                log.warning("cannot keep the point in time of the source: %s", error)

    thread = threading.Thread(target=touch_until_stopped, name="point-in-time", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def iterate_hits(
    connection: ElasticsearchConnection,
    pit: str,
    source_filter: Mapping[str, Any] | bool,
    page_size: int,
    *,
    query: Mapping[str, Any] | None = None,
    after: int | None = None,
    count: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the documents of a point in time that match a query, or all of them, with their sequence numbers.

    They come in the order of the single number in their ``sort``. ``after``: only those behind this one; ``count``: at
    most so many. ``source_filter``: the ``_source`` of the search. Raise BadInput if the point in time is gone.
    """
    left = count
    while left is None or left > 0:
        size = page_size if left is None else min(page_size, left)
        try:
            with connection.translate_errors():
                response = connection.client.search(
                    pit={"id": pit, "keep_alive": KEEP_ALIVE},
                    query=query,
                    size=size,
                    source=source_filter,
                    sort=["_shard_doc"],
                    search_after=None if after is None else [after],
                    seq_no_primary_term=True,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                ).body
        except NotFoundError as error:
            raise BadInput(
                f"the source at {connection.url} cannot be read any more as it was ({error.message}): its index was "
                "deleted, or nothing was read of it for too long",
                fix="run the command again",
            ) from None
        connection.require_complete(response)
        pit = response["pit_id"]
        hits = response["hits"]["hits"]
        yield from hits
        if len(hits) < size:
            return
        after = hits[-1]["sort"][0]
        left = None if left is None else left - size


def make_unknown_index_error(connection: ElasticsearchConnection, index: str) -> BadInput:
    return BadInput(f"{connection.url} has no index {index!r}", fix="check its name")
