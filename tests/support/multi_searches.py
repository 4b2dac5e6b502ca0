"""Requests with several searches."""

from __future__ import annotations

import json
from typing import Any

from tests.support.api_keys import AppClient

NDJSON = {"Content-Type": "application/x-ndjson"}


def make_lines(*lines: object) -> bytes:
    """Return one line for each value; text is written as it is."""
    return b"".join((line if isinstance(line, str) else json.dumps(line)).encode() + b"\n" for line in lines)


def search_together(app: AppClient, *lines: object, path: str = "/v1/_msearch") -> list[Any]:
    """Return the responses to several searches of an app."""
    headers = {"Prefer": "wait=60", **NDJSON} | ({"Authorization": f"Bearer {app.key}"} if app.key else {})
    reply = app.flask_app.test_client().post(path, data=make_lines(*lines), headers=headers)
    assert reply.status_code == 200, reply.text
    responses: list[Any] = json.loads(reply.data)["responses"]
    return responses
