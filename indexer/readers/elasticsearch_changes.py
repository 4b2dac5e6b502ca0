"""What changed in an Elasticsearch index since it was read, without a clock and without a field of its own for it.

Elasticsearch numbers the writes of each shard (``_seq_no``), whatever the writer does and whatever its clock says, and
a search of one shard can be filtered and sorted by these numbers. A field of the documents, such as ``updated_at``, is
only as good as every program that writes it, and two writes may share a value of it.

The numbers have two gaps. A write becomes visible to searches a little after others with higher numbers, so that
whoever follows them must read somewhat behind the last one. And a deletion leaves nothing to find: it takes a
comparison of all ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from elasticsearch import NotFoundError

from indexer.engines.attached_source import make_revision
from indexer.engines.elasticsearch.attached_source import (
    SourceShard,
    fetch_cluster_id,
    fetch_index_uuids,
    fetch_shards,
)
from indexer.engines.elasticsearch.reader import ID_BATCH, PREFERENCE
from indexer.engines.factory import strip_credentials
from indexer.errors import BadInput, BadSetting, Unavailable
from indexer.readers.elasticsearch_index import (
    ReadingPlan,
    connect_to_source,
    plan_reading,
    read_source_rows,
    scan_hits,
)
from indexer.records import FieldMap, SourceRow


class Write(NamedTuple):
    """The last write of a document. The revision alone may be that of another document, too, in another shard."""

    id: str
    revision: str


class SourceChanges:
    """A source that is read again and again; ``source`` is ``http://host:9200/index``.

    Raises Unavailable if the index does not exist, as while it is created anew, and what
    ``read_elasticsearch_index`` raises.
    """

    def __init__(self, source: str, *, api_key: str | None = None, timeout: float = 30.0) -> None:
        self.connection, self._index = connect_to_source(source, api_key, timeout)
        self.address = strip_credentials(self.connection.url)

    def fetch_cluster_id(self) -> str:
        with self.connection.translate_errors():
            return fetch_cluster_id(self.connection)

    def fetch_shards(self) -> list[SourceShard] | None:
        """Return how far each shard is written; None if the API key may not read statistics."""
        with self._translate_missing():
            return fetch_shards(self.connection, self._index)

    def count_documents(self) -> int:
        with self._translate_missing(), self.connection.translate_errors():
            response = self.connection.client.count(index=self._index, preference=PREFERENCE).body
        return int(self.connection.require_complete(response)["count"])

    def list_writes(self, shard: SourceShard, above: int) -> Iterator[Write]:
        """Yield the documents of a shard whose last write has a number above this one.

        No point in time is needed: a document written meanwhile moves to the end, and is seen there.
        """
        in_index = {"term": {"_index": shard.index_name}}
        while True:
            query = {"bool": {"filter": [in_index, {"range": {"_seq_no": {"gt": above}}}]}}
            with self._translate_missing(), self.connection.translate_errors():
                response = self.connection.client.search(
                    index=self._index,  # if it is an alias, its filter applies
                    preference=f"_shards:{shard.number}|{PREFERENCE}",
                    query=query,
                    sort=["_seq_no"],
                    size=ID_BATCH,
                    source=False,
                    seq_no_primary_term=True,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                ).body
            hits = self.connection.require_complete(response)["hits"]["hits"]
            yield from (Write(hit["_id"], str(make_revision(shard.uuid, hit))) for hit in hits)
            if len(hits) < ID_BATCH:
                return
            above = hits[-1]["_seq_no"]

    def list_all(self) -> Iterator[Write]:
        """Yield all documents at one point in time; raise BadSetting if their revisions are not known."""
        with self._translate_missing():
            uuids = self._fetch_uuids()
            for hit in scan_hits(self.connection, self._index, False, ID_BATCH):
                revision = make_revision(uuids.get(hit["_index"]), hit)
                if revision is None:
                    raise Unavailable("an index was added to the source just now", fix="try again")
                yield Write(hit["_id"], revision)

    def plan_reading(self, fields: FieldMap) -> ReadingPlan:
        """Return how to read documents by the mapping as it is now; raises like ``elasticsearch_index.plan_reading``.

        It is not cached: without the field of their groups, documents would become public.
        """
        with self._translate_missing():
            return plan_reading(self.connection, self._index, fields)

    def read_rows(self, ids: Sequence[str], plan: ReadingPlan) -> Iterator[SourceRow]:
        """Yield the rows of documents; those that are gone are left out."""
        with self._translate_missing():
            yield from read_source_rows(self.connection, self._index, plan, {"ids": {"values": list(ids)}})

    def close(self) -> None:
        self.connection.client.close()

    def _fetch_uuids(self) -> dict[str, str]:
        uuids = fetch_index_uuids(self.connection, self._index)
        if not uuids:
            raise BadSetting(
                f"the key for the source may not read the settings of {self._index!r}, so that its changes are unknown",
                fix="give it the privilege view_index_metadata, or attach the index again instead of following it",
            )
        return uuids

    @contextmanager
    def _translate_missing(self) -> Iterator[None]:
        """Raise Unavailable where there is no such index: it may be created anew just now."""
        try:
            yield
        except (NotFoundError, BadInput):
            raise Unavailable(f"{self.address} has no index {self._index!r} now", fix="check its name") from None
