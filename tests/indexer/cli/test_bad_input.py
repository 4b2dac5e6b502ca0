"""Bad input gives one line that says what is wrong and what to do, status 2, and leaves no half-made index."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.cli.engine_hints import find_similar_names
from tests.support.command_line import RunCommand, require_one_line
from tests.support.http_server import OldElasticsearch, serve_in_thread

CLOSED_PORT = "http://127.0.0.1:9"
PROGRESS_LINE = "collecting and indexing documents ...\n"


@pytest.fixture
def bad_files(tmp_path: Path) -> Path:
    """A folder with a file for everything that can be wrong with one."""
    (tmp_path / "nothing").mkdir()
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "broken.jsonl").write_text("not json\n")
    (tmp_path / "nameless.jsonl").write_text('{"id": "a", "body": "A honey bee."}\n')
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(128, 256)))
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "columns.csv").write_text("a,b\n1,2\n")
    (tmp_path / "page.docx").write_text("A honey bee.")
    (tmp_path / "one.jsonl").write_text('{"id": "a", "text": "A honey bee."}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["indx"], "no command 'indx'; did you mean index? see phrasecom --help"),
        (["index"], "Missing argument 'PATH...'; see phrasecom index --help"),
        (["index", "one.jsonl"], "Missing option '--index'"),
        (["index", "gone.jsonl", "--index", "a"], "no such file or folder: gone.jsonl; check the path"),
        (["index", "nothing", "--index", "a"], "nothing has no .txt, .md, .html, .htm files; name another folder"),
        (["index", "empty.jsonl", "--index", "a"], "no documents found; name files or a folder with documents"),
        (["index", "broken.jsonl", "--index", "a"], "the first (broken.jsonl, line 1): not JSON"),
        (["index", "broken.jsonl", "--index", "a"], "; fix the records"),
        (["index", "binary.jsonl", "--index", "a"], "not valid UTF-8; fix the records"),
        (["index", "cut.jsonl.gz", "--index", "a"], "the gzip stream is corrupt"),
        (["index", "nameless.jsonl", "--index", "a"], "no text; name the text field with --map text=NAME"),
        (["index", "columns.csv", "--index", "a"], "has no column 'text' (columns: a, b); name it with --map"),
        (["index", "page.docx", "--index", "a"], "unknown file type: page.docx; use .jsonl"),
        (["index", "one.jsonl", "--index", "A b"], "is not a valid index name; use up to 100 lower-case letters"),
        (["index", "one.jsonl", "--index", "a", "--map", "x"], "cannot read --map 'x'; write FIELD=NAME"),
        (["index", "one.jsonl", "--index", "a", "--k", "0"], "--k is '0'; it must be a whole number, at least 1"),
        (["index", "one.jsonl", "--index", "a", "--language", "English"], "it must be text, like en"),
        (["index", "one.jsonl", "--index", "a", "--engine", "one.jsonl"], "Not a directory; choose a folder with"),
        (["index", "one.jsonl", "--index", "a", "--engine", "/proc/none"], "choose a folder with --engine"),
        (["index", "one.jsonl", "--index", "a", "--engine", "ftp://x"], "is not an engine; give a folder, or a URL"),
        (
            ["index", "one.jsonl", "--index", "a", "--engine", CLOSED_PORT],
            "does not answer (Connection refused); start it",
        ),
        (
            ["index", "broken.jsonl", "one.jsonl", "--index", "a", "--rejects", "one.jsonl/x"],
            "cannot write rejected records to one.jsonl/x: Not a directory; name another file with --rejects",
        ),
        (["attach", "nonsense", "--index", "a"], "'nonsense' does not name an index; write http://HOST:9200/INDEX"),
        (["attach", f"{CLOSED_PORT}/news", "--index", "a"], "does not answer (Connection refused)"),
        (["add", "one.jsonl", "--index", "a"], "no index named 'a'"),
        (["delete", "--index", "a"], "give the ids to delete, or --all"),
        (["delete", "--all", "--index", "a"], "no index named 'a'"),
        (["refresh", "--index", "a"], "no index named 'a'"),
        (["export", "--index", "a", "--output", "x.npz"], "no index named 'a'"),
        (["export", "--index", "a"], "Missing option '--output'"),
        (["phrases", "--index", "a"], "no index named 'a'"),
        (["search", "x", "--index", "a"], "no index named 'a'"),
        (["search", "x", "--index", "a", "--size", "0"], "Invalid value for '--size'"),
        (["search", "x", "--index", "a", "--engine", CLOSED_PORT], "does not answer"),
        (["search", "x", "--index", "a", "--engine", "http://x:port"], "is not an Elasticsearch URL"),
        (["compare", "a", "b", "--index", "a"], "no index named 'a'"),
        (["compare", "a", "--index", "a"], "Missing argument 'B'"),
        (["compare", "a", "b", "--index", "a", "--preset", "best"], "it must be one of default, paper"),
        (["compare", "a", "b", "--index", "a", "--graph", "best"], "Invalid value for '--graph'"),
        (["evaluate", "masked", "--index", "a"], "no index named 'a'"),
        (["evaluate", "keywords", "--keyphrases", "gone"], "File 'gone' does not exist"),
        (["evaluate", "keywords", "--keyphrases", "broken.jsonl"], "give a JSON lines file"),
        (["evaluate", "phrases", "--corpus", "one.jsonl", "--keyphrases", "broken.jsonl"], "give a JSON lines file"),
        (
            ["evaluate", "keywords", "--keyphrases", "one.jsonl", "--part", "all"],
            "no two documents share a keyword; give",
        ),
        (["evaluate", "keywords", "--keyphrases", "one.jsonl", "--method", "best"], "no method named 'best'; choose"),
        (["evaluate", "keywords", "--keyphrases", "one.jsonl", "--preset", "best"], "'best' is not one of 'default'"),
        (["evaluate", "fidelity", "--keyphrases", "one.jsonl"], "no two documents share a keyword; give"),
        (
            ["evaluate", "phrases", "--corpus", "one.jsonl", "--keyphrases", "one.jsonl", "--labels", "broken.jsonl"],
            "cannot read the labels in broken.jsonl; write one line per phrase: phrase, tab, 1 or 0",
        ),
        (["evaluate", "all", "--data", "nothing"], "set --data to the folder with the data sets"),
        (["bench", "--rows", "best"], "no row named 'best'; use one of"),
        (["bench", "--quick", "--plot", "nowhere/x.svg"], "cannot write nowhere/x.svg"),
        (["bench", "--quick", "--elasticsearch", "x"], "'x' is not an Elasticsearch URL; write http://HOST:9200"),
        (["bench", "--quick", "--elasticsearch", CLOSED_PORT], "does not answer"),
        (["worker", "--redis-url", "nonsense"], "--redis-url is (hidden); it must be a URL, like redis://"),
        (["worker", "--redis-url", "http://x"], "--redis-url is (hidden); it must be a URL, like redis://"),
        (["worker", "--queue", "x"], "Invalid value for '--queue'"),
        (["serve", "--inline", "--port", "99999"], "it must be a whole number, at least 0, at most 65 535"),
        (["serve", "--inline", "--host", "0.0.0.0"], "without API keys, the server listens on this machine only"),
        (["serve", "--inline", "--keys-file", "gone.toml"], "create it with: phrasecom keys add NAME"),
        (["keys", "add", "x"], "no keys_file is set; give --keys-file FILE"),
        (["keys", "add", "X y", "--keys-file", "k.toml"], "'X y' is not a valid key name; use lower-case letters"),
        (["keys", "list", "--keys-file", "broken.jsonl"], "cannot read keys_file 'broken.jsonl'"),
        (["demo", "--corpus", "gone", "--folder", "here", "--port", "0"], "no such file or folder: gone"),
        (["demo", "--elasticsearch", CLOSED_PORT, "--folder", "here", "--port", "0"], "does not answer"),
        (["demo", "--elasticsearch", "x", "--folder", "here", "--port", "0"], "'x' is not an Elasticsearch URL"),
        (["demo", "--folder", "one.jsonl/x", "--port", "0"], "Not a directory; choose another with --folder"),
    ],
)
def test_an_error_is_one_line_that_names_the_fix(
    phrasecom: RunCommand, bad_files: Path, arguments: list[str], line: str
) -> None:
    before = set(bad_files.iterdir())
    status, out, err = phrasecom(*arguments)
    assert (status, out) == (2, "")
    assert line in require_one_line(err.removeprefix(PROGRESS_LINE))
    left = {path.name for path in set(bad_files.iterdir()) - before}
    assert left <= {"engine", "a.rejects.jsonl"}
    assert not (bad_files / "engine" / "a").exists()


def test_a_bare_group_shows_its_help(phrasecom: RunCommand) -> None:
    for arguments in ([], ["keys"], ["evaluate"]):
        status, out, err = phrasecom(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("Usage: phrasecom") and "Commands:\n" in err


def test_a_bad_side_or_method_is_reported_in_one_line(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff")
    cases = {
        ("nobody", "bees-000"): "no document 'nobody' in index 'made-up'; find ids with: phrasecom search",
        ("two words", "bees-000"): "write 'query:WORDS' or 'text:WORDS' for words, or find ids with: phrasecom search",
        ("seach:bees", "bees-000"): "did you mean 'search:…'? otherwise find ids with: phrasecom search",
        ("text:", "bees-000"): "text is empty",
        ("ids:", "bees-000"): "a set needs at least one id; write ids:ID,ID",
        ("file:gone.txt", "bees-000"): "gone.txt",
        ("file:picture", "bees-000"): "not valid UTF-8; name a text file",
        ("search:zzz", "bees-000"): "matches no document; use fewer words or filters",
        ("search:date:x", "bees-000"): "cannot read the date 'x'; write date:2011-03-11",
        ("bees-000", "bees-003", "--method", "best"): "no method named 'best'; use one of",
        ("bees-000", "bees-003", "--set", "lambda"): "'lambda' is not NAME=VALUE, such as lambda=0.1",
        ("bees-000", "bees-003", "--set", "lambda=x"): "lambda must be a number from 0 to 1e+06, not 'x'",
        ("bees-000", "bees-003", "--set", "mu=1"): "no parameter named 'mu'; use one of alpha,",
        ("bees-000", "bees-003", "--preset", "best"): "--preset is 'best'; it must be one of default, paper",
        ("bees-000", "bees-003", "--json", "--markdown"): "--json and --markdown are mutually exclusive",
    }
    for arguments, line in cases.items():
        status, out, err = phrasecom("compare", *arguments, "--index", index)
        assert (status, out) == (2, "")
        assert line in (err if "--json" in arguments else require_one_line(err)), err


def test_with_json_an_error_is_a_json_object_with_its_code(phrasecom: RunCommand, index: str) -> None:
    cases = {
        ("search", "x", "--index", "made"): "unknown-index",
        ("compare", "nobody", "bees-000", "--index", index): "unknown-document",
        ("compare", "bees-000", "--index", index): "bad-request",
        ("search", "x", "--index", index, "--engine", CLOSED_PORT): "engine-unavailable",
        ("compare", "bees-000", "bees-003", "--index", index, "--method", "best"): "unknown-method",
        ("index", "gone.jsonl", "--index", "a"): "bad-input",
    }
    for arguments, code in cases.items():
        status, out, err = phrasecom(*arguments, "--json")
        assert (status, out, err.count("\n")) == (2, "", 1)
        error = json.loads(err)
        assert (list(error), error["code"]) == (["code", "detail", "fix"], code)
        assert phrasecom(*arguments)[2] == f"phrasecom: {error['detail']}; {error['fix']}\n"


def test_a_word_after_two_dashes_is_no_option(phrasecom: RunCommand) -> None:
    assert require_one_line(phrasecom("search", "--index", "nope", "--", "--json")[2])


def test_an_unknown_index_is_reported_with_the_engine_and_the_existing_indexes(
    phrasecom: RunCommand, index: str, tmp_path: Path
) -> None:
    similar = require_one_line(phrasecom("search", "x", "--index", "madeup", "--engine", "engine")[2])
    assert f"no index named 'madeup' in {tmp_path / 'engine'} (it has made-up); did you mean made-up?" in similar
    assert similar.endswith("build it with: phrasecom index PATH --index madeup --engine engine\n")
    different = require_one_line(phrasecom("search", "x", "--index", "quite-another")[2])
    assert "did you mean" not in different
    assert different.endswith(
        "set --engine to its location, or build it with: phrasecom index PATH --index quite-another\n"
    )
    none = require_one_line(phrasecom("search", "x", "--index", "made-up", "--engine", "a folder")[2])
    assert f"in {tmp_path / 'a folder'} (it has none yet); build it with:" in none
    assert none.endswith("--engine 'a folder'\n")


def test_among_many_indexes_only_similar_names_are_suggested(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    for number in range(9):
        folder = tmp_path / "engine" / f"other-{number}"
        folder.mkdir()
        (folder / "current").write_text("x")
    message = require_one_line(phrasecom("search", "x", "--index", "made_up")[2])
    assert "(it has 10 others, see: phrasecom doctor); did you mean made-up?" in message
    assert "other-" not in message


def test_a_server_is_named_without_its_credentials(phrasecom: RunCommand, elasticsearch_url: str) -> None:
    secret = elasticsearch_url.replace("://", "://elastic:hush@")
    message = require_one_line(phrasecom("search", "x", "--index", "nope", "--engine", secret)[2])
    assert f"no index named 'nope' in {elasticsearch_url} (it has " in message
    assert message.endswith(f"build it with: phrasecom index PATH --index nope --engine {elasticsearch_url}\n")
    assert "hush" not in message


def test_similar_names_are_found() -> None:
    names = ["papers", "papers-2020", "news", "demo"]
    assert find_similar_names("paper", names)[0] == "papers"
    assert find_similar_names("dmo", names) == ["demo"]
    assert find_similar_names("zzz", names) == []


def test_a_fix_names_the_engine_that_was_given(phrasecom: RunCommand, index: str) -> None:
    message = require_one_line(phrasecom("compare", "x", "y", "--index", index, "--engine", "engine")[2])
    assert message.endswith("find ids with: phrasecom search WORDS --index made-up --engine engine\n")


DAMAGED_FILES = ("info.json", "model.npz", "delta", "index/meta.json", "graph/starts.npy")


@pytest.mark.parametrize("name", DAMAGED_FILES)
@pytest.mark.parametrize("how", ["gone", "garbled"])
def test_a_damaged_index_is_reported_and_the_fix_it_names_works(
    phrasecom: RunCommand, index: str, tmp_path: Path, name: str, how: str
) -> None:
    damaged = next((tmp_path / "engine" / index).glob(f"*/{name}"))
    damaged.unlink() if how == "gone" else damaged.write_bytes(b"\x00garbled")
    for command in (["search", "x"], ["compare", "bees-000", "bees-003"], ["add", "corpus.jsonl"], ["phrases"]):
        status, out, err = phrasecom(*command, "--index", index)
        assert (status, out) == (2, "")
        message = require_one_line(err)
        assert f"index {index!r} in {tmp_path / 'engine'} is damaged (" in message
        assert message.endswith(f"; rebuild it with: phrasecom index PATH --index {index}\n")
    assert phrasecom("index", "corpus.jsonl", "--index", index)[0] == 0
    assert phrasecom("search", "honey", "--index", index)[0] == 0


def test_an_index_of_another_format_is_reported_and_can_be_rebuilt_or_deleted(
    phrasecom: RunCommand, index: str, tmp_path: Path
) -> None:
    info = next((tmp_path / "engine" / index).glob("*/info.json"))
    info.write_text(info.read_text().replace('"format":1', '"format":99'))
    message = require_one_line(phrasecom("search", "x", "--index", index)[2])
    assert "has format 99, this version reads 1; rebuild it with: phrasecom index PATH --index made-up" in message
    assert phrasecom("delete", "--all", "--index", index) == (0, "index made-up deleted\n", "")


@pytest.fixture
def old_server() -> Iterator[str]:
    """The URL of an Elasticsearch 7."""
    with serve_in_thread(OldElasticsearch) as url:
        yield url


def test_a_server_of_another_version_is_reported(phrasecom: RunCommand, bad_files: Path, old_server: str) -> None:
    for command in (["search", "x"], ["index", "one.jsonl"], ["compare", "a", "b"], ["refresh"]):
        status, out, err = phrasecom(*command, "--index", "a", "--engine", old_server)
        assert (status, out) == (2, "")
        assert require_one_line(err) == f"phrasecom: {old_server} runs version 7.17.0; use Elasticsearch 8 or 9\n"


def test_a_port_in_use_is_reported_before_the_server_starts(phrasecom: RunCommand) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for command in (["serve", "--inline"], ["demo"]):
            status, out, err = phrasecom(*command, "--port", str(port))
            assert (status, out) == (2, "")
            assert f"cannot listen on 127.0.0.1 port {port}: Address already in use; choose" in require_one_line(err)


def run_unprivileged(*arguments: str, **environment: str) -> tuple[int, str]:
    """Return exit status and stderr of a command line to which file permissions apply, even if run by root."""
    drop_capabilities = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    command = [*(drop_capabilities if os.geteuid() == 0 else []), sys.executable, "-m", "indexer", *arguments]
    completed = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert completed.stdout == ""
    return completed.returncode, require_one_line(completed.stderr.removeprefix(PROGRESS_LINE))


@pytest.mark.slow
def test_missing_permissions_are_reported(phrasecom: RunCommand, index: str, tmp_path: Path) -> None:
    secret, locked = tmp_path / "secret.jsonl", tmp_path / "locked"
    secret.write_text('{"id": "a", "text": "A honey bee."}\n')
    secret.chmod(0o000)
    locked.mkdir(mode=0o500)
    engine = tmp_path / "engine"
    inside = [engine, *engine.rglob("*")]
    for path in inside:
        path.chmod(0o500)
    denied = {
        (
            "index",
            "secret.jsonl",
            "--index",
            "a",
            "--engine",
            "new",
        ): "cannot read secret.jsonl: Permission denied; name",
        ("index", "corpus.jsonl", "--index", "a", "--engine", "locked/x"): "Permission denied; choose a folder with",
        ("index", "corpus.jsonl", "--index", index, "--force"): "Permission denied; choose a folder with --engine",
        ("search", "honey", "--index", index): f"cannot read index {index!r} in {engine}: Permission denied; fix",
        ("delete", "--all", "--index", index): "Permission denied; fix the permissions of the folder",
        ("compare", "file:secret.jsonl", "x", "--index", index): "Permission denied; name a readable text file",
        ("keys", "add", "x", "--keys-file", "locked/keys.toml"): "Permission denied; give another --keys-file",
        ("demo", "--folder", "locked/here", "--port", "0", "--corpus", "corpus.jsonl"): "choose another with --folder",
    }
    try:
        for arguments, line in denied.items():
            status, err = run_unprivileged(*arguments)
            assert (status, line in err) == (2, True), err
        status, err = run_unprivileged("search", "x", "--index", "a", PHRASECOM_CONFIG=str(secret))
        assert (status, err) == (2, f"phrasecom: cannot read {secret}: Permission denied; fix its permissions\n")
        assert not (tmp_path / "new").exists()
    finally:
        for path in inside:
            path.chmod(0o700)
    assert phrasecom("search", "honey", "--index", index)[0] == 0
