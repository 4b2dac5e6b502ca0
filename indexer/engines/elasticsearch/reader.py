"""Reading an Elasticsearch index. Every read goes to the epoch's concrete index: when a new epoch has
replaced it, it is gone, and no answer can mix the two."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from elasticsearch import NotFoundError

from indexer.documents import AnalysedDocument
from indexer.engines.base import (
    Groups,
    IndexInfo,
    Neighbourhood,
    NeighbourhoodRequest,
    Reader,
    SearchRequest,
    SearchResult,
)
from indexer.engines.document_codec import may_read, unpack
from indexer.engines.elasticsearch import query_builder, response_parser
from indexer.engines.elasticsearch.connection import PartialAnswer
from indexer.errors import EpochChanged, TooLarge
from indexer.identifiers import facet_of, is_id
from indexer.model.phrase_model import PhraseModel

if TYPE_CHECKING:
    from indexer.engines.elasticsearch.engine import ElasticsearchEngine

SCAN_BATCH = 500
ID_BATCH = 10_000
PREFERENCE = "phrasecom"
"""The same copy of a shard every time: copies may score differently after deletions."""
WAITS = (0.05, 0.2, 1.0, None)
"""Seconds before asking again, then giving up."""
Answer = TypeVar("Answer")


class ElasticsearchReader(Reader):
    def __init__(self, engine: ElasticsearchEngine, concrete: str, info: IndexInfo, model: PhraseModel) -> None:
        self._engine, self._concrete = engine, concrete
        self.info, self.model = info, model

    def fetch(self, ids: Sequence[str], groups: Groups = None) -> list[AnalysedDocument | None]:
        wanted = [name for name in dict.fromkeys(ids) if is_id(name)]
        found: dict[str, AnalysedDocument] = {}
        for document in self._get_many(wanted) if wanted else ():
            if document.get("found") and may_read(document["_source"]["acl"], groups):
                found[document["_id"]] = unpack(query_builder.packed_source(document["_source"]))
        return [found.get(name) for name in ids]

    def _get_many(self, ids: list[str]) -> Sequence[Mapping[str, Any]]:
        client = self._engine.connection.client

        def ask() -> Sequence[Mapping[str, Any]]:
            documents: list[Mapping[str, Any]]
            documents = client.mget(index=self._concrete, ids=ids, preference=PREFERENCE).body["docs"]
            for document in documents:
                if error := document.get("error"):
                    if error["type"] == "index_not_found_exception":
                        raise self._changed()
                    raise self._engine.connection.partial(error["reason"])
            return documents

        return self._patiently(ask)

    def scan(self, groups: Groups = None) -> Iterator[AnalysedDocument]:
        after = None
        while True:
            hits = self._ask(query_builder.scan(after, SCAN_BATCH, groups), scored=False)["hits"]["hits"]
            for hit in hits:
                yield unpack(query_builder.packed_source(hit["_source"]))
            if len(hits) < SCAN_BATCH:
                return
            after = hits[-1]["sort"][0]

    def readable(self, groups: Groups, most: int) -> list[str]:
        ids: list[str] = []
        while len(ids) < most:
            size = min(ID_BATCH, most - len(ids))
            body = query_builder.readable_ids(ids[-1] if ids else None, size, groups)
            hits = self._ask(body, scored=False, filter_path=query_builder.ID_FIELDS).get("hits", {}).get("hits", ())
            ids += [hit["sort"][0] for hit in hits]
            if len(hits) < size:
                break
        return ids

    def facet_names(self, groups: Groups = None) -> list[str]:
        answer = self._ask(query_builder.facet_names(groups), scored=False)
        return list(dict.fromkeys(facet_of(one["key"]) for one in answer["aggregations"]["values"]["buckets"]))

    def page(self, request: SearchRequest) -> SearchResult:
        if request.offset + request.size > query_builder.WINDOW:
            raise TooLarge(
                f"hit {request.offset + request.size} is too far down", fix=f"ask for hits up to {query_builder.WINDOW}"
            )
        answer = self._ask(query_builder.search(request), scored=any(key.key == "score" for key in request.order))
        return response_parser.search_result(answer, request)

    def neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        phrases = tuple(dict.fromkeys([*request.a, *request.b]))
        body = query_builder.neighbourhood(request, phrases)
        answer = self._ask(
            body, scored=True, filter_path=query_builder.NEIGHBOURHOOD_FIELDS, include_named_queries_score=True
        )
        return response_parser.neighbourhood(answer, request, phrases)

    def _ask(self, body: query_builder.Body, scored: bool, **parameters: Any) -> Mapping[str, Any]:
        connection = self._engine.connection
        if scored:  # weights must not depend on the shard a document lies in
            parameters["search_type"] = "dfs_query_then_fetch"

        body = body | {"timeout": f"{max(1, int(1000 * self._engine.query_seconds))}ms"}

        def ask() -> Mapping[str, Any]:
            answer = connection.client.search(index=self._concrete, body=body, preference=PREFERENCE, **parameters)
            return connection.whole(answer.body)

        return self._patiently(ask)

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        """Ask again when an answer is partial: while an index is being removed, its shards go before its name."""
        for wait in WAITS:
            try:
                self._engine.requests += 1
                with self._engine.connection.telling():
                    return ask()
            except NotFoundError:
                raise self._changed() from None
            except PartialAnswer:
                if wait is None:
                    raise
                time.sleep(wait)
        raise AssertionError("the last wait is None")

    def _changed(self) -> EpochChanged:
        return EpochChanged(f"index {self.info.name!r} was rebuilt or dropped", fix="open it again")
