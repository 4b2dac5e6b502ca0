"""Bulk writing: in order, retried, on a thread of its own so that analysing and indexing overlap."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from elasticsearch.helpers import streaming_bulk

from indexer.engines.elasticsearch.connection import Connection
from indexer.errors import BadInput, IndexBusy, PhraseComError

CHUNK = 500
CHUNK_BYTES = 8_000_000
RETRIES = 6
"""For a build: a minute of patience with a server that has too much to do."""
FEW_RETRIES = 2
"""For a change: whoever asked for it waits, or tries again later."""
_END = object()


def write_all(
    connection: Connection, actions: Iterable[dict[str, Any]], retries: int = RETRIES
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Send the actions in order; what came of each: (kind of result, answer)."""
    with connection.telling():
        for ok, item in streaming_bulk(
            connection.client,
            actions,
            chunk_size=CHUNK,
            max_chunk_bytes=CHUNK_BYTES,
            raise_on_error=False,
            max_retries=retries,
            initial_backoff=0.5,
            max_backoff=20,
            retry_on_status=(429, 503),
            require_alias=True,
        ):
            answer = next(iter(item.values()))
            if not ok and "error" in answer:
                raise _refused(connection, answer)
            yield answer.get("result", ""), answer


def _refused(connection: Connection, answer: dict[str, Any]) -> PhraseComError:
    error = answer["error"]
    if answer["status"] == 404:
        return IndexBusy("the index was replaced while it was being written", fix="try again")
    if error.get("type") == "cluster_block_exception" and "index write" in str(error.get("reason")):
        return IndexBusy("the index is being rebuilt", fix="try again when that is done")
    if answer["status"] == 400:
        return BadInput(f"Elasticsearch refused document {answer.get('_id')!r}: {error.get('reason', error)}")
    return connection.unavailable(str(error.get("reason", error))[:300])


class Feed:
    """Actions put here are written behind the caller's back; an error comes out at the next call."""

    def __init__(self, connection: Connection) -> None:
        self._waiting: queue.Queue[Any] = queue.Queue(maxsize=2 * CHUNK)
        self._error: Exception | None = None
        self._ended = False
        self._connection = connection
        self._thread = threading.Thread(target=self._run, name="bulk", daemon=True)
        self._thread.start()

    def put(self, action: dict[str, Any]) -> None:
        self._raise()
        self._waiting.put(action)

    def finish(self) -> None:
        """Wait until all is written."""
        self._waiting.put(_END)
        self._thread.join()
        self._raise()

    def stop(self) -> None:
        """Write no more than is under way."""
        if self._thread.is_alive():
            self._error = self._error or InterruptedError("stopped")
            self._waiting.put(_END)
            self._thread.join()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _actions(self) -> Iterator[dict[str, Any]]:
        while not self._ended:
            action = self._waiting.get()
            self._ended = action is _END
            if not self._ended and self._error is None:
                yield action

    def _run(self) -> None:
        try:
            for _ in write_all(self._connection, self._actions()):
                pass
        except Exception as error:  # noqa: BLE001 - raised again where the caller sees it
            self._error = error
            for _ in self._actions():  # let the caller go on until it looks
                pass
