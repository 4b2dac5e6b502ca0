"""What every answer must look like, checked to the last field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from indexer.documents import Document
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_text

ANSWER = "id index epoch method preset a b summary common distinct_a distinct_b stats no_evidence".split()
LISTS = ("common", "distinct_a", "distinct_b")
LEMMAS = Lemmatizer("en")


def check(answer: dict[str, Any], documents: Mapping[str, Document], *, also: tuple[str, ...] = ()) -> None:
    """Raise AssertionError unless the answer has exactly the documented shape and its parts agree.

    ``documents`` are those of the index; ``also`` names the optional parts that were asked for.
    """
    assert list(answer) == [*ANSWER, *also]
    _texts(answer, "id", "index", "epoch", "method", "preset", "summary")
    assert answer["summary"].endswith(".")
    for letter in ("a", "b"):
        _side(answer[letter], documents)
    for name in LISTS:
        _ranked(answer[name])
        for entry in answer[name]:
            _entry(entry, name, answer, documents)
    listed = [
        phrase for name in LISTS for entry in answer[name] for phrase in (entry["phrase"], *entry.get("also", ()))
    ]
    assert len(listed) == len(set(listed)), "a phrase stands in one place only"
    _stats(answer["stats"])
    empty = not any(answer[name] for name in LISTS)
    assert (answer["no_evidence"] is not None) == empty
    if empty:
        assert list(answer["no_evidence"]) == ["code", "detail"]
        _texts(answer["no_evidence"], "code", "detail")
    _finite(answer)


def _texts(part: Mapping[str, Any], *names: str) -> None:
    assert all(isinstance(part[name], str) and part[name] for name in names)


def _side(side: dict[str, Any], documents: Mapping[str, Document]) -> None:
    assert list(side) == ["kind", "ids", "title"]
    assert side["kind"] in ("document", "set", "query", "text")
    assert isinstance(side["title"], str)
    if side["kind"] in ("query", "text"):
        assert side["ids"] == []
    else:
        assert side["ids"] and set(side["ids"]) <= set(documents)
    if side["kind"] == "document":
        assert side["title"] == documents[side["ids"][0]].title


def _ranked(entries: list[dict[str, Any]]) -> None:
    scores = [entry["score"] for entry in entries]
    assert scores == sorted(scores, reverse=True)


def _entry(entry: dict[str, Any], where: str, answer: dict[str, Any], documents: Mapping[str, Document]) -> None:
    implied = where == "common" and not (entry["a"]["count"] and entry["b"]["count"])
    expected = ["phrase", "display", "score", "kind", "a", "b", "evidence"]
    expected += ["also"] if "also" in entry else []
    expected += ["own", "via", "rest"] if implied else []
    expected += ["partial"] if "partial" in entry else []
    assert list(entry) == expected
    _texts(entry, "phrase", "display")
    assert entry["kind"] == ("implied" if implied else "shared" if where == "common" else "distinct")
    assert entry.get("also", [""]) != [], "an empty list is left out"
    for letter in ("a", "b"):
        side = entry[letter]
        assert list(side) == ["count", "relevance"]
        assert isinstance(side["count"], int) and side["count"] >= 0
        assert side["relevance"] >= 0
        places = [place for place in entry["evidence"] if place["side"] == letter]
        assert min(side["count"], 1) <= len(places) <= min(side["count"], 3)
        for place in places:
            _place(place, entry["phrase"], answer[letter], documents)
    assert entry["a"]["count"] + entry["b"]["count"] > 0
    if implied:
        _reasons(entry, answer, documents)


def _place(place: dict[str, Any], phrase: str, side: dict[str, Any], documents: Mapping[str, Document]) -> None:
    assert list(place) == ["side", "id", "field", "start", "end", "snippet"]
    assert place["field"] in ("title", "text")
    assert place["id"] in (side["ids"] or [""])
    shown = " ".join(place["snippet"].strip("…").split())
    if place["id"]:
        text = getattr(documents[place["id"]], place["field"])
        said = text[place["start"] : place["end"]]
        assert lemmatize_text(said, LEMMAS) in phrase.split("@@")
        assert " ".join(said.split()) in shown
        assert shown in " ".join(text.split())


def _reasons(entry: dict[str, Any], answer: dict[str, Any], documents: Mapping[str, Document]) -> None:
    shares = [entry["own"], entry["rest"], entry.get("partial", 0.0), *(bridge["share"] for bridge in entry["via"])]
    assert abs(sum(shares) - 1) < 1e-9
    assert all(0 <= share <= 1 for share in shares)
    bridges = [bridge["share"] for bridge in entry["via"]]
    assert bridges == sorted(bridges, reverse=True)
    for bridge in entry["via"]:
        assert list(bridge) == ["id", "title", "phrases", "share"]
        assert bridge["id"] not in answer["a"]["ids"] + answer["b"]["ids"]
        assert bridge["title"] == documents[bridge["id"]].title
        assert entry["phrase"] not in bridge["phrases"]


def _stats(stats: dict[str, Any]) -> None:
    assert list(stats) == [
        "phrases",
        "documents",
        "edges",
        "reached",
        "left_out",
        "iterations",
        "rounds",
        "ms",
        "notes",
    ]
    for name in ("phrases", "documents", "edges", "reached", "iterations", "rounds"):
        assert isinstance(stats[name], int) and stats[name] >= 0
    assert 0 <= stats["left_out"] <= 1
    assert {"neighbourhood", "solve", "evidence"} <= set(stats["ms"]) <= {"fetch", "neighbourhood", "solve", "evidence"}
    assert all(ms >= 0 for ms in stats["ms"].values())
    assert all(isinstance(note, str) and note for note in stats["notes"])


def _finite(value: object) -> None:
    if isinstance(value, float):
        assert math.isfinite(value)
    elif isinstance(value, dict):
        for part in value.values():
            _finite(part)
    elif isinstance(value, list):
        for part in value:
            _finite(part)
