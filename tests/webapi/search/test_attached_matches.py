"""In an attached index the source decides which words match, with its own analyzers, and where.

``PHRASECOM_TEST_MATCH_CASES`` sets how many generated cases are compared with the source's own highlighter.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.attached_sources import AttachedSource, attach_source
from worker.comparer import Comparer
from worker.explain.side import Side

CASES = int(os.environ.get("PHRASECOM_TEST_MATCH_CASES", "60"))
ANALYSIS = {
    "filter": {"cars": {"type": "synonym_graph", "synonyms": ["car, automobile, motor vehicle", "sick, ill"]}},
    "analyzer": {
        "stems": {"tokenizer": "standard", "filter": ["lowercase", "asciifolding", "porter_stem"]},
        "searched": {"tokenizer": "standard", "filter": ["lowercase", "cars", "asciifolding", "porter_stem"]},
    },
}
STEMS = {"analyzer": "stems", "search_analyzer": "searched"}
VOCABULARY = """
organ organizer organizers organization organize university universal universe résumé resume Resumes naïve naive café
Cafés car cars automobile motor vehicle vehicles sick ill illness general generally generic running runs ran runner
os.path.join C++ x11 wi-fi 3.5 photo photos PHOTOGRAPHY photographer good better news new 東京 日本 שלום
🚀 the of it and
""".split()


def make_documents(rng: random.Random, count: int) -> dict[str, dict[str, Any]]:
    """Return documents of random words; the body of every fourth is a list of values."""

    def write(low: int, high: int) -> str:
        return " ".join(rng.choice(VOCABULARY) for _ in range(rng.randint(low, high)))

    documents: dict[str, dict[str, Any]] = {}
    for n in range(count):
        body: Any = [write(1, 8), f" {write(2, 9)} ", write(1, 8)] if n % 4 == 0 else f"{write(2, 20)}."
        documents[f"m{n}"] = {"headline": f" {write(0, 4)}", "body": body}
    return documents


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    fixed: dict[str, dict[str, Any]] = {
        "organ": {"headline": "Pipes", "body": "The organ of the old church"},
        "driver": {"headline": "Résumé of an ill driver", "body": "A motor vehicle needs a driver"},
        "both": {"headline": "A photo", "body": "Photos by a good photographer"},
    }
    return fixed | make_documents(random.Random(7), 40)


@pytest.fixture(scope="module")
def source(
    elasticsearch_url: str, documents: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttachedSource]:
    source = AttachedSource(elasticsearch_url, documents, analysis=ANALYSIS, text_options=STEMS)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(tmp_path_factory.mktemp("attached"))
        monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
        attach_source(source)
        yield source
    source.close()


@pytest.fixture
def comparer(source: AttachedSource) -> Iterator[Comparer]:
    with source.open_engine() as engine:
        yield Comparer(engine)


def match_query(comparer: Comparer, query: str, ids: list[str], groups: frozenset[str] | None = None) -> list[Any]:
    """Return the JSON of a page's comparisons with a query."""
    side = Side.from_json({"query": query})
    specs = [comparer.make_spec("news", Side.from_id(id), side, groups=groups) for id in ids]
    return [answer.to_dict() for answer in comparer.explain(specs)]


def highlight_word(source: AttachedSource, document: dict[str, Any], id: str, word: str) -> dict[str, Any] | None:
    """Return the entry of ``matched`` by the source's own highlighter; None if it marks nothing."""
    for field, role in (("headline", "title"), ("body", "text")):
        query = {"match": {field: {"query": word, "operator": "and"}}}
        body = {
            "query": {"bool": {"must": query, "filter": {"ids": {"values": [id]}}}},
            "highlight": {"fields": {field: {}}, "number_of_fragments": 0, "pre_tags": ["<<"], "post_tags": [">>"]},
        }
        for hit in source.client.search(index=source.index, body=body)["hits"]["hits"]:
            marked = hit["highlight"][field][0]
            values = document[field] if isinstance(document[field], list) else [document[field]]
            position = values.index(marked.replace("<<", "").replace(">>", ""))
            start = sum(len(value) + 1 for value in values[:position]) + marked.index("<<")
            start -= len(values[0]) - len(values[0].lstrip()) if role == "title" else 0
            written = marked.partition("<<")[2].partition(">>")[0]
            return {"word": word, "as": written, "field": role, "start": start, "end": start + len(written)}
    return None


def test_matched_is_what_the_highlighter_of_the_source_marks_for_each_word(
    source: AttachedSource, comparer: Comparer, documents: dict[str, dict[str, Any]]
) -> None:
    rng = random.Random(11)
    content = [word for word in VOCABULARY if word not in ("the", "of", "it", "and", "🚀", "wi-fi", "東京", "日本")]
    checked = matched = 0
    while checked < CASES:
        query = rng.sample(content, rng.randint(1, 4))
        ids = rng.sample(sorted(documents), 5)
        before = comparer.engine.request_count
        answers = match_query(comparer, f"the {' of '.join(query)}", ids)
        assert comparer.engine.request_count <= before + 3, "documents, words and neighbourhood"
        for id, answer in zip(ids, answers, strict=True):
            marks = {word: highlight_word(source, documents[id], id, word) for word in dict.fromkeys(query)}
            distinct = {word.casefold(): word for word in reversed(query)}.values()
            matched_words = sorted(answer["matched"], key=lambda one: query.index(one["word"]))
            assert matched_words == [marks[word] for word in query if word in distinct and marks[word]]
            assert answer["lacks"] == [word for word in query if word in distinct and not marks[word]]
            checked, matched = checked + 1, matched + len(answer["matched"])
    assert matched > CASES // 2, "the cases are not empty"


