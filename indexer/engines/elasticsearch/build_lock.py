"""While a build runs, the epoch it will replace takes no documents: none can be added that the build would miss.

Elasticsearch itself keeps writers out (a write block, which waits for what is being written). A builder that
lives says so again and again in the mapping of its own model index; the block of one that died is lifted by
the next writer. Before that the dead builder's indexes are removed, so that it cannot commit after all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elasticsearch import NotFoundError

from indexer.errors import IndexBusy, PhraseComError, UnknownIndex

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

LEASE = 120.0
"""Seconds after its last sign of life that a builder counts as dead; clocks may differ by less than that."""
_BLOCK = "index.blocks.write"


def promise(lease: float) -> dict[str, Any]:
    """What stands in the mapping of a living builder's model index."""
    return {"alive_until": time.time() + lease}


class Hold:
    """Writers kept out of the current epoch, from the start of a build to its end."""

    def __init__(self, engine: ElasticsearchEngine, index: str, model: str, door: str) -> None:
        """``model`` and ``door``: the build's model index, and the alias that is there while the build stands."""
        self._engine, self._index, self._model, self._door = engine, index, model, door
        client = engine.connection.client
        self._held: list[str] = []
        if client.indices.exists_alias(name=engine.alias(index)):
            self._held = list(client.indices.get_alias(name=engine.alias(index)).body)
            client.indices.add_block(index=self._held, block="write")
            client.indices.refresh(index=self._held)  # what came in just before is there to be read
        self._ended = threading.Event()
        self._living = threading.Thread(target=self._live, name="build", daemon=True)
        self._living.start()

    def check(self) -> None:
        """Raise IndexBusy unless nobody can have written since the start."""
        client = self._engine.connection.client
        if self._held and not all(_blocked(client, self._held)):
            raise IndexBusy(f"index {self._index!r} was written while it was being rebuilt", fix="build it again")

    def end(self) -> None:
        """No more signs of life: the build is committed."""
        self._ended.set()
        self._living.join()

    def give_up(self) -> None:
        """Let writers in again, unless another build has taken over."""
        self.end()
        client = self._engine.connection.client
        if self._held and client.indices.exists_alias(name=self._door):
            _unblock(client, self._held)

    def _live(self) -> None:
        lease = self._engine.build_lease
        while not self._ended.wait(lease / 4):
            try:
                with self._engine.connection.telling():
                    self._engine.connection.client.indices.put_mapping(index=self._model, meta=promise(lease))
            except (NotFoundError, PhraseComError):  # taken over, or out of reach: commit finds out
                continue


def writable(engine: ElasticsearchEngine, index: str) -> str:
    """The alias of an index that takes documents; raises UnknownIndex, and IndexBusy while a build runs."""
    alias, client = engine.alias(index), engine.connection.client
    with engine.connection.telling():
        try:
            blocked = any(_blocked(client, [alias]))
        except NotFoundError:
            raise UnknownIndex(index) from None
        if blocked:
            _lift(engine, index)
    return alias


def busy(index: str) -> IndexBusy:
    return IndexBusy(f"index {index!r} is being rebuilt", fix="try again when that is done")


def _lift(engine: ElasticsearchEngine, index: str) -> None:
    """Lift a dead builder's block; raises IndexBusy when it lives."""
    client = engine.connection.client
    left = engine.concretes(index, in_use=False)
    for name in left:
        mapping = client.options(ignore_status=404).indices.get_mapping(index=name).body.get(name, {})
        if mapping.get("mappings", {}).get("_meta", {}).get("alive_until", 0.0) > time.time():
            raise busy(index)
    if left:
        client.indices.delete(index=left, ignore_unavailable=True)
    _unblock(client, [engine.alias(index)])


def _blocked(client: Any, names: Sequence[str]) -> list[bool]:
    found = client.indices.get_settings(index=list(names), name=_BLOCK, flat_settings=True).body
    if not found:  # an index without the setting is left out
        return [False]
    return [one["settings"].get(_BLOCK) == "true" for one in found.values()]


def _unblock(client: Any, names: Sequence[str]) -> None:
    client.options(ignore_status=404).indices.put_settings(index=list(names), settings={_BLOCK: None})
