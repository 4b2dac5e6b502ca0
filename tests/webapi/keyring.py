"""An app with API keys, for tests: who is who, and a client that shows a key."""

from __future__ import annotations

from collections.abc import Mapping
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

SCOPES = ("read", "compare")


class Ring:
    """A keys file and the keys to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.secrets: dict[str, str] = {}
        self._keys: dict[str, ApiKey] = {}

    def add(
        self,
        name: str,
        scopes: tuple[str, ...] = SCOPES,
        indexes: tuple[str, ...] = ("*",),
        groups: tuple[str, ...] = (),
    ) -> str:
        self.secrets[name] = generate_key(name)
        self._keys[name] = make_api_key(name, hash_key(self.secrets[name]), scopes, indexes, groups)
        write_keys(self.path, self._keys)
        return self.secrets[name]

    def remove(self, name: str) -> None:
        del self._keys[name]
        write_keys(self.path, self._keys)


@dataclass(frozen=True)
class Inside:
    """An app without a server around it, as one caller meets it."""

    app: Flask
    key: str | None = None

    def as_(self, key: str | None) -> Inside:
        return Inside(self.app, key)

    def send(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> TestResponse:
        sent = (
            {"Prefer": "wait=60"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {}) | dict(headers or {})
        )
        client: FlaskClient = self.app.test_client()
        return (
            client.open(path, method=method, json=body, headers=sent)
            if body is not None
            else client.open(path, method=method, headers=sent)
        )

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> TestResponse:
        return self.send("GET", path, None, headers)

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> TestResponse:
        return self.send("POST", path, body, headers)

    def compare(self, a: object, b: object, index: str = "papers", **more: object) -> TestResponse:
        sides = [{"id": side} if isinstance(side, str) else side for side in (a, b)]
        return self.post("/v1/comparisons", {"index": index, "a": sides[0], "b": sides[1], **more})

    def close(self) -> None:
        self.app.extensions[EXTENSION].gateway.close()


def inside(
    engine: Path | Engine, ring: Ring | None = None, config: WorkConfig | None = None, **settings: Any
) -> Inside:
    """An app on an open engine or an embedded one; computes by itself unless the config names a Redis."""
    given = load_settings(keys_file=str(ring.path) if ring else None, max_wait_seconds=60, **settings)
    if isinstance(engine, Engine):
        return Inside(create_app(given, service=ServiceContainer(config or WorkConfig(), engine=engine)))
    return Inside(create_app(given, service=ServiceContainer(config or WorkConfig(engine=str(engine)))))
