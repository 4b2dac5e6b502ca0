"""Readers' feedback on phrases, listed on the command line."""

from __future__ import annotations

import json
import uuid

import pytest

from indexer.cli.main import run
from worker.cache.key_value import RedisKeyValueStore
from worker.redis_connection import connect
from worker.service.feedback import record_feedback


def run_feedback(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["feedback", *arguments]) == 0
    return capsys.readouterr().out


def test_feedback_on_an_index_is_listed_oldest_first(valkey_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    index = f"papers-{uuid.uuid4().hex[:8]}"
    options = ("--index", index, "--redis-url", valkey_url)
    assert run_feedback(capsys, *options) == "no feedback yet\n"
    answer = {"id": "c1", "index": index, "a": {"ids": ["d1"], "title": ""}, "b": {"ids": [], "title": "web"}}
    with connect(valkey_url) as client:
        for phrase, useful in (("web graph", True), ("page", False)):
            record_feedback(RedisKeyValueStore(client), answer, [{"phrase": phrase, "useful": useful}], "me")
    feedback = json.loads(run_feedback(capsys, *options, "--json"))
    assert [(entry["phrase"], entry["useful"], entry["a"]) for entry in feedback["feedback"]] == [
        ("web graph", True, ["d1"]),
        ("page", False, ["d1"]),
    ]
    assert "web graph" in run_feedback(capsys, *options)
