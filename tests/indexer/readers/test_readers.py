"""Readers: every format gives the same documents, and a bad record never stops the rest."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from indexer.dates import normalize_date
from indexer.documents import Document
from indexer.errors import BadInput, BadParameter
from indexer.readers.byte_streams import read_bounded_lines
from indexer.readers.markup import parse_html, parse_markdown, parse_plain_text
from indexer.readers.registry import read_documents
from indexer.readers.rejects import Rejects
from indexer.records import FieldMap


def read_file(
    path: Path, maps: Sequence[str] = (), max_bytes: int = 10_000
) -> tuple[list[Document], list[tuple[int, str]]]:
    rejects = Rejects()
    documents = list(read_documents([str(path)], rejects, FieldMap.parse(maps), max_bytes))
    return documents, [(reject.line, reject.reason) for reject in rejects.examples]


def write_json_lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_json_lines_fill_every_field_and_keep_the_rest_as_extra(tmp_path: Path) -> None:
    record = {
        "id": 7,
        "title": " On bees ",
        "text": "Bees dance.",
        "date": "2006-05",
        "url": "https://bees.example/7",
        "facets": {"topic": ["bees", "dance"], "year": 2006},
        "acl": ["staff"],
        "pages": 12,
    }
    documents, rejected = read_file(write_json_lines(tmp_path / "a.jsonl", record))
    assert rejected == []
    assert documents == [
        Document(
            id="7",
            title="On bees",
            text="Bees dance.",
            date="2006-05-01",
            url="https://bees.example/7",
            facets={"topic": ("bees", "dance"), "year": ("2006",)},
            acl=("staff",),
            extra={"pages": 12},
        )
    ]


def test_gzipped_lines_and_csv_and_tsv_give_the_same_documents(tmp_path: Path) -> None:
    plain = write_json_lines(tmp_path / "a.jsonl", {"id": "1", "title": "t", "text": 'says "hi",\nthen leaves'})
    zipped = tmp_path / "a.jsonl.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    comma = tmp_path / "a.csv"
    comma.write_text('\ufeffid,title,text\n1,t,"says ""hi"",\nthen leaves"\n')
    tab = tmp_path / "a.tsv"
    tab.write_text('id\ttitle\ttext\n1\tt\t"says ""hi"",\nthen leaves"\n')
    expected = read_file(plain)
    assert expected[1] == []
    assert [read_file(path) for path in (zipped, comma, tab)] == [expected] * 3


def test_standard_input_is_read_as_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BufferedReader(io.BytesIO(b'{"text": "one"}\n'))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data))
    assert [d.id for d in read_documents(["-"], Rejects())] == ["stdin-1"]


def test_an_id_that_is_a_long_number_keeps_its_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1234567890123456789012345, "text": "one"}\n')
    assert [document.id for document in read_file(path)[0]] == ["1234567890123456789012345"]


def test_a_folder_gives_one_document_a_page_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.txt").write_text("unseen")
    (tmp_path / "sub" / "b.html").write_text(
        "<title>B page</title><body><p>Some <b>bold</b> words</p><script>no</script>"
    )
    (tmp_path / "a.md").write_text("# The A page\n\nRead [this](https://x.example).\n```\ncode\n```\n")
    (tmp_path / "c.txt").write_text("plain")
    (tmp_path / "d.bin").write_text("unread")
    documents, rejected = read_file(tmp_path)
    assert rejected == []
    assert [(d.id, d.title) for d in documents] == [("a.md", "The A page"), ("c.txt", ""), ("sub/b.html", "B page")]
    assert documents[2].text == "Some bold words"
    assert "code" not in documents[0].text and "Read this." in documents[0].text


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{broken", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"id": "x"}', "no text"),
        (b'{"id": "x", "text": "  "}', "the text is empty"),
        (b'{"id": "x", "text": {"a": 1}}', "text is not text"),
        (b'{"id": "x", "text": "a\\u0000b"}', "NUL"),
        (b'{"id": "x\\n", "text": "fine"}', ""),
        (b'{"id": "x\\ty", "text": "fine"}', "control characters"),
        (b'{"id": "x", "text": "\xff"}', "UTF-8"),
        (b'{"id": "x", "text": "\\ud800"}', "not JSON"),
        (b'{"id": "x", "text": "fine", "date": "soon"}', "date"),
        (b'{"id": "x", "text": "fine", "acl": {"a": 1}}', "acl"),
        (b'{"id": "x", "text": "fine", "facets": [1]}', "facets"),
        (b'{"id": "x", "text": "fine", "deep": ' + b"[" * 300 + b"]" * 300 + b"}", "nested more than 100 levels"),
        (b'{"id": "x", "text": "fine", "deep": ' + b"[" * 90 + b"]" * 90 + b"}", ""),
        (b'{"id": "first", "text": "again"}', "is a duplicate"),
        (b'{"id": "' + b"i" * 600 + b'", "text": "fine"}', "1 to 512 bytes"),
        (b'{"id": "x", "text": "' + b"long " * 3000 + b'"}', "max_document_bytes"),
        (b'{"id": "x", "text": "fine", "notes": ["' + b"long " * 3000 + b'"]}', "max_document_bytes"),
        (b'{"id": "x", "text": "fine", "title": "' + b"long " * 8000 + b'"}', "the title has"),
        (b'{"id": "x", "text": "fine", "date": "2024-02-31"}', "date"),
        (b'{"id": "x", "text": "fine", "n": 1234567890123456789012345}', "more than 64 bits"),
        (b'{"id": "x", "text": "fine", "n": ' + b"9" * 5000 + b"}", "not JSON: number is infinity"),
        (b'{"id": "x", "text": "' + b"long " * 30000 + b'"}', "more than 80,000 bytes"),
    ],
)
def test_a_bad_record_is_rejected_with_its_line_and_the_rest_goes_on(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": "first", "text": "one"}\n' + line + b'\n\n{"id": "last", "text": "two"}')
    documents, rejected = read_file(path)
    ids = [d.id for d in documents]
    assert (ids[0], ids[-1]) == ("first", "last")
    if reason:
        assert len(ids) == 2
        assert [(number, reason in why) for number, why in rejected] == [(2, True)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"2,only two", "malformed row: 2 cells where the header has 3"),
        (b'2,t,"quoted"after', "malformed row"),
        (b"2,t,\xff\xfe", "not valid UTF-8"),
        (b"2,t,", "the text is empty"),
        (b"2,t," + b"x" * 20_000, "malformed row: field larger"),
        (b"2,t,a\0b", "NUL"),
    ],
)
def test_a_bad_row_is_rejected_with_its_line_and_the_rest_goes_on(tmp_path: Path, row: bytes, reason: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,title,text\n1,t,"two\nlines"\n' + row + b"\n3,t,last\n")
    documents, rejected = read_file(path)
    assert [d.id for d in documents] == ["1", "3"]
    assert [(number, reason in why) for number, why in rejected] == [(4, True)]


def test_an_unbalanced_quote_costs_at_most_the_largest_document(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"never closed\n' + "".join(f"{i},fine words here\n" for i in range(2, 5000)))
    documents, rejected = read_file(path, max_bytes=2000)
    assert len(rejected) >= 1
    assert len(documents) > 4500


def test_a_broken_gzip_keeps_what_came_before_and_says_so(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({"text": f"words {i} " + str(i**50)}).encode() + b"\n" for i in range(3000))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines)[:-2000])
    documents, rejected = read_file(path)
    assert 0 < len(documents) < 3000
    assert "gzip" in rejected[0][1]


def test_fields_can_be_mapped_from_other_names_and_nested_ones(tmp_path: Path) -> None:
    record = {"meta": {"headline": "T"}, "body": "B", "category": "x; y", "date": "whenever"}
    path = write_json_lines(tmp_path / "a.jsonl", record)
    documents, rejected = read_file(path, ["title=meta.headline", "text=body", "facets.topic=category", "date="])
    assert rejected == []
    document = documents[0]
    assert (document.title, document.text, document.date) == ("T", "B", None)
    assert document.facets == {"topic": ("x", "y")}


@pytest.mark.parametrize("option", ["title", "colour=red", "facets.=x"])
def test_a_bad_field_map_is_refused_with_a_fix(option: str) -> None:
    with pytest.raises(BadParameter, match="write FIELD=NAME"):
        FieldMap.parse([option])


def test_unreadable_input_is_reported_before_the_first_document(tmp_path: Path) -> None:
    good = write_json_lines(tmp_path / "a.jsonl", {"text": "one"})
    with pytest.raises(BadInput, match="no such file"):
        read_documents([str(good), str(tmp_path / "gone.jsonl")], Rejects())
    (tmp_path / "a.xlsx").write_text("")
    with pytest.raises(BadInput, match="unknown file type"):
        read_documents([str(tmp_path / "a.xlsx")], Rejects())
    (tmp_path / "b.csv").write_text("id,body\n1,x\n")
    with pytest.raises(BadInput, match=r"no column 'text' .*--map text=COLUMN"):
        read_file(tmp_path / "b.csv")
    (tmp_path / "c.json").write_text('[{"text": "x"}]')
    with pytest.raises(BadInput, match="jq -c"):
        read_file(tmp_path / "c.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"has no \.txt"):
        read_file(tmp_path / "empty")


def test_rejects_are_written_to_their_file(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "a.jsonl", {"id": "x"}, {"text": "fine"})
    with Rejects(tmp_path / "rejects.jsonl") as rejects:
        assert len(list(read_documents([str(path)], rejects))) == 1
    saved = [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text().splitlines()]
    assert saved == [{"source": str(path), "line": 1, "reason": "no text"}]
    with Rejects(tmp_path / "rejects.jsonl"):
        pass
    assert not (tmp_path / "rejects.jsonl").exists()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2006", "2006-01-01"),
        (2006, "2006-01-01"),
        ("2006-05", "2006-05-01"),
        ("2006/5/3", "2006-05-03"),
        ("20060503", "2006-05-03"),
        ("2006-05-03", "2006-05-03"),
        ("2006-05-03T10:00:00Z", "2006-05-03T10:00:00"),
        ("2006-05-03 10:00:00+02:00", "2006-05-03T08:00:00"),
        (1146650400, "2006-05-03T10:00:00"),
        ("1146650400000", "2006-05-03T10:00:00"),
    ],
)
def test_dates_are_normalized_to_days_or_utc_times(value: object, expected: str) -> None:
    assert normalize_date(value) == expected


@pytest.mark.parametrize("value", ["", "soon", "2006-13", "2006-02-30", True, [], 10**30, "NaN"])
def test_a_bad_date_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        normalize_date(value)


def test_an_overlong_line_is_never_held_in_memory() -> None:
    class Counting(io.BytesIO):
        longest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.longest = max(self.longest, len(line))
            return line

    stream = Counting(b"short\n" + b"x" * 5_000_000 + b"\nlast")
    lines = list(read_bounded_lines(stream, 100))
    assert lines == [(1, b"short"), (2, None), (3, b"last")]
    assert stream.longest <= 1 << 20


def test_html_blocks_end_paragraphs_and_hidden_parts_are_dropped() -> None:
    title, text = parse_html(
        "<head><title>A &amp; B</title><style>x{}</style><body><h1>One</h1>two<br>three<!-- no -->"
    )
    assert title == "A & B"
    assert text.split() == ["One", "two", "three"]
    assert "\n" in text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a</p><p>b", "a\n\nb"),
        ("a < b and <b>c</b>d", "a < b and cd"),
        ("""<a title="x > y" href='>'>in</a> <p don't>out""", "in\n\nout"),
        ('<p title=a"b>in', "in"),
        ("a<!-- b > c -- d -->e<!-->f<!--g", "aef"),
        ("a<!DOCTYPE x>b<?php y ?>c</ z>d<![CDATA[e]]>f", "abcdf"),
        ("a<ScRiPt>if (x</b>y) { '</scriptx>' }</sCrIpT >b<style>c", "ab"),
        ("a<svg>b<svg>c</svg>d</svg>e<svg>f</head>g", "ae"),
        ("<head><svg>a</head>b<template>c<body>d", "bd"),
        ("x<textarea><p>y</textarea>z", "x<p>yz"),
        ("x &lt;p&gt; &amp &#65; &#x42; &nosuch; &#" + "1" * 5000 + ";", "x <p> & A B &nosuch; \ufffd"),
        ("a <b never closed > b <c d='", "a b"),
    ],
)
def test_html_is_read_as_browsers_do(page: str, text: str) -> None:
    assert parse_html(page) == ("", text)


