"""Errors over HTTP never reveal a path or an address of the machine, nor an index the caller may not use."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.errors import BadSetting, CorruptIndex, EngineUnavailable, PhraseComError, UnsupportedVersion
from indexer.indexing.build import build_index
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client, read_problem
from webapi.http.problems import make_error_response, make_failure_response
from worker.jobs.config import WorkConfig
from worker.jobs.job import Failure

COMPARISON = {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}
REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/v1/indexes/papers", None),
    ("GET", "/v1/indexes/papers/documents/d1", None),
    ("POST", "/v1/papers/_search", {"query": {"match": {"text": "web"}}}),
    ("POST", "/v1/comparisons", COMPARISON),
]


@pytest.fixture
def folder(engine_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(engine_folder, tmp_path / "engine")
    return tmp_path / "engine"


@pytest.fixture
def app(folder: Path) -> Iterator[AppClient]:
    app = make_app_client(folder)
    yield app
    app.close()


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_a_damaged_index_is_reported_without_its_path_which_is_logged(
    app: AppClient, folder: Path, caplog: pytest.LogCaptureFixture, method: str, path: str, body: Any
) -> None:
    next((folder / "papers").glob("*/info.json")).write_text("{")
    with caplog.at_level(logging.WARNING):
        reply = app.send(method, path, body)
    assert (reply.status_code, read_problem(reply.json)["code"]) == (500, "corrupt-index")
    assert read_problem(reply.json)["detail"] == "the index is damaged; the operator of the service can rebuild it"
    assert str(folder.parent) not in reply.text
    assert str(folder) in caplog.text


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_an_engine_that_does_not_answer_is_reported_without_its_address(method: str, path: str, body: Any) -> None:
    app = make_app_client(
        Path(), config=WorkConfig(engine="http://elastic:hush@127.0.0.1:9", engine_options={"timeout": 2.0})
    )
    reply = app.send(method, path, body)
    assert (reply.status_code, read_problem(reply.json)["code"]) == (503, "engine-unavailable")
    assert read_problem(reply.json)["detail"] == "the search engine does not answer; try again later"
    assert "127.0.0.1" not in reply.text and "hush" not in reply.text
    app.close()


@pytest.mark.parametrize("kind", [BadSetting, CorruptIndex, EngineUnavailable, UnsupportedVersion])
def test_a_failed_job_reveals_no_more_than_the_error_itself(kind: type[PhraseComError]) -> None:
    error = kind("cannot use /home/me/engine at http://127.0.0.1:9", fix="look there")
    failure = Failure(error.code, str(error), error.status, error.retryable)
    for reply in (make_failure_response("x", failure), make_error_response(error)):
        assert reply.status_code == error.status
        assert reply.json["detail"] == error.public_detail
        assert not any(word in reply.get_data(as_text=True) for word in ("/home", "127.0.0.1"))


def test_an_unknown_index_is_reported_without_the_names_of_others(folder: Path, tmp_path: Path) -> None:
    with open_engine(str(folder)) as engine:
        build_index([Document(f"n{n}", "News", "The web graph. " * 3) for n in range(4)], engine, "papers-secret")
    keys = IssuedKeys(tmp_path / "keys.toml")
    keys.issue("reader", indexes=("papers",))
    app = make_app_client(folder, keys)
    reader = app.with_key(keys.secrets["reader"])
    for name in ("papers-secre", "papers-secret", "paper"):
        for reply in (reader.get(f"/v1/indexes/{name}"), reader.compare("d1", "d2", index=name)):
            assert (reply.status_code, reply.json["code"]) == (404, "unknown-index")
            assert reply.json["detail"] == f"no index named {name!r}; GET /v1/indexes lists the indexes you can access"
            assert str(folder.parent) not in reply.text
    app.close()


def test_an_unknown_document_error_points_to_the_search_api(app: AppClient) -> None:
    reply = app.get("/v1/indexes/papers/documents/nope")
    assert (reply.status_code, reply.json["code"]) == (404, "unknown-document")
    assert reply.json["detail"] == "no document 'nope' in index 'papers'; find ids with POST /v1/INDEX/_search"
