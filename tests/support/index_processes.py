"""What other processes do in these tests; each is a function that a fresh interpreter runs.

A corpus of generation g tags every document's title with g, so that a mixture of epochs shows.
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

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.errors import EpochChanged
from tests.support.corpora.engine_corpus import Corpus, analyse, build, draft, make_corpus, weigh

IDS = [f"doc-{i:04d}" for i in range(30)]
Address = tuple[str, Mapping[str, Any]]


def address_of(engine: Engine) -> Address:
    """How another process opens the same engine."""
    prefix = getattr(engine, "prefix", None)
    return engine.address, {} if prefix is None else {"prefix": prefix}


def spawn(target: Callable[..., None], *arguments: object) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def generation(number: int) -> Corpus:
    drafts = make_corpus(ids=IDS, seed=number).documents
    return analyse([replace(d, document=replace(d.document, title=f"generation {number}")) for d in drafts])


def read_until(address: Address, stop: Event, report: Path) -> None:
    """Read over and over, once after ``stop`` too; write how often, or what was wrong."""
    reads = reopened = 0
    with open_engine(address[0], **address[1]) as engine:
        reader = engine.open_reader("papers")
        last = False
        while not last:
            last = stop.is_set() and reads > 0
            try:
                documents = reader.fetch(IDS[:8])
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


def build_and_hang(address: Address, ready: Event) -> None:
    """Write a good part of a new epoch, then wait to be killed."""
    with open_engine(address[0], **address[1]) as engine, engine.start_build("papers") as building:
        building.write(generation(9).documents)
        time.sleep(0.3)  # let some of it reach the disk or the server
        ready.set()
        time.sleep(600)


def add_until_killed(address: Address, ready: Event) -> None:
    with open_engine(address[0], **address[1]) as engine:
        for number in range(100_000):
            engine.add_documents("papers", [added(f"added-{number:06d}")])
            if number == 3:
                ready.set()


def add_one(address: Address, name: str) -> None:
    with open_engine(address[0], **address[1]) as engine:
        engine.add_documents("papers", [added(name)])
        os._exit(0)  # what add made visible needs no orderly end


def added(name: str) -> Any:
    document = draft(name, ["web graph of mail"], ["web graph", "mail"])
    return weigh(document, generation(1).model)


def build_generation(engine: Engine, number: int) -> None:
    build(engine, generation(number), epoch=str(number))
