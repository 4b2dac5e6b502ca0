"""What readers said of phrases, read again on the shell."""

from __future__ import annotations

import json
import uuid

import pytest

from indexer.cli.main import run
from worker.cache.key_value import RedisKeyValueStore
from worker.redis_connection import connect
from worker.service.feedback import record_feedback


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["feedback", *arguments]) == 0
    return capsys.readouterr().out


def test_what_was_said_of_an_index_is_shown_oldest_first(valkey_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    index = f"papers-{uuid.uuid4().hex[:8]}"
    where = ("--index", index, "--redis-url", valkey_url)
    assert shown(capsys, *where) == "nothing was said yet\n"
    answer = {"id": "c1", "index": index, "a": {"ids": ["d1"], "title": ""}, "b": {"ids": [], "title": "web"}}
    with connect(valkey_url) as client:
        for phrase, useful in (("web graph", True), ("page", False)):
            record_feedback(RedisKeyValueStore(client), answer, [{"phrase": phrase, "useful": useful}], "me")
    found = json.loads(shown(capsys, *where, "--json"))
    assert [(one["phrase"], one["useful"], one["a"]) for one in found["feedback"]] == [
        ("web graph", True, ["d1"]),
        ("page", False, ["d1"]),
    ]
    assert "web graph" in shown(capsys, *where)
