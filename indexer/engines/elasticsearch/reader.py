"""Reader of an Elasticsearch index.

Every read goes to the concrete index of the epoch: a new epoch deletes it, so no response can mix the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from elasticsearch import NotFoundError

from indexer.documents import AnalysedDocument
from indexer.engines.attached_source import AttachedVersion
from indexer.engines.attachment import Attachment
from indexer.engines.base import Reader
from indexer.engines.elasticsearch import neighbourhood_query, query_builder, response_parser
from indexer.engines.elasticsearch.connection import PartialResponse
from indexer.engines.elasticsearch.mappings import DELETION_MARKERS, MAX_RESULT_WINDOW, Body, decode_source
from indexer.engines.rank_fusion import make_words_request, ranks_by_words
from indexer.engines.search_types import (
    Groups,
    IndexInfo,
    Neighbourhood,
    NeighbourhoodRequest,
    SearchRequest,
    SearchResult,
    may_read,
)
from indexer.errors import BadParameter, EpochChanged, TooLarge
from indexer.identifiers import is_document_id, parse_facet_name
from indexer.model.phrase_model import PhraseModel

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

SCAN_BATCH = 500
"""Documents per request of a scan."""
ID_BATCH = 10_000
"""Ids per request when ids alone are read."""
PHRASE_BATCH = 20_000
"""Phrases per request when their documents are counted; Elasticsearch returns at most 65,536 counts."""
VERSION_FIELDS = ("id", "stored.version", "stored.revision")
"""Fields of ``_source`` that hold the content version of a document and its revision in an attached source."""
PREFERENCE = "phrasecom"
"""Routes every search to the same copy of a shard: copies may score differently after deletions."""
RETRY_WAITS = (0.05, 0.2, 1.0, None)
"""Seconds to wait before each retry; None: give up."""
Response = TypeVar("Response")


class ElasticsearchReader(Reader):
    """Reader of the concrete index ``concrete``, which has ``shards`` shards."""

    def __init__(
        self, engine: ElasticsearchEngine, concrete: str, shards: int, info: IndexInfo, model: PhraseModel
    ) -> None:
        self._engine, self._concrete, self._shards = engine, concrete, shards
        self.info, self.model = info, model

    def fetch(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        valid_ids = [id for id in dict.fromkeys(ids) if is_document_id(id)]
        documents: dict[str, AnalysedDocument] = {}
        for stored in self._fetch_stored(valid_ids) if valid_ids else ():
            if not stored.get("found") or stored["_source"].get("added") in DELETION_MARKERS:
                continue
            if may_read(stored["_source"]["acl"], groups):
                documents[stored["_id"]] = decode_source(stored["_source"])
        return [documents.get(id) for id in ids]

    def _fetch_stored(self, ids: list[str]) -> Sequence[Mapping[str, Any]]:
        """Return the entries of a multi-get; an error of any of them is raised."""
        client = self._engine.connection.client

        def send() -> Sequence[Mapping[str, Any]]:
            documents: list[Mapping[str, Any]]
            documents = client.mget(index=self._concrete, ids=ids, preference=PREFERENCE).body["docs"]
            for document in documents:
                if document.get("error", {}).get("type") == "index_not_found_exception":
                    raise self._epoch_changed_error()
            return self._engine.connection.require_found(documents)

        return self._retry_partial(send)

    def scan(self, groups: Groups = None) -> Iterator[AnalysedDocument]:
        return map(decode_source, self._scan_sources(SCAN_BATCH, groups))

    def scan_versions(self) -> Iterator[tuple[str, AttachedVersion]]:
        for source in self._scan_sources(ID_BATCH, None, VERSION_FIELDS):
            stored = source["stored"]
            yield source["id"], AttachedVersion(stored["version"], stored.get("revision"))

    def _scan_sources(
        self, batch_size: int, groups: Groups, fields: Sequence[str] | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the ``_source`` of all live documents by id, ``batch_size`` in a request; ``fields``: None for all."""
        after = None
        while True:
            body = query_builder.build_scan_search(after, batch_size, groups)
            body |= {} if fields is None else {"_source": list(fields)}
            hits = self._run_search(body, scored=False)["hits"]["hits"]
            yield from (hit["_source"] for hit in hits)
            if len(hits) < batch_size:
                return
            after = hits[-1]["sort"][0]

    def readable_ids(self, groups: Groups, limit: int) -> list[str]:
        ids: list[str] = []
        while len(ids) < limit:
            size = min(ID_BATCH, limit - len(ids))
            body = query_builder.build_readable_ids_search(ids[-1] if ids else None, size, groups)
            response = self._run_search(body, scored=False, filter_path=query_builder.ID_FILTER_PATH)
            hits = response.get("hits", {}).get("hits", ())
            ids += [hit["sort"][0] for hit in hits]
            if len(hits) < size:
                break
        return ids

    def facet_names(self, groups: Groups = None) -> list[str]:
        response = self._run_search(query_builder.build_facet_names_search(groups), scored=False)
        buckets = response["aggregations"]["values"]["buckets"]
        return list(dict.fromkeys(parse_facet_name(bucket["key"]) for bucket in buckets))

    def count_holders(self, phrases: Sequence[str], groups: Groups = None) -> list[int]:
        counts: list[int] = []
        for start in range(0, len(phrases), PHRASE_BATCH):
            body = query_builder.build_holder_counts(phrases[start : start + PHRASE_BATCH], groups)
            aggregations = self._run_search(body, scored=False)["aggregations"]
            counts += [bucket["doc_count"] for name in body["aggs"] for bucket in aggregations[name]["buckets"]]
        return counts

    def search_page(self, request: SearchRequest) -> SearchResult:
        last = request.offset + request.size
        if last > MAX_RESULT_WINDOW:
            raise TooLarge(f"hit {last} is beyond the result window", fix=f"request hits up to {MAX_RESULT_WINDOW}")
        if request.vector is not None:
            return self._search_page_by_vector(request)
        scored = any(key.field == "score" for key in request.order)
        response = self._run_search(query_builder.build_search(request), scored=scored)
        return response_parser.parse_search_response(response, request)

    def _search_page_by_vector(self, request: SearchRequest) -> SearchResult:
        """Return a page of the documents nearest to a vector, merged with those that the words find, if any."""
        if Attachment.from_info(self.info) is not None:
            raise BadParameter(
                f"index {self.info.name!r} is attached to a source, so its own vectors are not searched",
                fix="search the source",
            )
        if not ranks_by_words(request.selection):
            (nearest,) = self._run_searches([query_builder.build_nearest_search(request)])
            return response_parser.parse_nearest_response(nearest, request)
        nearest, words, counts = self._run_searches(
            [
                query_builder.build_nearest_search(replace(request, facets=(), histograms=())),
                query_builder.build_search(make_words_request(request)),
                query_builder.build_union_counts(request),
            ]
        )
        return response_parser.parse_fused_responses(nearest, words, counts, request)

    def find_neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        phrases = tuple(dict.fromkeys([*request.boosts_a, *request.boosts_b]))
        sides = sorted((request.boosts_a, request.boosts_b), key=self._count_edges)
        body = neighbourhood_query.build_neighbourhood_search(request, phrases, *sides, is_sharded=self._shards > 1)
        response = self._run_search(
            body,
            scored=True,
            filter_path=neighbourhood_query.NEIGHBOURHOOD_FILTER_PATH,
            include_named_queries_score=True,
        )
        return response_parser.parse_neighbourhood(response, request, phrases)

    def _count_edges(self, phrases: Iterable[str]) -> int:
        """Return how many edges the phrases had when the epoch was built."""
        ids = [id for id in map(self.model.phrase_ids.get, phrases) if id is not None]
        return int(self.model.document_frequency[ids].sum())

    def _run_search(self, body: Body, scored: bool, **parameters: Any) -> Mapping[str, Any]:
        """Search the epoch's index; ``scored``: whether scores matter, ``parameters``: of the search request."""
        connection = self._engine.connection
        if scored:  # weights must not depend on the shard of a document
            parameters["search_type"] = "dfs_query_then_fetch"
        body = body | {"timeout": query_builder.format_timeout(self._engine.query_seconds)}

        def send() -> Mapping[str, Any]:
            response = connection.client.search(index=self._concrete, body=body, preference=PREFERENCE, **parameters)
            return connection.require_complete(response.body)

        return self._retry_partial(send)

    def _run_searches(self, bodies: Sequence[Body]) -> list[Mapping[str, Any]]:
        """Run several scored searches of the epoch's index in one request."""
        connection = self._engine.connection
        header = {"index": self._concrete, "preference": PREFERENCE, "search_type": "dfs_query_then_fetch"}
        limit = {"timeout": query_builder.format_timeout(self._engine.query_seconds)}
        lines = [line for body in bodies for line in (header, body | limit)]

        def send() -> list[Mapping[str, Any]]:
            responses = connection.client.msearch(searches=lines).body["responses"]
            return [connection.require_complete(self._require_success(response)) for response in responses]

        return self._retry_partial(send)

    def _require_success(self, response: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a response of a multi-search; raise what the search alone would have raised for an error."""
        error = response.get("error")
        if error is None:
            return response
        if error.get("type") == "index_not_found_exception":
            raise self._epoch_changed_error()
        reason = str(next(iter(error.get("root_cause") or [error])).get("reason"))[:300]
        if response["status"] == 400:
            raise BadParameter(f"Elasticsearch refused the request: {reason}")
        raise self._engine.connection.partial_error(reason)

    def _retry_partial(self, send: Callable[[], Response]) -> Response:
        """Send a request, again after a wait if the response is partial.

        While an index is being deleted its shards disappear before its name does.
        """
        for wait in RETRY_WAITS:
            try:
                self._engine.request_count += 1
                with self._engine.connection.translate_errors():
                    return send()
            except NotFoundError:
                raise self._epoch_changed_error() from None
            except PartialResponse:
                if wait is None:
                    raise
                time.sleep(wait)
        raise AssertionError("the last wait is None")

    def _epoch_changed_error(self) -> EpochChanged:
        return EpochChanged(f"index {self.info.name!r} was rebuilt or deleted", fix="open it again")
