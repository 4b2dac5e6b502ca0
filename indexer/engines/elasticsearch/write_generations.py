"""The generations of write numbers (``indexer.engines.write_order``), counted by Elasticsearch.

An index of its own has a document for each index of ours; Elasticsearch counts its versions, atomically and durably.
The index is separate because builds block writes to the others.
"""

from __future__ import annotations

from indexer.engines.elasticsearch.connection import ElasticsearchConnection


class WriteGenerations:
    """Counts of generations under one prefix; ``replicas``: copies of each shard."""

    def __init__(self, connection: ElasticsearchConnection, prefix: str, replicas: int) -> None:
        self._connection, self._replicas = connection, replicas
        self._index = f"{prefix}.generations"

    def get_last(self, name: str) -> int:
        """Return the last generation of the index with this name; 0 if there was none."""
        client = self._connection.client.options(ignore_status=404)
        with self._connection.translate_errors():
            return int(client.get(index=self._index, id=name, source=False).body.get("_version", 0))

    def start(self, name: str, last_written: int) -> int:
        """Start a generation above all others and above ``last_written``, and return it."""
        with self._connection.translate_errors():
            self._create_index()
            generation = self._count_up(name)
            if generation <= last_written:  # the count was lost, or is older than the documents
                self._connection.client.options(ignore_status=409).index(
                    index=self._index, id=name, document={}, version=last_written, version_type="external_gte"
                )
                generation = self._count_up(name)
        return generation

    def _count_up(self, name: str) -> int:
        return int(self._connection.client.index(index=self._index, id=name, document={}).body["_version"])

    def _create_index(self) -> None:
        client = self._connection.client
        if not client.indices.exists(index=self._index):
            settings = {"number_of_shards": 1, "number_of_replicas": self._replicas}
            client.options(ignore_status=400).indices.create(
                index=self._index, settings=settings, mappings={"dynamic": False}
            )  # 400: another process has created it
