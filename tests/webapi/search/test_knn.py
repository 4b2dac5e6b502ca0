"""``knn`` in searches of an index of ours, and vectors of documents that are sent to it, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from indexer.indexing.build import build_index
from indexer.vectors import encode_vector
from tests.support.api_keys import AppClient, open_whole_and_public_clients, read_problem
from tests.support.corpora.web_papers import make_web_papers
from tests.support.engines import ENGINE_KINDS, open_empty_engine
from tests.support.polling import wait_until

QUERY_VECTOR = [1.0, 0.0, 0.0]
KNN = {"field": "vector", "query_vector": QUERY_VECTOR, "k": 4}
WORDS = {"match": {"text": "topic models"}}


@pytest.fixture(scope="module", params=ENGINE_KINDS)
def clients(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, AppClient]]:
    """A caller who may read everything and one without groups; d9, which is for ``staff``, is the nearest document."""
    folder = tmp_path_factory.mktemp("knn")
    with open_empty_engine(request.param, folder / "engine", request) as engine:
        papers = [
            replace(paper, vector=encode_vector([5.0, abs(n - 9) + n / 10, 1.0]) if n != 12 else None)
            for n, paper in enumerate(make_web_papers(), start=1)
        ]
        build_index(papers, engine, "papers", processes=1)
        build_index(make_web_papers(), engine, "plain", processes=1)
        with open_whole_and_public_clients(engine, folder / "keys.json") as clients:
            yield clients


@pytest.fixture
def whole(clients: dict[str, AppClient]) -> AppClient:
    return clients["whole"]


def search(client: AppClient, body: dict[str, object], index: str = "papers") -> Any:
    response = client.post(f"/v1/{index}/_search", {"why": False, **body})
    assert response.status_code == 200, response.text
    return response.json


def list_ids(found: Any) -> list[str]:
    return [hit["_id"] for hit in found["hits"]["hits"]]


def find_refusal(client: AppClient, body: dict[str, object], index: str = "papers") -> str:
    response = client.post(f"/v1/{index}/_search", {"why": False, **body})
    assert response.status_code == 400 and response.json is not None
    assert response.json["error"]["type"] == "bad-parameter" and response.json["status"] == 400
    return str(read_problem(response.json)["detail"])


def test_a_search_by_a_vector_finds_the_nearest(whole: AppClient) -> None:
    found = search(whole, {"knn": KNN})
    assert len(found["hits"]["hits"]) == found["hits"]["total"]["value"] == 4
    scores = [hit["_score"] for hit in found["hits"]["hits"]]
    assert scores == sorted(scores, reverse=True) and found["hits"]["max_score"] == scores[0] <= 1
    assert [hit["_found_by"] for hit in found["hits"]["hits"]] == [["vector"]] * 4
    assert search(whole, {"knn": [KNN]})["hits"] == found["hits"]
    assert list_ids(search(whole, {"knn": KNN | {"num_candidates": 100}})) == list_ids(found)
    assert list_ids(search(whole, {"knn": KNN, "query": {"match_all": {}}})) == list_ids(found)


def test_k_is_the_size_of_the_page_unless_it_is_given(whole: AppClient) -> None:
    knn = {name: value for name, value in KNN.items() if name != "k"}
    assert search(whole, {"knn": knn, "size": 3})["hits"]["total"]["value"] == 3
    assert search(whole, {"knn": knn, "size": 0})["hits"]["total"]["value"] == 10
    assert search(whole, {"knn": KNN | {"k": 1000}, "size": 50})["hits"]["total"]["value"] == 11
    first, second = (search(whole, {"knn": KNN, "size": 2, "from": offset}) for offset in (0, 2))
    assert list_ids(first) + list_ids(second) == list_ids(search(whole, {"knn": KNN}))


def test_hits_of_words_and_of_the_vector_are_merged_by_rank_and_say_what_found_them(whole: AppClient) -> None:
    words = list_ids(search(whole, {"query": WORDS, "size": 20}))
    nearest = list_ids(search(whole, {"knn": KNN}))
    found = search(whole, {"query": WORDS, "knn": KNN, "size": 20})
    scores: dict[str, float] = {}
    for ids in (words, nearest):
        for rank, id in enumerate(ids, start=1):
            scores[id] = scores.get(id, 0) + 1 / (60 + rank)
    assert list_ids(found) == sorted(scores, key=lambda id: (-scores[id], id))
    for hit in found["hits"]["hits"]:
        assert hit["_score"] == pytest.approx(scores[hit["_id"]])
        assert hit["_found_by"] == [
            *(["words"] if hit["_id"] in words else []),
            *(["vector"] if hit["_id"] in nearest else []),
        ]
    assert found["hits"]["total"]["value"] == len(scores)


def test_filters_limit_the_nearest(whole: AppClient) -> None:
    cnn = {"term": {"source": "CNN"}}
    for body in (
        {"knn": KNN | {"filter": cnn}},
        {"knn": KNN | {"filter": [cnn, {"match": {"text": "web"}}]}},
        {"knn": KNN, "query": cnn},
        {"knn": KNN, "query": {"bool": {"filter": [cnn]}}},
    ):
        found = search(whole, {**body, "aggs": {"sources": {"terms": {"field": "source"}}}})
        assert {hit["_source"]["source"][0] for hit in found["hits"]["hits"]} == {"CNN"}
        assert found["aggregations"]["sources"]["buckets"] == [{"key": "CNN", "doc_count": 4}]


def test_a_limited_caller_gets_the_nearest_of_what_they_may_read(clients: dict[str, AppClient]) -> None:
    assert "d9" in list_ids(search(clients["whole"], {"knn": KNN}))
    hidden = search(clients["public"], {"knn": KNN})
    assert "d9" not in list_ids(hidden) and hidden["hits"]["total"]["value"] == 4
    without = {"bool": {"must_not": [{"range": {"date": {"gte": "2011-03-09", "lte": "2011-03-09"}}}]}}
    assert list_ids(hidden) == list_ids(search(clients["whole"], {"knn": KNN | {"filter": without}}))
    assert "d9" not in list_ids(search(clients["public"], {"knn": KNN | {"k": 12}, "query": WORDS, "size": 20}))


def test_hits_of_a_vector_have_reasons(whole: AppClient) -> None:
    for body in ({"knn": KNN}, {"knn": KNN, "query": WORDS}):
        hits = search(whole, {**body, "why": True, "size": 3})["hits"]["hits"]
        assert all(hit["why"]["state"] == "done" for hit in hits)


def test_a_multi_search_takes_vectors_too(whole: AppClient) -> None:
    lines = b'{}\n{"knn": {"field": "vector", "query_vector": [1, 0, 0], "k": 4}, "why": false}\n'
    response = whole.flask_app.test_client().post(
        "/v1/papers/_msearch", data=lines, headers={"Authorization": f"Bearer {whole.key}"},
        content_type="application/x-ndjson",
    )  # fmt: skip
    assert response.json is not None
    (found,) = response.json["responses"]
    assert list_ids(found) == list_ids(search(whole, {"knn": KNN}))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"knn": KNN | {"query_vector": [1.0, 2.0]}}, "the vector has 2 numbers, those of index 'papers' have 3"),
        ({"knn": KNN | {"query_vector": [0, 0, 0]}}, "knn.query_vector: the vector is zero"),
        ({"knn": KNN | {"query_vector": [1e300, 0, 0]}}, "knn.query_vector: the vector contains a number that is not"),
        ({"knn": KNN | {"query_vector": "abc"}}, "knn.query_vector: the vector is not a list of numbers"),
        ({"knn": {"field": "vector", "k": 3}}, "knn.query_vector: the vector is not a list of numbers"),
        ({"knn": KNN | {"field": "title_vector"}}, "knn.field must be 'vector'"),
        ({"knn": KNN | {"k": 0}}, "knn.k must be a whole number from 1 to 1000"),
        ({"knn": KNN | {"k": 1001}}, "knn.k must be a whole number from 1 to 1000"),
        ({"knn": KNN | {"num_candidates": 3}}, "knn.num_candidates must be a whole number from 4 to 10000"),
        ({"knn": KNN | {"boost": 2}}, "knn.boost is not allowed: hits are merged by their ranks"),
        ({"knn": KNN | {"similarity": 0.5}}, "knn: 'similarity' is not allowed"),
        ({"knn": [KNN, KNN]}, "knn has 2 searches; search by one vector at a time"),
        ({"knn": []}, "knn has 0 searches"),
        ({"knn": 5}, "knn must be an object"),
        ({"knn": KNN | {"filter": {"script": {}}}}, "knn.filter[0].script is not allowed"),
        ({"knn": KNN, "sort": ["date"]}, "a search by a vector cannot be sorted"),
    ],
)
def test_what_is_wrong_with_a_vector_is_said(whole: AppClient, body: dict[str, object], message: str) -> None:
    assert message in find_refusal(whole, body)


def test_an_index_without_vectors_says_how_to_get_them(whole: AppClient) -> None:
    refusal = find_refusal(whole, {"knn": KNN}, "plain")
    assert "index 'plain' has" in refusal and "or build the index from documents with vectors" in refusal


def test_an_infinite_number_is_refused(whole: AppClient) -> None:
    response = whole.flask_app.test_client().post(
        "/v1/papers/_search", data=b'{"knn": {"field": "vector", "query_vector": [1e999, 0, 0]}}',
        headers={"Authorization": f"Bearer {whole.key}"}, content_type="application/json",
    )  # fmt: skip
    assert response.status_code == 400 and "not finite" in response.text


def test_documents_bring_vectors_that_fit_and_are_not_shown(whole: AppClient) -> None:
    path = "/v1/indexes/papers/documents"
    added = {"id": "late", "text": "A late one", "vector": [1, 0, 0], "acl": ["staff"]}
    response = whole.post(path, {"documents": [added]})
    assert response.status_code == 202 and response.json is not None
    wait_until(lambda: whole.get(response.headers["Location"]).json["state"] == "done")  # type: ignore[index]
    assert list_ids(search(whole, {"knn": KNN}))[0] == "late"
    shown = whole.get(f"{path}/late").json
    assert shown is not None and "vector" not in shown
    assert "vector" not in search(whole, {"knn": KNN})["hits"]["hits"][0]["_source"]


@pytest.mark.parametrize(
    ("index", "vector", "detail"),
    [
        ("papers", [1, 2], "document 'odd': its vector has 2 numbers, those of the index 3; use the same model"),
        ("papers", [0, 0, 0], "the vector is zero"),
        ("plain", [1, 2, 3], "document 'odd': it has a vector, but the index was built without vectors"),
    ],
)
def test_a_document_whose_vector_does_not_fit_keeps_its_batch_out(
    whole: AppClient, index: str, vector: list[float], detail: str
) -> None:
    documents = [{"id": "fine", "text": "web"}, {"id": "odd", "text": "web", "vector": vector}]
    response = whole.post(f"/v1/indexes/{index}/documents", {"documents": documents})
    assert response.status_code == 400 and response.json is not None
    (misfit,) = response.json["errors"]
    assert misfit["at"] == "/documents/1" and detail in misfit["detail"]
    assert whole.get(f"/v1/indexes/{index}/documents/fine").status_code == 404
