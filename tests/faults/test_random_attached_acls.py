"""Corpora with random acls in an attached Elasticsearch index: nothing unreadable is shown, however it maps its groups.

Every search of a caller with limited groups is answered as from an index with only the documents that they may read.
After attaching, documents are closed in the source, which Elasticsearch alone knows of. A few corpora in every run;
PHRASECOM_TEST_WORLDS says how many (``make faults``: a hundred).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from indexer.documents import Document
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client, read_problem
from tests.support.attached_sources import AttachedSource, attach_source
from tests.support.corpora.acl_corpus import GROUPS, SHARED_PHRASES, AclCorpus, join_acl_corpora
from tests.support.group_mappings import GROUP_MAPPINGS, GroupMapping
from tests.support.readable_copy import copy_readable, strip_scores

CORPUS_COUNT = int(os.environ.get("PHRASECOM_TEST_WORLDS", "3"))
CORPORA_PER_INDEX = 5 if CORPUS_COUNT > 5 else 1
WORLDS = [
    (name, tuple(range(first, min(first + CORPORA_PER_INDEX, CORPUS_COUNT))))
    for name, first in zip(cycle(GROUP_MAPPINGS), range(0, CORPUS_COUNT, CORPORA_PER_INDEX), strict=False)
]
ROOT = "root"
BODIES_PER_CALLER = 12
VECTORS_PER_CALLER = 4
VECTOR_SIZE = 4
MORE_FIELDS = {
    "key": {"type": "keyword"},
    # exact: an approximate search also depends on how the vectors of all documents are stored
    "vector": {"type": "dense_vector", "dims": VECTOR_SIZE, "index_options": {"type": "flat"}},
    "remarks": {"type": "nested", "properties": {"body": {"type": "text"}, "desk": {"type": "keyword"}}},
}
COUNTS = {
    "titles": {"terms": {"field": "headline.keyword", "size": 1000}},
    "desks": {"terms": {"field": "meta.desk", "size": 1000}},
    "days": {"date_histogram": {"field": "published", "calendar_interval": "day", "min_doc_count": 1}},
}


def list_callers(seeds: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    """Return groups by caller: one may read everything, one is in no group, one is in a group of each corpus."""
    callers: dict[str, tuple[str, ...]] = {ROOT: ("*",), "nobody": ()}
    return callers | {f"{group}{seed}": (f"w{seed}{group}",) for seed in seeds for group in GROUPS}


def write_record(document: Document, groups: GroupMapping) -> dict[str, Any]:
    """Return a document as the source has it."""
    record = {
        "headline": document.title,
        "body": document.text,
        "meta": {"desk": list(document.facets["source"])},
        "key": document.id,
        "vector": make_vector(random.Random(document.id)),
        "remarks": [{"body": document.text, "desk": list(document.facets["source"])}],
        **groups.write_groups(list(document.acl)),
    }
    return record | ({"published": document.date} if document.date else {})


def make_vector(chance: random.Random) -> list[float]:
    return [0.1 + chance.random() for _ in range(VECTOR_SIZE)]


def make_body(chance: random.Random, word: str) -> dict[str, Any]:
    """Return a random search for a word or for the documents nearest to a vector."""
    end, start = word[:-1] + "x", word[: chance.randint(1, 3)]
    knn = {"field": "vector", "query_vector": make_vector(chance), "k": chance.randint(1, 9), "num_candidates": 500}
    nested = {"nested": {"path": "remarks", "query": {"match": {"remarks.body": word}}, "inner_hits": {}}}
    queries: list[dict[str, Any]] = [
        {"match": {"body": {"query": end, "fuzziness": chance.choice(["AUTO", 1, 2]), "max_expansions": 1000}}},
        {"match_phrase_prefix": {"body": {"query": start, "max_expansions": 1000}}},
        {"match_bool_prefix": {"headline": f"{word} {start}"}},
        {"multi_match": {"query": word, "type": chance.choice(["best_fields", "most_fields", "cross_fields"])}},
        {"query_string": {"query": f"{start}* OR headline:{word} OR meta.desk:{start}*"}},
        {"simple_query_string": {"query": f"{start}* | {word}"}},
        {"wildcard": {"meta.desk": f"*{start}*"}},
        {"regexp": {"headline.keyword": f".*{start}.*"}},
        {"prefix": {"body": start}},
        {"fuzzy": {"body": {"value": end, "fuzziness": 2, "max_expansions": 1000}}},
        {"intervals": {"body": {"match": {"query": word, "max_gaps": 2}}}},
        {"bool": {"must_not": [{"match": {"body": word}}]}},
        {"function_score": {"query": {"match": {"body": word}}, "random_score": {}}},
        {"dis_max": {"queries": [{"match": {"body": word}}, {"match": {"headline": word}}]}},
        nested,
        {"bool": {"must_not": [{"nested": {"path": "remarks", "query": {"match_all": {}}}}]}},
        {"knn": knn},
        {"bool": {"should": [{"knn": knn}, {"match": {"body": word}}]}},
    ]
    query = chance.choice(queries)
    body: dict[str, Any] = chance.choice(
        [
            {"query": query},
            {"knn": knn},
            {"knn": knn, "query": query},
            {"knn": {**knn, "filter": query}},
            {"retriever": {"standard": {"query": query}}},
            {"query": query, "post_filter": chance.choice(queries)},
            {"query": query, "rescore": {"query": {"rescore_query": chance.choice(queries)}}},
        ]
    )
    more: list[dict[str, Any]] = [
        {"aggs": COUNTS},
        {"aggs": {"some": {"filter": chance.choice(queries), "aggs": COUNTS}}},
        {"aggs": {"in": {"nested": {"path": "remarks"}, "aggs": {"desks": {"terms": {"field": "remarks.desk"}}}}}},
        {"aggs": {"days": {**COUNTS["days"], "aggs": {"all": {"top_hits": {"sort": ["key"]}}}}}},
        {"aggs": {"pages": {"composite": {"sources": [{"desk": {"terms": {"field": "meta.desk"}}}]}}}},
        {"highlight": {"fields": {"*": {}}}},
        {"fields": ["*"], "_source": False},
        {"_source": [f"{start}*", "g*", "rights*"], "sort": ["published", "key"]},
    ]
    whole = {**body, **chance.choice(more), "size": 200, "track_total_hits": True}
    if {"retriever", "rescore"} & body.keys():  # Elasticsearch sorts neither
        whole.pop("sort", None)
    return whole


def close_some(corpus: AclCorpus, source: AttachedSource, groups: GroupMapping, chance: random.Random) -> AclCorpus:
    """Close and rewrite some documents in the source; return the corpus as it is there now."""
    now = AclCorpus(corpus.seeds, dict(corpus.documents), dict(corpus.secrets))
    for number, id in enumerate(chance.sample(list(corpus.documents), 8 * len(corpus.seeds))):
        acl = (f"w{chance.choice(corpus.seeds)}{chance.choice(GROUPS)}",)
        word = f"zarquon{number}x"
        old = corpus.documents[id]
        now.documents[id] = replace(
            old, title=f"The {word}", text=f"{old.text} The {word}.", facets={"source": [word]}, acl=acl
        )
        now.secrets[id] = (*corpus.secrets[id], word)
    changed = {id: write_record(one, groups) for id, one in now.documents.items() if one != corpus.documents[id]}
    source.put_documents(changed)
    return now


class SourceProbe:
    """A caller who searches the source in every way that is allowed, and looks for secrets in every reply."""

    def __init__(
        self, app: AppClient, source: AttachedSource, attached: AclCorpus, now: AclCorpus, groups: GroupMapping
    ) -> None:
        self._app, self._source, self._attached, self._now, self._mapping = app, source, attached, now, groups
        self.replies: list[str] = []

    def search_everything(self, groups: frozenset[str] | None, chance: random.Random) -> None:
        """Search the source as a caller with these groups."""
        readable = {id for id in self._now.documents if self._is_readable(id, groups)}
        forbidden = self._list_forbidden(readable) if groups is not None else set()
        highlight = {"fields": {"body": {}, "headline": {}}}
        pages: list[dict[str, Any]] = [
            {"query": {"match_all": {}}, "from": start, "size": 100, "aggs": COUNTS, "why": False}
            for start in range(0, len(self._now.documents), 100)
        ]
        bodies: list[dict[str, Any]] = [
            *pages,
            {"query": {"match": {"body": chance.choice(SHARED_PHRASES)}}, "aggs": COUNTS, "highlight": highlight},
            {
                "query": {"multi_match": {"query": chance.choice(SHARED_PHRASES)}},
                "size": 5,
                "sort": ["headline.keyword"],
            },
        ]
        for body in bodies:
            reply = self._send(body, forbidden, is_limited=groups is not None)
            if reply is not None:
                assert {hit["_id"] for hit in reply["hits"]["hits"]} <= readable
                assert reply["hits"]["total"]["value"] <= len(readable)
                if body in pages:
                    assert reply["hits"]["total"]["value"] == len(readable)
        words = sorted(secret for secret in forbidden if "-" not in secret)  # not a spelling of a phrase of others
        for word in chance.sample(words, min(12, len(words))):
            for query in ({"match": {"body": word}}, {"multi_match": {"query": word}}, {"term": {"meta.desk": word}}):
                reply = self._send({"query": query, "aggs": COUNTS}, forbidden, is_limited=True)
                if reply is not None:
                    assert (reply["hits"]["total"]["value"], reply["hits"]["max_score"]) == (0, None)
        self._explain_vectors(readable, forbidden, words, chance)
        if groups is not None:
            self._name_groups(forbidden)
            self._compare_with_copy(readable, forbidden, words, chance)

    def _explain_vectors(
        self, readable: set[str], forbidden: set[str], words: Sequence[str], chance: random.Random
    ) -> None:
        """Search by random vectors and ask why, with hidden words among those to explain by; ask for explanations."""
        for number in range(VECTORS_PER_CALLER):
            vector = make_vector(chance)
            guess = " ".join([chance.choice(SHARED_PHRASES), *chance.sample(words, min(3, len(words)))])
            why: dict[str, Any] = {} if number % 2 else {"why": {"query": guess}}
            knn = {"field": "vector", "query_vector": vector, "k": 5, "num_candidates": 500}
            self._send({"knn": knn, "size": 5, **why}, forbidden, is_limited=bool(forbidden))
            hits = chance.sample(sorted(readable), min(5, len(readable)))
            body = {"index": "news", "hits": hits, "vector": vector, "query": guess}
            self._check_text(self._app.post("/v1/explanations", body).text, forbidden, body)

    def _compare_with_copy(
        self, readable: set[str], forbidden: set[str], words: Sequence[str], chance: random.Random
    ) -> None:
        """Send random searches and compare each reply with that of an index that has only the readable documents."""
        client, index = self._source.client, self._source.index
        public = {id: replace(self._now.documents[id], acl=()) for id in readable}
        records = {id: write_record(document, self._mapping) for id, document in public.items()}
        known = [word for phrase in SHARED_PHRASES for word in phrase.split()]
        with copy_readable(client, index, records) as copy:
            for _ in range(BODIES_PER_CALLER):
                body = make_body(
                    chance, chance.choice([chance.choice(known), *chance.sample(words, min(3, len(words)))])
                )
                reply = self._send({**body, "why": False}, forbidden, is_limited=True)
                if reply is not None:
                    expected = client.search(index=copy, body=body).body
                    assert strip_scores(reply, body) == strip_scores(expected, body), f"{self._now.seeds}: {body}"

    def _is_readable(self, id: str, groups: frozenset[str] | None) -> bool:
        if groups is not None and self._mapping.hides_closed and self._now.documents[id].acl:
            return False
        return self._attached.is_readable(id, groups) and self._now.is_readable(id, groups)

    def _list_forbidden(self, readable: set[str]) -> set[str]:
        """Return the words of unreadable documents, as attached and as they are now, and the names of all groups."""
        known = {secret for id in readable for secret in self._now.secrets[id]}
        names = {group for document in self._now.documents.values() for group in document.acl}
        return {
            secret for id, mine in self._now.secrets.items() if id not in readable for secret in mine
        } - known | names

    def _send(self, body: object, forbidden: set[str], *, is_limited: bool) -> Any:
        """Send a search; return its reply, or None if it was refused as it has to be."""
        reply = self._app.post("/v1/news/_search", body)
        self._check_text(reply.text, forbidden, body)
        if is_limited and self._mapping.refusal:
            assert (reply.status_code, read_problem(reply.json)["code"]) == (403, "forbidden"), reply.text
            return None
        assert reply.status_code == 200, reply.text
        return reply.json

    def _name_groups(self, forbidden: set[str]) -> None:
        """Name the fields with the groups wherever a field can be named."""
        for name in (self._mapping.path, *self._mapping.other_names):
            for body in (
                {"query": {"match": {name: "x"}}},
                {"query": {"exists": {"field": name}}},
                {"query": {"query_string": {"query": f"{name}:x"}}},
                {"sort": [name]},
                {"aggs": {"x": {"terms": {"field": name}}}},
                {"collapse": {"field": name}},
            ):
                reply = self._app.post("/v1/news/_search", body)
                assert reply.status_code in (400, 403), reply.text
                self._check_text(reply.text, forbidden, body)
            for body in (
                {"_source": [name]},
                {"fields": [name]},
                {"highlight": {"fields": {name: {}}}},
                {"query": {"multi_match": {"query": "x", "fields": [name]}}},
            ):
                self._check_text(self._app.post("/v1/news/_search", body).text, forbidden, body)
        self._check_text(self._app.get("/v1/indexes/news").text, forbidden, "the description")

    def _check_text(self, text: str, forbidden: set[str], request: object) -> None:
        self.replies.append(text)
        shown = [secret for secret in forbidden if secret in text and secret not in str(request)]
        assert not shown, f"corpora {self._now.seeds}: {shown} in the reply to {request}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.parametrize(("name", "seeds"), WORLDS, ids=str)
def test_no_search_of_a_source_shows_anything_unreadable(
    elasticsearch_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, seeds: tuple[int, ...]
) -> None:
    chance, mapped = random.Random(seeds[0]), GROUP_MAPPINGS[name]
    groups = replace(mapped, properties=mapped.properties | MORE_FIELDS)
    attached = join_acl_corpora(seeds)
    records = {id: write_record(document, groups) for id, document in attached.documents.items()}
    source = AttachedSource(elasticsearch_url, records, groups)
    try:
        monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
        # evidence is measured although there are too few documents, and told even if it is noise
        monkeypatch.setattr("indexer.model.evidence_spaces.MIN_RESERVOIR", 20)
        monkeypatch.setattr("worker.methods.query_ranking.MAX_NOISE", 0.5)
        attach_source(source)
        now = close_some(attached, source, groups, chance)
        keys = IssuedKeys(folder / "keys.toml")
        for caller, names in list_callers(seeds).items():
            keys.issue(caller, groups=names)
        with source.open_engine() as engine:
            app = make_app_client(engine, keys, limited_rate_per_minute=0)
            for caller, names in list_callers(seeds).items():
                probe = SourceProbe(app.with_key(keys.secrets[caller]), source, attached, now, groups)
                probe.search_everything(None if names == ("*",) else frozenset(names), random.Random(seeds[0]))
                if caller == ROOT:
                    seen = "\n".join(probe.replies)
                    assert all(secret in seen for mine in now.secrets.values() for secret in mine)
                    assert '"kind":"meaning"' in seen.replace(" ", ""), "no reason was told by vectors"
            app.close()
    finally:
        source.close()
