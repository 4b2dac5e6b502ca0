"""The middleware for cached answers sends exactly what the Flask routes send."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from tests.support.api_keys import AppClient, make_app_client
from webapi.client import Client
from webapi.http.cached_answers import CachedAnswerMiddleware

BODY = {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}
PATH = "/v1/comparisons"
VARYING_HEADERS = {"age", "date"}


@pytest.fixture
def app(engine_folder: Path) -> Iterator[AppClient]:
    """An app with the answer to ``BODY`` in its cache."""
    app = make_app_client(engine_folder)
    assert app.post(PATH, BODY).headers["X-Cache"] == "miss"
    yield app
    app.close()


def fetch(app: object, method: str, path: str) -> TestResponse:
    body = {"json": BODY} if method == "POST" else {}
    return WsgiClient(app).open(path, method=method, **body)  # type: ignore[arg-type]


def list_headers(response: TestResponse) -> list[tuple[str, str]]:
    return sorted((name, value) for name, value in response.headers if name.lower() not in VARYING_HEADERS)


def refuse_requests(environ: object, start_response: object) -> list[bytes]:
    raise AssertionError("the request reached the Flask app")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_middleware_and_the_routes_send_the_same(
    app: AppClient, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    middleware = app.flask_app.wsgi_app
    assert isinstance(middleware, CachedAnswerMiddleware)
    path = PATH if method == "POST" else f"{PATH}/{app.post(PATH, BODY).json['id']}"
    by_route = fetch(middleware._app, method, path)
    monkeypatch.setattr(middleware, "_app", refuse_requests)
    by_middleware = fetch(middleware, method, path)
    assert by_middleware.status == by_route.status == "200 OK"
    assert by_middleware.headers["X-Cache"] == "local"
    assert list_headers(by_middleware) == list_headers(by_route)
    assert by_middleware.data == by_route.data


@pytest.mark.parametrize(
    "make_path",
    [lambda id: f"{PATH}X{id}", lambda id: f"{PATH}X/{id}", lambda id: f"{PATH}/x/{id}", lambda id: f"{PATH}/{id}/"],
    ids=["glued", "longer name", "deeper", "trailing slash"],
)
def test_only_the_exact_path_of_an_answer_is_answered(app: AppClient, make_path: Callable[[str], str]) -> None:
    id = app.post(PATH, BODY).json["id"]
    assert app.get(f"{PATH}/{id}").status_code == 200
    response = app.get(make_path(id))
    assert (response.status_code, response.json["code"]) == (404, "not-found")


def test_a_server_sends_the_same_with_and_without_the_middleware(inline: Client) -> None:
    location = f"{PATH}/{inline.compare('papers', 'd1', {'query': 'same bytes'})['id']}"
    by_middleware = inline.request("GET", location)
    by_route = inline.request("GET", location, headers={"If-None-Match": '"another"'})
    assert by_middleware.body == by_route.body and by_middleware.headers["x-cache"] == "local"
    assert {k: v for k, v in by_middleware.headers.items() if k not in VARYING_HEADERS} == {
        k: v for k, v in by_route.headers.items() if k not in VARYING_HEADERS
    }
