"""Bulk writing of documents, in order and with retries; BulkWriter does it on a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from elasticsearch.helpers import streaming_bulk

from indexer.engines.elasticsearch.connection import ElasticsearchConnection
from indexer.errors import BadInput, IndexBusy, PhraseComError

CHUNK_ACTIONS = 500
"""Maximum number of actions per bulk request."""
CHUNK_BYTES = 8_000_000
"""Maximum size of a bulk request."""
BUILD_RETRIES = 6
"""Retries for a build: about a minute for an overloaded server."""
UPDATE_RETRIES = 2
"""Retries for an update: few, since its caller is waiting and can try again."""
_END = object()


def send_bulk_actions(
    connection: ElasticsearchConnection, actions: Iterable[dict[str, Any]], retries: int = BUILD_RETRIES
) -> Iterator[tuple[str, str]]:
    """Send the actions in order and iterate over id and result: ``created``, ``updated`` or ``superseded``.

    ``superseded``: a newer version of the document stands in the index. Raises BadInput for a refused document and
    IndexBusy if the index is being built or was replaced.
    """
    with connection.translate_errors():
        for ok, item in streaming_bulk(
            connection.client,
            actions,
            chunk_size=CHUNK_ACTIONS,
            max_chunk_bytes=CHUNK_BYTES,
            raise_on_error=False,
            max_retries=retries,
            initial_backoff=0.5,
            max_backoff=20,
            retry_on_status=(429, 503),
            require_alias=True,
        ):
            outcome = next(iter(item.values()))
            is_superseded = outcome["status"] == 409
            if not ok and "error" in outcome and not is_superseded:
                raise _translate_bulk_error(connection, outcome)
            yield outcome["_id"], "superseded" if is_superseded else outcome.get("result", "")


def _translate_bulk_error(connection: ElasticsearchConnection, bulk_item: dict[str, Any]) -> PhraseComError:
    """Translate the failure of one bulk action."""
    error = bulk_item["error"]
    if bulk_item["status"] == 404:
        return IndexBusy("the index was replaced while it was being written", fix="try again")
    if error.get("type") == "cluster_block_exception" and "index write" in str(error.get("reason")):
        return IndexBusy("the index is being rebuilt", fix="try again when the rebuild is done")
    if bulk_item["status"] == 400:
        return BadInput(f"Elasticsearch refused document {bulk_item.get('_id')!r}: {error.get('reason', error)}")
    return connection.unavailable_error(str(error.get("reason", error))[:300])


class BulkWriter:
    """Queue of actions that a thread writes, so that analysis and indexing overlap.

    An error of the thread is raised by the next call.
    """

    def __init__(self, connection: ElasticsearchConnection) -> None:
        self._queue: queue.Queue[Any] = queue.Queue(maxsize=2 * CHUNK_ACTIONS)
        self._error: Exception | None = None
        self._ended = False
        self._connection = connection
        self._thread = threading.Thread(target=self._write_queue, name="bulk", daemon=True)
        self._thread.start()

    def put(self, action: dict[str, Any]) -> None:
        """Queue an action; wait while the queue is full."""
        self._raise_error()
        self._queue.put(action)

    def finish(self) -> None:
        """Wait until all queued actions are written."""
        self._queue.put(_END)
        self._thread.join()
        self._raise_error()

    def stop(self) -> None:
        """Discard what is queued and wait for the request in progress."""
        if self._thread.is_alive():
            self._error = self._error or InterruptedError("stopped")
            self._queue.put(_END)
            self._thread.join()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _drain_queue(self) -> Iterator[dict[str, Any]]:
        while not self._ended:
            action = self._queue.get()
            self._ended = action is _END
            if not self._ended and self._error is None:
                yield action

    def _write_queue(self) -> None:
        try:
            for _ in send_bulk_actions(self._connection, self._drain_queue()):
                pass
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            self._error = error
            for _ in self._drain_queue():  # empty the queue, so that the caller does not block before it sees the error
                pass
