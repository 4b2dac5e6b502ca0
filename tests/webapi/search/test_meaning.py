"""Searches by meaning over HTTP: the text of ``query_vector_builder``, what is refused, and the reasons of the hits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.vectors import encode_vector
from tests.support.api_keys import AppClient, open_whole_and_public_clients, read_problem
from tests.support.corpora.meaning_corpus import (
    UNRELATED_QUERY,
    get_field,
    make_filler_documents,
    make_meaning_documents,
)

INDEX, OWN_VECTORS = "meanings", "own"


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, AppClient]]:
    """A caller who may read everything, and one who may not read the documents of astronomy."""
    folder = tmp_path_factory.mktemp("meanings")
    with open_engine(str(folder / "engine")) as engine:
        documents = [
            replace(one, acl=("staff",)) if get_field(one.id) == "astronomy" else one
            for one in [*make_meaning_documents(12), *make_filler_documents(600)]
        ]
        build_index(documents, engine, INDEX, processes=1)
        with_vectors = [replace(one, vector=encode_vector([1.0, n])) for n, one in enumerate(documents[:12])]
        build_index(with_vectors, engine, OWN_VECTORS, processes=1)
        with open_whole_and_public_clients(engine, folder / "keys.json") as clients:
            yield clients


@pytest.fixture
def whole(clients: dict[str, AppClient]) -> AppClient:
    return clients["whole"]


def make_knn(text: str, **options: object) -> dict[str, object]:
    embedding = {"model_id": "phrasecom", "model_text": text}
    return {"field": "vector", "query_vector_builder": {"text_embedding": embedding}, "k": 10, **options}


def search(client: AppClient, body: dict[str, object]) -> Any:
    response = client.post(f"/v1/{INDEX}/_search", body)
    assert response.status_code == 200, response.text
    return response.json["hits"]


def list_fields(hits: Any) -> set[str]:
    return {get_field(hit["_id"]) for hit in hits["hits"]}


def test_a_text_finds_documents_without_a_shared_word_and_each_has_a_reason(whole: AppClient) -> None:
    hits = search(whole, {"knn": make_knn("stargazing")})
    assert hits["total"]["value"] == len(hits["hits"]) == 10 and list_fields(hits) == {"astronomy"}
    for hit in hits["hits"]:
        assert hit["_found_by"] == ["vector"] and hit["_score"] > 0.5
        assert hit["why"]["state"] == "done" and hit["why"]["matched"] == []
        assert hit["why"]["lacks"] == ["stargazing"]
        assert hit["why"]["common"], hit["_id"]


def test_hits_of_words_and_of_meaning_are_merged(whole: AppClient) -> None:
    words = {"match": {"text": "violin"}}
    hits = search(whole, {"query": words, "knn": make_knn("stargazing"), "size": 30, "why": False})["hits"]
    assert {(get_field(hit["_id"]), *hit["_found_by"]) for hit in hits} == {("music", "words"), ("astronomy", "vector")}
    hits = search(whole, {"query": words, "knn": make_knn("violin"), "why": False})["hits"]
    assert hits[0]["_found_by"] == ["words", "vector"]


def test_a_text_that_is_near_nothing_has_an_empty_page(whole: AppClient) -> None:
    for text in (UNRELATED_QUERY, "qwertyuiop", ""):
        assert search(whole, {"knn": make_knn(text)}) == {
            "total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": [],
        }  # fmt: skip


def test_filters_hold_for_the_meaning(whole: AppClient) -> None:
    music = {"term": {"field": "music"}}
    for body in (
        {"knn": make_knn("songs", filter=music)},
        {"knn": make_knn("songs"), "query": {"bool": {"filter": [music]}}},
    ):
        assert list_fields(search(whole, {**body, "why": False})) == {"music"}
        assert not search(whole, {**body, "knn": make_knn("stargazing", filter=music), "why": False})["hits"]


def test_a_limited_caller_finds_only_what_they_may_read(clients: dict[str, AppClient]) -> None:
    assert list_fields(search(clients["public"], {"knn": make_knn("songs")})) == {"music"}
    for text in ("stargazing", "telescope galaxy"):
        assert "astronomy" not in list_fields(search(clients["public"], {"knn": make_knn(text, k=50), "why": False}))


@pytest.mark.parametrize(
    ("knn", "detail"),
    [
        (make_knn("songs", query_vector=[1.0]), "knn has both query_vector and query_vector_builder"),
        ({"field": "vector", "query_vector_builder": {}}, "knn.query_vector_builder.text_embedding must be an object"),
        (
            {"field": "vector", "query_vector_builder": {"text_embedding": {"model_id": "e5", "model_text": "songs"}}},
            "knn.query_vector_builder.text_embedding.model_id must be 'phrasecom'",
        ),
        (
            {"field": "vector", "query_vector_builder": {"text_embedding": {"model_id": "phrasecom"}}},
            "knn.query_vector_builder.text_embedding.model_text must be",
        ),
        (
            {"field": "vector", "query_vector_builder": {"lookup": {}}},
            "knn.query_vector_builder: 'lookup' is not allowed",
        ),
        ({"field": "vector", "query_vector": [1.0] * 256}, "made from the words of its texts"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_words(whole: AppClient, knn: object, detail: str) -> None:
    response = whole.post(f"/v1/{INDEX}/_search", {"knn": knn})
    assert response.status_code == 400 and detail in read_problem(response.json)["detail"]


def test_an_index_with_vectors_of_its_own_takes_no_text(whole: AppClient) -> None:
    response = whole.post(f"/v1/{OWN_VECTORS}/_search", {"knn": make_knn("songs")})
    assert response.status_code == 400 and "brought their own vectors" in read_problem(response.json)["detail"]


def test_the_description_of_an_index_says_what_it_is_searched_by(whole: AppClient) -> None:
    for name, expected in ((INDEX, ["words", "meaning"]), (OWN_VECTORS, ["words", "vector"])):
        assert whole.get(f"/v1/indexes/{name}").json["searched_by"] == expected  # type: ignore[index]


def test_several_searches_at_once(whole: AppClient) -> None:
    lines = (
        "\n".join('{}\n{"knn": ' + f"{make_knn(text)}".replace("'", '"') + "}" for text in ("songs", "soccer")) + "\n"
    )
    sent = whole.flask_app.test_client().post(
        f"/v1/{INDEX}/_msearch", data=lines, content_type="application/x-ndjson",
        headers={"Authorization": f"Bearer {whole.key}", "Prefer": "wait=60"},
    )  # fmt: skip
    assert [list_fields(one["hits"]) for one in sent.json["responses"]] == [{"music"}, {"football"}]  # type: ignore[index]
