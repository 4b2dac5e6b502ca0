"""A query meets a document whatever the case and the hyphens of either, and evidence shows what is written."""

from __future__ import annotations

import pytest

from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.engines.search_types import Selection
from indexer.indexing.build import build_index
from indexer.indexing.update import add_documents
from indexer.model.query_words import list_lemmas, split_query
from tests.support.comparisons import compare_sides
from worker.comparer import Comparer

INDEX = "spellings"
TOPICS = ["gardens with roses", "boats on the lake", "bread from the oven", "songs of the choir"]
TEXTS = [
    "Our servers run on AWS. The bill of AWS grows with each GPU, and GPUs are dear.",
    "Her laptop has Wi-Fi. The Wi-Fi of the café is slow, the WiFi at home is not, and wifi is everywhere.",
    "Every email is read. An email is answered; e-mails wait, and each email is kept.",
    "Multi-task nets learn by multi-task training, and a multitask net is a net.",
]


@pytest.fixture
def spellings(engine: Engine) -> Engine:
    """An index of a few texts among others, each three times."""
    documents = [Document(f"t{n}-{copy}", text=text) for n, text in enumerate(TEXTS) for copy in range(3)]
    documents += [Document(f"o{n}", text=f"A note about {TOPICS[n % 4]}, number {n}.") for n in range(24)]
    build_index(documents, engine, INDEX, processes=1)
    return engine


def read_common(engine: Engine, id: str, query: str) -> dict[str, list[str]]:
    """Return the phrases that a document and a query share, each with what the document's evidence marks."""
    texts = {document.document.id: document.document.text for document in engine.open_reader(INDEX).scan()}
    answer = compare_sides(Comparer(engine), id, f"query:{query}", index=INDEX).to_dict()
    return {
        entry["phrase"]: [texts[id][s["start"] : s["end"]] for s in entry["evidence"] if s["id"] == id]
        for entry in answer["common"]
        if entry["kind"] == "shared"
    }


@pytest.mark.parametrize(
    ("id", "query", "phrase", "written"),
    [
        ("t0-0", "aws", "aws", ["AWS", "AWS"]),
        ("t0-0", "Gpus", "gpu", ["GPU", "GPUs"]),
        ("t1-0", "wifi", "wifi", ["Wi-Fi", "Wi-Fi", "WiFi"]),
        ("t1-0", "wi-fi", "wifi", ["Wi-Fi", "Wi-Fi", "WiFi"]),
        ("t2-0", "E-MAIL", "email", ["email", "email", "e-mails"]),
    ],
)
def test_a_query_shares_what_the_document_writes_in_another_way(
    spellings: Engine, id: str, query: str, phrase: str, written: list[str]
) -> None:
    assert read_common(spellings, id, query) == {phrase: written}


def test_searches_and_added_documents_follow_the_same_rule(spellings: Engine) -> None:
    add_documents([Document("new", text="no capitals: aws, gpus and e-mail")], spellings, INDEX)
    reader = spellings.open_reader(INDEX)
    for query in ("AWS", "gpu", "emails"):
        hits = reader.search(Selection(words=list_lemmas(split_query(query, reader.model))), size=20).hits
        assert "new" in {hit.id for hit in hits} and len(hits) == 4


@pytest.mark.parametrize(
    ("id", "query", "matched", "lacks"),
    [
        ("t0-0", "aws dvds", [("aws", "AWS")], ["dvds"]),
        ("t2-0", "E-Mails", [("E-Mails", "email")], []),
        ("t3-0", "Multitask NETS", [("Multitask", "Multi-task"), ("NETS", "nets")], []),
        ("t3-0", "task", [("task", "task")], []),
    ],
)
def test_matched_words_are_told_as_both_sides_write_them(
    spellings: Engine, id: str, query: str, matched: list[tuple[str, str]], lacks: list[str]
) -> None:
    answer = compare_sides(Comparer(spellings), id, f"query:{query}", index=INDEX).to_dict()
    assert [(word["word"], word["as"]) for word in answer["matched"]] == matched
    assert answer["lacks"] == lacks
