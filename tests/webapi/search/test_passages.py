"""The passage of a hit in the answers of a search, an explanation and a comparison."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexer.indexing.build import build_index
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.corpora.passage_corpus import ALL_WORDS, INDEX, OTHER_WORDS, QUERY, SOME_WORDS, make_documents
from tests.support.engines import open_empty_engine
from webapi.schemas.responses import ComparisonReply, ExplanationReply, WhyReply


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppClient]:
    folder = tmp_path_factory.mktemp("passages")
    with open_empty_engine("embedded", folder / "engine", request) as engine:
        build_index(make_documents(), engine, INDEX, processes=1)
        keys = IssuedKeys(folder / "keys.json")
        keys.issue("whole", ("read", "compare"), groups=("*",))
        app = make_app_client(engine, keys)
        yield app.with_key(keys.secrets["whole"])
        app.close()


def test_a_search_an_explanation_and_a_comparison_tell_the_same_passage(client: AppClient) -> None:
    hits = [OTHER_WORDS.id, SOME_WORDS.id, ALL_WORDS.id]
    page = client.post("/v1/explanations", {"index": INDEX, "query": QUERY, "hits": hits}, {"Prefer": "wait=10"}).json
    explained = ExplanationReply.model_validate(page).explanations
    assert [one.passage is not None for one in explained] == [True, True, False]
    assert "passage" not in page["explanations"][2]
    assert explained[0].href is not None and explained[0].href.common is not None
    comparison = client.get(explained[0].href.common, {"Prefer": "wait=10"}).json
    assert ComparisonReply.model_validate(comparison).passage == explained[0].passage

    body = {"query": {"match": {"title": SOME_WORDS.title}}, "why": {"query": QUERY}}
    found = client.post(f"/v1/{INDEX}/_search", body, {"Prefer": "wait=10"}).json["hits"]["hits"]
    why = {hit["_id"]: hit["why"] for hit in found}
    assert WhyReply.model_validate(why[SOME_WORDS.id]).passage == explained[1].passage
    assert "passage" not in why[ALL_WORDS.id]