def test_the_first_title_of_a_page_contains_no_tags() -> None:
    page = "<head><title>A <b> &lt;C&gt;</title></head><body>d<svg><title>e</title></svg>f"
    assert parse_html(page) == ("A <b> <C>", "df")


def test_markdown_links_code_and_comments_are_read_once_closed() -> None:
    page = """# About C#
[![build](a.png)](b.html) [wiki](https://x.example/a_(b)) [open](never
<!-- hidden --> a --> b <!-- left
`code` ``more`` **strong *and* more** **left open
```python
dropped
```
~~~
kept: it is never closed"""
    title, text = parse_markdown(page)
    assert title == "About C#"
    assert text.splitlines() == [
        *("About C#", "", "build wiki [open](never", "a --> b <!-- left"),
        *("code more strong *and* more **left open", "~~~", "kept: it is never closed"),
    ]


def test_markdown_loses_its_marks_but_not_its_words() -> None:
    title, text = parse_markdown(
        "---\nx: 1\n---\n## Big *news* ##\n**bold** and `code` ![pic](a.png)\n~~~\nx\n~~~\nend"
    )
    assert title == "Big *news*"
    assert text.split() == ["Big", "*news*", "bold", "and", "code", "pic", "end"]


@pytest.mark.parametrize(
    ("content", "title", "text"),
    [
        ("On bees\n\nBees dance.\n", "On bees", "Bees dance."),
        ("Bees dance.\nThey do.\n", "", "Bees dance.\nThey do.\n"),
        ("Bees dance.\n\n", "", "Bees dance.\n\n"),
        (f"{'Bees ' * 40}\n\nDance.", "", f"{'Bees ' * 40}\n\nDance."),
    ],
)
def test_a_short_line_that_stands_alone_is_the_title_of_a_plain_text(content: str, title: str, text: str) -> None:
    assert parse_plain_text(content) == (title, text)


@pytest.mark.parametrize("name", ["ACL", "Acl", "acls", "_acl"])
def test_a_misspelled_acl_is_rejected_and_not_made_public(tmp_path: Path, name: str) -> None:
    record = {"id": "a", "text": "On bees", name: ["staff"]}
    path = write_json_lines(tmp_path / "a.jsonl", record)
    documents, ((_, reason),) = read_file(path)
    assert documents == [] and repr(name) in reason and f"--map acl={name}" in reason
    assert [one.acl for one in read_file(path, [f"acl={name}"])[0]] == [("staff",)]
    assert [(one.acl, one.extra) for one in read_file(path, ["acl="])[0]] == [((), {name: ["staff"]})]
    write_json_lines(path, record | {"acl": ["board"]}, {"id": "b", "text": "On bees", name: None})
    assert [one.acl for one in read_file(path)[0]] == [("board",), ()]
