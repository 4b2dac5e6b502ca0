"""API keys for tests, and clients of an app in this process that send them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from indexer.engines.base import Engine
from indexer.settings import load_settings
from webapi.app import create_app
from webapi.auth.api_keys import ApiKey, generate_key, hash_key, make_api_key, write_keys
from webapi.context import EXTENSION
from worker.jobs.config import WorkConfig
from worker.service.container import ServiceContainer

DEFAULT_SCOPES = ("read", "compare")


def read_problem(body: Any) -> Any:
    """Return the problem in an error response, whether it is in the form of Elasticsearch or not."""
    return body["error"]["problem"] if "error" in body else body


class IssuedKeys:
    """A keys file, and the secret of every key in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.secrets: dict[str, str] = {}
        self._keys: dict[str, ApiKey] = {}

    def issue(
        self,
        name: str,
        scopes: tuple[str, ...] = DEFAULT_SCOPES,
        indexes: tuple[str, ...] = ("*",),
        groups: tuple[str, ...] = (),
    ) -> str:
        """Write a key to the file and return its secret."""
        self.secrets[name] = generate_key(name)
        self._keys[name] = make_api_key(name, hash_key(self.secrets[name]), scopes, indexes, groups)
        write_keys(self.path, self._keys)
        return self.secrets[name]

    def revoke(self, name: str) -> None:
        del self._keys[name]
        write_keys(self.path, self._keys)


@dataclass(frozen=True)
class AppClient:
    """A client of an app without a server around it, with the API key of one caller."""

    flask_app: Flask
    key: str | None = None

    def with_key(self, key: str | None) -> AppClient:
        return AppClient(self.flask_app, key)

    def send(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> TestResponse:
        sent_headers = (
            {"Prefer": "wait=60"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {}) | dict(headers or {})
        )
        client: FlaskClient = self.flask_app.test_client()
        # not ``json=body``, which sorts the names: their order may matter
        content = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return client.open(path, method=method, headers=sent_headers, **content)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> TestResponse:
        return self.send("GET", path, None, headers)

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> TestResponse:
        return self.send("POST", path, body, headers)

    def compare(self, a: object, b: object, index: str = "papers", **more: object) -> TestResponse:
        sides = [{"id": side} if isinstance(side, str) else side for side in (a, b)]
        return self.post("/v1/comparisons", {"index": index, "a": sides[0], "b": sides[1], **more})

    def close(self) -> None:
        self.flask_app.extensions[EXTENSION].gateway.close()


def make_app_client(
    engine: Path | Engine, keys: IssuedKeys | None = None, config: WorkConfig | None = None, **settings: Any
) -> AppClient:
    """Return a client of a new app on an open engine or on a folder; the app computes in this process unless the
    config names a Redis."""
    loaded = load_settings(keys_file=str(keys.path) if keys else None, max_wait_seconds=60, **settings)
    if isinstance(engine, Engine):
        return AppClient(create_app(loaded, service=ServiceContainer(config or WorkConfig(), engine=engine)))
    return AppClient(create_app(loaded, service=ServiceContainer(config or WorkConfig(engine=str(engine)))))


@contextmanager
def open_whole_and_public_clients(engine: Engine, keys_path: Path) -> Iterator[dict[str, AppClient]]:
    """Yield the client of a caller who may read and write everything, and that of one without groups."""
    keys = IssuedKeys(keys_path)
    keys.issue("whole", ("read", "compare", "ingest"), groups=("*",))
    keys.issue("public", groups=("guests",))
    app = make_app_client(engine, keys)
    yield {name: app.with_key(secret) for name, secret in keys.secrets.items()}
    app.close()