def test_stems_synonyms_and_accents_of_the_source_count(comparer: Comparer) -> None:
    (answer,) = match_query(comparer, "organizer bicycle", ["organ"])
    assert answer["matched"] == [{"word": "organizer", "as": "organ", "field": "text", "start": 4, "end": 9}]
    assert answer["lacks"] == ["bicycle"]
    (answer,) = match_query(comparer, "photo photographers", ["both"])
    assert [(word["as"], word["field"]) for word in answer["matched"]] == [("photo", "title"), ("photographer", "text")]
    (answer,) = match_query(comparer, "automobile Resumes sick", ["driver"])
    assert [(word["as"], word["field"]) for word in answer["matched"]] == [
        ("motor vehicle", "text"),
        ("ill", "title"),
        ("Résumé", "title"),
    ]


@pytest.mark.parametrize(
    ("query", "matched", "lacks"),
    [
        ("the of", [("the", "The"), ("of", "of")], []),
        ("x", [], ["x"]),
        ("🚀", [], []),
        ('"organ" AND (old* OR -church)', [("old", "old"), ("church", "church"), ("organ", "organ")], []),
        ("organ " + "x" * 200, [("organ", "organ")], ["x" * 200]),
        ("שלום die Orgel", [], ["שלום", "die", "Orgel"]),
    ],
)
def test_any_query_gets_a_sensible_answer(
    comparer: Comparer, query: str, matched: list[tuple[str, str]], lacks: list[str]
) -> None:
    (answer,) = match_query(comparer, query, ["organ"])
    assert [(word["word"], word["as"]) for word in answer["matched"]] == matched and answer["lacks"] == lacks


def test_of_a_very_long_query_the_first_words_are_looked_up_in_the_source(comparer: Comparer) -> None:
    words = ["organizer", *(f"word{n}" for n in range(10_000))]
    (answer,) = match_query(comparer, " ".join(words), ["organ"])
    assert [word["as"] for word in answer["matched"]] == ["organ"] and answer["lacks"] == words[1:500]


def test_a_document_that_the_source_changed_or_lost_is_matched_in_our_copy(
    source: AttachedSource, comparer: Comparer, documents: dict[str, dict[str, Any]]
) -> None:
    source.put_document("organ", {"headline": "Bicycles", "body": "A church"})
    source.client.delete(index=source.index, id="both", refresh=True)
    try:
        changed, lost = match_query(comparer, "organs bicycles organizer photos", ["organ", "both"])
    finally:
        source.put_documents({id: documents[id] for id in ("organ", "both")})
    assert [word["as"] for word in changed["matched"]] == ["organ"]
    assert changed["lacks"] == ["bicycles", "organizer", "photos"]
    assert [(word["word"], word["as"], word["field"]) for word in lost["matched"]] == [("photos", "photo", "title")]


def test_a_source_that_cannot_be_asked_leaves_our_copy_to_answer(
    comparer: Comparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indexer.engines.elasticsearch import query_builder

    def build_refused_search(*_: object) -> dict[str, Any]:
        return {"query": {"no such query": {}}}

    monkeypatch.setattr(query_builder, "build_word_search", build_refused_search)
    (answer,) = match_query(comparer, "organs organizer", ["organ"])
    assert [word["as"] for word in answer["matched"]] == ["organ"] and answer["lacks"] == ["organizer"]


def test_a_caller_never_learns_of_words_in_a_document_that_was_closed_in_the_source(
    source: AttachedSource, comparer: Comparer, documents: dict[str, dict[str, Any]]
) -> None:
    guests = frozenset({"guests"})
    assert match_query(comparer, "organizer", ["organ"], guests)[0]["lacks"] == []
    source.put_document("organ", documents["organ"] | {"groups": ["staff"]})
    try:
        assert match_query(comparer, "organizer", ["organ"], guests)[0]["lacks"] == ["organizer"], "our copy"
        assert match_query(comparer, "organizer", ["organ"])[0]["lacks"] == []
    finally:
        source.put_document("organ", documents["organ"])


@pytest.fixture
def root(source: AttachedSource, tmp_path: Path) -> Iterator[AppClient]:
    keys = IssuedKeys(tmp_path / "keys.toml")
    keys.issue("root", ("read", "compare"), groups=("*",))
    with source.open_engine() as engine:
        app = make_app_client(engine, keys)
        yield app.with_key(keys.secrets["root"])
        app.close()


def test_search_and_explanations_tell_the_same_words(root: AppClient) -> None:
    query = "good photo organizer"
    found = root.post("/v1/news/_search", {"query": {"multi_match": {"query": query}}, "size": 20}).json
    whys = {hit["_id"]: hit["why"] for hit in found["hits"]["hits"]}
    page = {"index": "news", "query": query, "hits": list(whys)}
    for entry in root.post("/v1/explanations", page).json["explanations"]:
        why = whys[entry["hit"]]
        assert all(why[name] == entry[name] for name in ("matched", "lacks", "href"))
        assert all(why[name] == entry[name][:3] for name in ("common", "distinct"))
    partly = [why for why in whys.values() if why["lacks"]]
    assert partly and all(why["matched"] for why in whys.values())
