"""Logging: one JSON object a line for programs, readable lines for people, secrets in neither."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from indexer.logging_setup import configure_logging, redact


@pytest.fixture(autouse=True)
def _restore_root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def test_an_event_is_one_json_object_with_what_was_given() -> None:
    out = io.StringIO()
    configure_logging("json", stream=out)
    logging.getLogger("x").info("built %s\nfor real", "demo", extra={"index": "demo", "documents": 3})
    line = json.loads(out.getvalue())
    assert line["event"] == "built demo\nfor real"
    assert (line["level"], line["logger"], line["index"], line["documents"]) == ("info", "x", "demo", 3)
    assert out.getvalue().count("\n") == 1


def test_an_exception_stays_on_its_line() -> None:
    out = io.StringIO()
    configure_logging("json", stream=out)
    try:
        raise ValueError("redis://:hush@host/0")
    except ValueError:
        logging.getLogger("x").exception("failed")
    line = json.loads(out.getvalue())
    assert "ValueError" in line["exception"]
    assert "hush" not in out.getvalue()


@pytest.mark.parametrize("style", ["json", "text"])
def test_secrets_never_reach_a_line(style: str) -> None:
    out = io.StringIO()
    configure_logging(style, stream=out)
    logging.getLogger("x").warning("to %s", "https://me:hush@host:9200/", extra={"redis": "redis://:hush@h/0"})
    logging.getLogger("x").warning("Authorization: ApiKey hush== and api_key=hush password: 'hush'")
    assert "hush" not in out.getvalue()


def test_a_text_without_secrets_stays_as_it_is() -> None:
    for text in ("tokens=12", "http://host:9200/a@b", "the token ring", "basic information theory"):
        assert redact(text) == text


def test_a_level_hides_what_is_below() -> None:
    out = io.StringIO()
    configure_logging("text", "warning", out)
    logging.getLogger("x").info("small talk")
    assert out.getvalue() == ""
