"""Lock that keeps writers out of the current epoch during a build, so that no document is added that the build misses.

The lock is Elasticsearch's write block, which waits for writes in progress. The builder renews a heartbeat in the
mapping of its own model index; the block of a dead builder is lifted by the next writer. That writer deletes the
dead builder's indexes first, so that it cannot commit after all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elasticsearch import NotFoundError

from indexer.errors import IndexBusy, PhraseComError, UnknownIndex

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

BUILD_LEASE_SECONDS = 120.0
"""Seconds after its last heartbeat that a builder is doubted; after half as many more it counts as dead."""
_WRITE_BLOCK = "index.blocks.write"


def make_heartbeat(lease_seconds: float) -> dict[str, Any]:
    """Return the mapping ``_meta`` that keeps a builder alive for ``lease_seconds``."""
    return {"alive_until": time.time() + lease_seconds}


class BuildLock:
    """Write block on the current epoch from the start of a build to its end, with the heartbeat of the builder."""

    def __init__(self, engine: ElasticsearchEngine, index: str, model_index: str, build_alias: str) -> None:
        """Block writers and start the heartbeat.

        ``model_index`` carries the heartbeat; ``build_alias`` exists while the build is open.
        """
        self._engine, self._index, self._model_index, self._build_alias = engine, index, model_index, build_alias
        client = engine.connection.client
        self._blocked_indexes: list[str] = []
        if client.indices.exists_alias(name=engine.documents_alias(index)):
            self._blocked_indexes = list(client.indices.get_alias(name=engine.documents_alias(index)).body)
            client.indices.add_block(index=self._blocked_indexes, block="write")
            client.indices.refresh(index=self._blocked_indexes)  # make the last writes visible to the build
        self._stopped = threading.Event()
        self._heartbeat_thread = threading.Thread(target=self._send_heartbeats, name="build", daemon=True)
        self._heartbeat_thread.start()

    def require_unbroken(self) -> None:
        """Raise IndexBusy if the block was lifted, so that documents may have been written since."""
        client = self._engine.connection.client
        if self._blocked_indexes and not all(_fetch_write_blocks(client, self._blocked_indexes)):
            raise IndexBusy(f"index {self._index!r} was written while it was being rebuilt", fix="build it again")

    def stop_heartbeat(self) -> None:
        """Stop the heartbeat once the build is committed."""
        self._stopped.set()
        self._heartbeat_thread.join()

    def release(self) -> None:
        """Lift the block, unless another build has taken over."""
        self.stop_heartbeat()
        client = self._engine.connection.client
        if self._blocked_indexes and client.indices.exists_alias(name=self._build_alias):
            _remove_write_block(client, self._blocked_indexes)

    def _send_heartbeats(self) -> None:
        lease = self._engine.build_lease
        while not self._stopped.wait(lease / 4):
            try:
                with self._engine.connection.translate_errors():
                    self._engine.connection.client.indices.put_mapping(
                        index=self._model_index, meta=make_heartbeat(lease)
                    )
            except (NotFoundError, PhraseComError):  # taken over, or unreachable: commit will fail
                continue


def require_writable_alias(engine: ElasticsearchEngine, index: str) -> str:
    """Return the alias to write documents through; raise UnknownIndex, or IndexBusy while a build runs."""
    alias, client = engine.documents_alias(index), engine.connection.client
    with engine.connection.translate_errors():
        try:
            blocked = any(_fetch_write_blocks(client, [alias]))
        except NotFoundError:
            raise UnknownIndex(index) from None
        if blocked:
            _lift_stale_block(engine, index)
    return alias


def _lift_stale_block(engine: ElasticsearchEngine, index: str) -> None:
    """Lift the block of a dead builder; raise IndexBusy if it is alive."""
    client = engine.connection.client
    leftovers = engine.list_concrete_indexes(index, in_use=False)
    for name in leftovers:
        mapping = client.options(ignore_status=404).indices.get_mapping(index=name).body.get(name, {})
        meta = mapping.get("mappings", {}).get("_meta", {})
        if "alive_until" in meta and not _is_builder_dead(engine, name, meta):
            raise IndexBusy(f"index {index!r} is being rebuilt", fix="try again when the rebuild is done")
    if leftovers:
        client.indices.delete(index=leftovers, ignore_unavailable=True)
    _remove_write_block(client, [engine.documents_alias(index)])


def _is_builder_dead(engine: ElasticsearchEngine, model_index: str, heartbeat: Mapping[str, Any]) -> bool:
    """Return whether a builder is dead, by its last heartbeat.

    The clocks of machines differ, and may be set. A heartbeat that seems too old, or to come from the future, is
    therefore doubted first: the time of the doubt is written beside it, and a living builder's next heartbeat erases
    it. A doubt that outlasts two heartbeats is justified.
    """
    now, lease, doubted_at = time.time(), engine.build_lease, heartbeat.get("doubted_at")
    if doubted_at is not None and doubted_at <= now:
        return bool(now - doubted_at > lease / 2)
    if doubted_at is not None or not 0 < heartbeat["alive_until"] - now <= lease:
        client = engine.connection.client.options(ignore_status=404)
        client.indices.put_mapping(index=model_index, meta={**heartbeat, "doubted_at": now})
    return False


def _fetch_write_blocks(client: Any, names: Sequence[str]) -> list[bool]:
    """Return whether each index that has the setting is blocked for writing; [False] if none has it."""
    indexes = client.indices.get_settings(index=list(names), name=_WRITE_BLOCK, flat_settings=True).body
    if not indexes:  # the response leaves out an index without the setting
        return [False]
    return [index["settings"].get(_WRITE_BLOCK) == "true" for index in indexes.values()]


def _remove_write_block(client: Any, names: Sequence[str]) -> None:
    client.options(ignore_status=404).indices.put_settings(index=list(names), settings={_WRITE_BLOCK: None})
