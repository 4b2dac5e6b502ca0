"""Author keywords as gold labels, and pairs of documents that share some."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from indexer.errors import BadInput
from indexer.text.lemmatizer import Lemmatizer
from worker.evaluation.gold import (
    GoldDocument,
    draw_keyword_pairs,
    draw_random_pairs,
    label_pair,
    read_background_documents,
    read_gold_documents,
    read_json_lines,
)

LEMMATIZER = Lemmatizer("en")


def write_json_lines(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def read_gold(folder: Path, *rows: tuple[str, str, str, list[str]]) -> list[GoldDocument]:
    fields = [dict(zip(("id", "title", "text", "keyphrases"), row, strict=True)) for row in rows]
    return read_gold_documents([write_json_lines(folder / "gold.jsonl", *fields)], LEMMATIZER)


def test_keywords_are_labelled_as_by_hand(tmp_path: Path) -> None:
    a, b = read_gold(
        tmp_path,
        (
            "a", "On web graphs", "Link analysis ranks pages. Random walks, spam filters. A mail corpus.",
            ["web graph", "Link Analysis", "hidden topic", "random walk", "mail corpora", "crawling", "page rank"],
        ),
        (
            "b", "Web graphs again", "A topic model. The random walk. Spam.",
            ["web graphs", "link analysis", "hidden topics", "topic models", "spam filter", "spam"],
        ),
    )  # fmt: skip
    assert label_pair(a, b).labels == {
        "web graph": "surface",
        "link analysis": "semantic",
        "mail corpus": "distinct_a",
        "topic model": "distinct_b",
    }
    # hidden topic: in neither text; random walk: b's text contains it too; spam filter and spam: a's text contains them
    # crawling, page rank: a's own text does not hold them ("ranks pages" is another order)
    assert label_pair(b, a).labels == {
        "web graph": "surface",
        "link analysis": "semantic",
        "mail corpus": "distinct_b",
        "topic model": "distinct_a",
    }


def test_a_keyword_is_not_found_across_a_boundary_or_inside_a_word(tmp_path: Path) -> None:
    (document,) = read_gold(tmp_path, ("a", "Web", "Graphs. Metaweb graph, web; graph", []))
    assert document.contains("graph") and document.contains("web")
    assert not document.contains("web graph")
    assert not document.contains("eta")


def test_documents_without_text_are_skipped_and_those_without_keywords_are_not(tmp_path: Path) -> None:
    path = write_json_lines(
        tmp_path / "gold.jsonl.gz",
        {"id": 1, "title": "T", "text": "", "keyphrases": ["x"]},
        {"id": 2, "title": None, "text": "Web graph", "keyphrases": None},
        {"id": 3, "text": "Web graph"},
    )
    documents_read = read_gold_documents([path], LEMMATIZER)
    assert [(document.document.id, document.keywords) for document in documents_read] == [
        ("2", frozenset()),
        ("3", frozenset()),
    ]


def read_many(folder: Path, count: int = 40) -> list[GoldDocument]:
    """Read documents with a keyword that all share and one that two share."""
    rows = [
        (f"d{n}", "", f"common phrase; rare phrase{n // 2}", ["common phrase", f"rare phrase{n // 2}"])
        for n in range(count)
    ]
    return read_gold(folder, *rows)


def test_no_keyword_dominates_the_pairs(tmp_path: Path) -> None:
    pairs = draw_keyword_pairs(read_many(tmp_path), 15, seed=1)
    assert len(pairs) == 15
    shared = Counter(keyword for pair in pairs for keyword in pair.labels if keyword != "common phrase")
    assert max(shared.values()) <= 2
    assert sum(len(pair.labels) == 2 and "surface" in pair.labels.values() for pair in pairs) > 10


def test_no_pair_is_drawn_twice_and_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    documents = read_many(tmp_path, 8)
    for draw in (draw_keyword_pairs, draw_random_pairs):
        pairs = [frozenset((p.a.document.id, p.b.document.id)) for p in draw(documents, 20, 3)]
        assert len(set(pairs)) == len(pairs) > 10
        assert all(len(pair) == 2 for pair in pairs)
        assert draw(documents, 20, 3) == draw(documents, 20, 3) != draw(documents, 20, 4)


def test_no_more_pairs_are_drawn_than_there_are(tmp_path: Path) -> None:
    assert len(draw_random_pairs(read_many(tmp_path, 3), 50, 1)) == 3
    assert draw_random_pairs(read_many(tmp_path, 1), 5, 1) == []
    assert draw_keyword_pairs([], 5, 1) == []


def test_a_shared_keyword_missing_from_both_texts_draws_no_pair(tmp_path: Path) -> None:
    documents = read_gold(tmp_path, ("a", "", "nothing", ["web graph"]), ("b", "", "at all", ["web graph"]))
    assert draw_keyword_pairs(documents, 5, 1) == []


def test_the_background_leaves_out_documents_with_the_title_of_a_gold_document(tmp_path: Path) -> None:
    documents = read_gold(tmp_path, ("a", "Web Graphs", "text", []))
    path = write_json_lines(
        tmp_path / "background.jsonl",
        {"id": "x", "title": "web graph", "text": "the same paper"},
        {"id": "y", "title": "Other graphs", "text": "another", "date": 2011},
        {"id": "z", "text": "untitled"},
    )
    documents_read = list(read_background_documents([path], documents, LEMMATIZER))
    assert [(document.id, document.date) for document in documents_read] == [("y", "2011"), ("z", None)]


@pytest.mark.parametrize("content", [b"{", b"[1]\n", b'"x"\n', b'{"title": "no id"}\n', b"\xff\xfe"])
def test_malformed_json_lines_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"cannot read .*broken\.jsonl"):
        list(read_json_lines(path))


def test_a_missing_or_truncated_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read"):
        list(read_json_lines(tmp_path / "missing.jsonl"))
    complete = write_json_lines(tmp_path / "whole.jsonl.gz", *({"id": n, "text": "x" * n} for n in range(200)))
    (tmp_path / "cut.jsonl.gz").write_bytes(complete.read_bytes()[:-20])
    with pytest.raises(BadInput, match="cannot read"):
        list(read_json_lines(tmp_path / "cut.jsonl.gz"))


def test_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "gaps.jsonl"
    path.write_text('\n{"id": 1}\n   \n{"id": 2}\n\n')
    assert [row["id"] for row in read_json_lines(path)] == [1, 2]
