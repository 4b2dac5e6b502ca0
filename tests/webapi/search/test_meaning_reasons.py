"""Hits that share no word with their query are explained in the space of the vectors that found them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from indexer.vectors import encode_vector
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.attached_sources import AttachedSource, attach_source
from tests.support.corpora.query_corpus import QueryCorpus
from tests.support.group_mappings import GROUP_MAPPINGS

DIMENSIONS = 24
QUERY = "plants that need little water"
"""No document contains a word of it."""


def make_vector(topic: int, chance: random.Random) -> list[float]:
    """Return a vector near the axis of a topic."""
    return [(2.0 if n == topic else 0.0) + chance.gauss(0, 0.4) for n in range(DIMENSIONS)]


@pytest.fixture(scope="module")
def corpus() -> QueryCorpus:
    corpus = QueryCorpus()
    for number, document in enumerate(corpus.documents):
        vector = make_vector(corpus.topic_by_id[document.id], random.Random(document.id))
        corpus.documents[number] = replace(document, vector=encode_vector(vector))
    return corpus


@pytest.fixture(scope="module", params=["embedded", pytest.param("attached", marks=pytest.mark.elasticsearch)])
def app(
    request: pytest.FixtureRequest, corpus: QueryCorpus, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AppClient]:
    """A service with the corpus: in an index of its own, or attached to an index with a ``dense_vector``."""
    folder = tmp_path_factory.mktemp("meaning")
    keys = IssuedKeys(folder / "keys.toml")
    keys.issue("root", groups=("*",))
    if request.param == "embedded":
        with open_engine(str(folder / "engine")) as engine:
            build_index(corpus.documents, engine, "news", processes=1)
            yield from serve(engine, keys)
        return
    source = attach_corpus(request.getfixturevalue("elasticsearch_url"), corpus, folder)
    try:
        with source.open_engine() as engine:
            yield from serve(engine, keys)
    finally:
        source.close()


def attach_corpus(url: str, corpus: QueryCorpus, folder: Path) -> AttachedSource:
    mapped = GROUP_MAPPINGS["keyword"]
    vector_field = {"type": "dense_vector", "dims": DIMENSIONS, "similarity": "cosine"}
    records: Mapping[str, dict[str, Any]] = {
        one.id: {
            "headline": one.title,
            "body": one.text,
            "vector": make_vector(corpus.topic_by_id[one.id], random.Random(one.id)),
        }
        for one in corpus.documents
    }
    source = AttachedSource(url, records, replace(mapped, properties=mapped.properties | {"vector": vector_field}))
    with pytest.MonkeyPatch.context() as patches:
        patches.chdir(folder)
        patches.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
        attach_source(source)
    return source


def serve(engine: Engine, keys: IssuedKeys) -> Iterator[AppClient]:
    client = make_app_client(engine, keys)
    yield client.with_key(keys.secrets["root"])
    client.close()


def search(app: AppClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    reply = app.post("/v1/news/_search", body)
    assert reply.status_code == 200, reply.text
    return list(reply.json["hits"]["hits"])


def make_knn(topic: int) -> dict[str, Any]:
    return {"field": "vector", "query_vector": make_vector(topic, random.Random(topic)), "k": 5, "num_candidates": 50}


def list_topic_words(corpus: QueryCorpus, topic: int) -> set[str]:
    return {word for phrase in corpus.topics[topic] for word in phrase.split()}


@pytest.mark.parametrize("why", [{}, {"why": {"query": QUERY}}], ids=["vector alone", "with words"])
def test_every_hit_of_a_vector_search_has_a_phrase_of_its_topic(
    app: AppClient, corpus: QueryCorpus, why: dict[str, Any]
) -> None:
    for topic in range(3):
        hits = search(app, {"knn": make_knn(topic), "size": 5, **why})
        assert len(hits) == 5 and {corpus.topic_by_id[hit["_id"]] for hit in hits} == {topic}
        for hit in hits:
            first = hit["why"]["common"][0]
            assert first["kind"] == "meaning" and first["noise"] <= 0.05 and first["spaces"]["vectors"] > 2
            assert not list_topic_words(corpus, topic).isdisjoint(first["phrase"].split())


def test_a_hit_of_another_topic_is_told_nothing(app: AppClient, corpus: QueryCorpus) -> None:
    others = corpus.draw_unrelated(0, 20)
    body = {"index": "news", "hits": others, "query": QUERY, "vector": make_knn(0)["query_vector"]}
    reply = app.post("/v1/explanations", body)
    assert reply.status_code == 200, reply.text
    told = [hit for hit in reply.json["explanations"] if hit["common"]]
    assert len(told) <= len(others) // 10


def test_the_comparison_behind_a_hit_says_the_same_with_its_evidence(app: AppClient) -> None:
    hit = search(app, {"knn": make_knn(1), "size": 1})[0]
    reply = app.get(hit["why"]["href"]["common"])
    assert reply.status_code == 200, reply.text
    told = [(entry["phrase"], entry["kind"], entry["spaces"]) for entry in reply.json["common"]]
    shown = [(entry["phrase"], entry["kind"], entry["spaces"]) for entry in hit["why"]["common"]]
    assert shown and told[: len(shown)] == shown
    assert all(entry["evidence"][0]["id"] == hit["_id"] for entry in reply.json["common"])
    assert "query_vector" not in reply.text and reply.json["b"]["title"] == "a vector"
