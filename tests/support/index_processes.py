"""Functions that tests run in processes of their own, to read, write and build the index ``papers``.

Epoch n of the index is generation n of the corpus: the title of every document says n, so that a mixture of epochs
shows.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from indexer.documents import AnalysedDocument
from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.errors import EpochChanged
from tests.support.corpora.engine_corpus import (
    AnalysedCorpus,
    make_corpus,
    make_draft,
    weigh_document,
    weigh_drafts,
    write_index,
)

DOCUMENT_IDS = [f"doc-{i:04d}" for i in range(30)]
Address = tuple[str, Mapping[str, Any]]


def get_engine_address(engine: Engine) -> Address:
    """Return address and options with which another process opens the same engine."""
    prefix = getattr(engine, "prefix", None)
    return engine.address, {} if prefix is None else {"prefix": prefix}


def spawn_process(target: Callable[..., None], *arguments: object) -> SpawnProcess:
    """Start a fresh interpreter that calls ``target``; it ends with this process."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def make_generation(number: int) -> AnalysedCorpus:
    drafts = make_corpus(ids=DOCUMENT_IDS, seed=number).documents
    return weigh_drafts([replace(d, document=replace(d.document, title=f"generation {number}")) for d in drafts])


def read_until_stopped(address: Address, stop: Event, report: Path) -> None:
    """Read in a loop and once more after ``stop``; report ``ok``, reads and reopenings, or the mixture found."""
    reads = reopened = 0
    with open_engine(address[0], **address[1]) as engine:
        reader = engine.open_reader("papers")
        last = False
        while not last:
            last = stop.is_set() and reads > 0
            try:
                documents = reader.fetch(DOCUMENT_IDS[:8])
                titles = {d.document.title if d else None for d in documents}
                titles |= {hit.document.document.title for hit in reader.search(Selection(words=("mail",))).hits}
                everything = dict.fromkeys(reader.model.phrases, 1.0)
                titles |= set(reader.find_neighbourhood(NeighbourhoodRequest(everything, everything, (), 99)).titles)
                if titles != {f"generation {reader.info.epoch}"}:
                    report.write_text(f"epoch {reader.info.epoch} mixed with {titles}")
                    return
                reads += 1
            except EpochChanged:
                reader = engine.open_reader("papers")
                reopened += 1
    report.write_text(f"ok {reads} {reopened}")


def build_until_killed(address: Address, ready: Event) -> None:
    """Write a good part of a new epoch, set ``ready`` and wait to be killed."""
    with open_engine(address[0], **address[1]) as engine, engine.start_build("papers") as building:
        building.write(make_generation(9).documents)
        time.sleep(0.3)  # let some of it reach the disk or the server
        ready.set()
        time.sleep(600)


def add_until_killed(address: Address, ready: Event) -> None:
    """Add one document at a time forever; set ``ready`` after the fourth."""
    with open_engine(address[0], **address[1]) as engine:
        for number in range(100_000):
            engine.add_documents("papers", [make_added_document(f"added-{number:06d}")])
            if number == 3:
                ready.set()


def add_document_and_exit(address: Address, name: str) -> None:
    with open_engine(address[0], **address[1]) as engine:
        engine.add_documents("papers", [make_added_document(name)])
        os._exit(0)  # an added document stays visible without an orderly end


def make_added_document(name: str) -> AnalysedDocument:
    draft = make_draft(name, ["web graph of mail"], ["web graph", "mail"])
    return weigh_document(draft, make_generation(1).model)


def build_generation(engine: Engine, number: int) -> None:
    write_index(engine, make_generation(number), epoch=str(number))
