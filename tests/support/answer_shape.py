"""Checks of a whole answer: its fields against the response models, and its parts against each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from indexer.documents import Document
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import lemmatize_text
from tests.support.comparisons import LISTS
from webapi.schemas.responses import (
    Bridge,
    ComparisonReply,
    Evidence,
    MatchedWordReply,
    NoEvidence,
    OnSide,
    PhraseReply,
    SideReply,
)
from worker.answer.comparison import Comparison

LEMMATIZER = Lemmatizer("en")
STATS = "phrases documents edges reached left_out iterations rounds ms notes".split()
STEPS = {"fetch", "neighbourhood", "solve", "evidence"}


def check_answer(
    comparison: Comparison, documents: Mapping[str, Document], *, optional_parts: tuple[str, ...] = ()
) -> None:
    """Fail unless the answer's JSON has exactly the documented fields, in their order, and all of them agree.

    ``documents`` are those of the index; ``optional_parts`` are the fields that have to be requested.
    """
    answer = comparison.to_dict()
    reply = ComparisonReply.model_validate(answer, strict=True)
    assert reply.model_dump(exclude_unset=True, by_alias=True) == answer
    has_query = (reply.a.kind == "query") != (reply.b.kind == "query")
    optional_parts += ("matched", "lacks") if has_query else ()
    optional_parts += ("passage",) if has_query and comparison.passage else ()
    fields = ComparisonReply.model_fields.items()
    assert list(answer) == [name for name, field in fields if field.is_required() or name in optional_parts]
    json.dumps(answer, allow_nan=False)
    assert all((reply.id, reply.index, reply.epoch, reply.method, reply.preset)) and reply.summary.endswith(".")
    for letter in ("a", "b"):
        _check_field_order(answer[letter], SideReply)
        _check_side(getattr(reply, letter), documents)
    entries: list[PhraseReply] = []
    for name in LISTS:
        listed: list[PhraseReply] = getattr(reply, name)
        _check_descending([entry.score for entry in listed])
        for entry, raw in zip(listed, answer[name], strict=True):
            _check_entry(entry, raw, name, reply, documents)
        entries += listed
    phrases = [phrase for entry in entries for phrase in (entry.phrase, *(entry.also or ()))]
    assert len(phrases) == len(set(phrases)), "a phrase is in one place only"
    _check_stats(answer["stats"])
    assert (reply.no_evidence is not None) == (not entries and not reply.matched)
    for word in reply.matched or ():
        _check_matched_word(word, reply.a if reply.b.kind == "query" else reply.b, documents)
    if reply.no_evidence:
        _check_field_order(answer["no_evidence"], NoEvidence)
        assert reply.no_evidence.code and reply.no_evidence.detail


def _check_matched_word(word: MatchedWordReply, side: SideReply, documents: Mapping[str, Document]) -> None:
    assert (word.id is not None) == (side.kind == "set")
    if side.ids:
        text = getattr(documents[word.id or side.ids[0]], word.field)
        assert text[word.start : word.end] == word.written
    assert lemmatize_text(word.written, LEMMATIZER) == lemmatize_text(word.word, LEMMATIZER)


def _check_field_order(part: Mapping[str, Any], model: type[BaseModel]) -> None:
    assert list(part) == list(model.model_fields)


def _check_descending(numbers: list[float]) -> None:
    assert numbers == sorted(numbers, reverse=True)


def _check_side(side: SideReply, documents: Mapping[str, Document]) -> None:
    if side.kind in ("query", "text"):
        assert side.ids == []
    else:
        assert side.ids and set(side.ids) <= set(documents)
    if side.kind == "document":
        assert side.title == documents[side.ids[0]].title


def _check_entry(
    entry: PhraseReply, raw: dict[str, Any], name: str, reply: ComparisonReply, documents: Mapping[str, Document]
) -> None:
    is_implied = name == "common" and not (entry.a.count and entry.b.count)
    required = [name for name, field in PhraseReply.model_fields.items() if field.is_required()]
    optional = (
        ["noise"] * ("noise" in raw)
        + ["also"] * ("also" in raw)
        + ["own", "via", "rest"] * is_implied
        + ["partial"] * ("partial" in raw)
    )
    assert list(raw) == required + optional
    assert entry.phrase and entry.display
    assert entry.kind == ("implied" if is_implied else "shared" if name == "common" else "distinct")
    assert raw.get("also", [""]), "an empty list is left out"
    for letter, on_side, side in (("a", entry.a, reply.a), ("b", entry.b, reply.b)):
        _check_field_order(raw[letter], OnSide)
        assert on_side.count >= 0 and on_side.relevance >= 0
        snippets = [snippet for snippet in entry.evidence if snippet.side == letter]
        assert min(on_side.count, 1) <= len(snippets) <= min(on_side.count, 3)
        for snippet in snippets:
            _check_snippet(snippet, entry.phrase, side, documents)
    for snippet in raw["evidence"]:
        _check_field_order(snippet, Evidence)
    assert entry.a.count + entry.b.count > 0
    if is_implied:
        _check_reasons(entry, raw, {*reply.a.ids, *reply.b.ids}, documents)


def _check_snippet(snippet: Evidence, phrase: str, side: SideReply, documents: Mapping[str, Document]) -> None:
    assert snippet.field in ("title", "text")
    assert snippet.id in (side.ids or [""])
    if snippet.id:
        shown = " ".join(snippet.snippet.strip("…").split())
        text = getattr(documents[snippet.id], snippet.field)
        occurrence = text[snippet.start : snippet.end]
        assert lemmatize_text(occurrence, LEMMATIZER) in phrase.split("@@")
        assert " ".join(occurrence.split()) in shown
        assert shown in " ".join(text.split())


def _check_reasons(
    entry: PhraseReply, raw: dict[str, Any], compared: set[str], documents: Mapping[str, Document]
) -> None:
    bridges = [bridge["share"] for bridge in raw["via"]]
    shares = [raw["own"], raw["rest"], raw.get("partial", 0.0), *bridges]
    assert abs(sum(shares) - 1) < 1e-9
    assert all(0 <= share <= 1 for share in shares)
    _check_descending(bridges)
    for bridge in raw["via"]:
        _check_field_order(bridge, Bridge)
        assert bridge["id"] not in compared
        assert bridge["title"] == documents[bridge["id"]].title
        assert entry.phrase not in bridge["phrases"]


def _check_stats(stats: dict[str, Any]) -> None:
    assert list(stats) == STATS
    for name in ("phrases", "documents", "edges", "reached", "iterations", "rounds"):
        assert isinstance(stats[name], int) and stats[name] >= 0
    assert 0 <= stats["left_out"] <= 1
    assert STEPS - {"fetch"} <= set(stats["ms"]) <= STEPS
    assert all(ms >= 0 for ms in stats["ms"].values())
    assert all(stats["notes"])
