"""An index that follows its source, for tests: many documents, a writer, and the comparison with a fresh attach."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch, helpers

from indexer.engines.base import Engine
from indexer.indexing.follow import Follower
from indexer.readers.elasticsearch_changes import SourceChanges
from indexer.readers.rejects import Rejects
from tests.support.attached_sources import AttachedSource, attach_source, make_story
from tests.support.paths import ROOT


def make_many_stories(count: int, version: int = 0) -> dict[str, dict[str, Any]]:
    """Return stories by id; those of another version have other titles and texts."""
    return {f"n{number:05}": make_numbered_story(number, version) for number in range(count)}


def make_numbered_story(number: int, version: int) -> dict[str, Any]:
    story = make_story(number % 12 + 1)
    return story | {"headline": f"Story {number} on link analysis, version {version}", "views": version}


def write_at_random(url: str, index: str, seed: int, rounds: int, seconds: float) -> None:
    """Insert, change and delete documents in bulks, with pauses; the other process of the tests."""
    choose, client = random.Random(seed), Elasticsearch(url)
    known = list(make_many_stories(300))
    for step in range(1, rounds + 1):
        new = [f"new-{seed}-{step}-{number}" for number in range(12)]
        changed, deleted = choose.sample(known, 10), choose.sample(known, 6)
        actions: list[dict[str, Any]] = [
            {"_index": index, "_id": id, "_source": make_numbered_story(choose.randrange(10**6), step)}
            for id in (*new, *(id for id in changed if id not in deleted))
        ]
        actions += [{"_op_type": "delete", "_index": index, "_id": id} for id in deleted]
        helpers.bulk(client, actions)
        known = [id for id in (*known, *new) if id not in deleted]
        time.sleep(seconds / rounds)
    client.indices.refresh(index=index)
    client.close()


@contextmanager
def open_follower(
    source: AttachedSource, engine: Engine, rejects: Path | None = None, **options: Any
) -> Iterator[Follower]:
    """Open a follower of the index ``news`` in this process."""
    with Rejects(rejects) as collected:
        changes = SourceChanges(f"{source.url}/{source.index}")
        defaults = {"rejects": collected, "max_document_bytes": 2**20}
        yield Follower(changes, engine, "news", **(defaults | options))
        changes.close()


class FollowProcess:
    """``phrasecom attach --index news --follow --json`` in a process of its own."""

    def __init__(self, source: AttachedSource, folder: Path, *options: str, arguments: tuple[str, ...] = ()) -> None:
        command = [sys.executable, "-m", "indexer", "attach", *arguments, "--index", "news", "--follow", "--json"]
        command += ["--engine", source.url, "--index-processes", "1", *options]
        env = os.environ | {"PYTHONPATH": str(ROOT), "PHRASECOM_INDEX_PREFIX": source.prefix}
        self._out = (folder / "follow.jsonl").open("a+")
        self._err = (folder / "follow.err").open("a+")
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=self._out, stderr=self._err)

    def read_events(self, event: str = "pass") -> list[dict[str, Any]]:
        """Return the lines printed so far, also by former processes in the same folder."""
        lines = Path(self._out.name).read_text().splitlines(keepends=True)
        events = [json.loads(line) for line in lines if line.endswith("\n")]
        return [one for one in events if one["event"] == event]

    def read_errors(self) -> str:
        return Path(self._err.name).read_text()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._out.close()
        self._err.close()


def read_index(engine: Engine, index: str) -> dict[str, Any]:
    """Return the versions and revisions of all documents by id, and facets, which have no part in a version."""
    reader = engine.open_reader(index)
    facets = {one.document.id: dict(one.document.facets) for one in reader.scan()}
    return {id: (version, facets[id]) for id, version in reader.scan_versions()}


def require_equal_to_fresh_attach(source: AttachedSource, engine: Engine) -> None:
    """Attach the source once more, as ``fresh``, and compare documents and revisions."""
    attach_source(source, name="fresh")
    assert read_index(engine, "news") == read_index(engine, "fresh")


def require_equal_phrases(engine: Engine) -> None:
    """Compare the phrases of ``news`` and ``fresh``; they are numbered in the order in which documents were read."""
    news, fresh = engine.open_reader("news"), engine.open_reader("fresh")
    assert set(news.model.phrases) == set(fresh.model.phrases)
    by_id = [{one.document.id: sorted(one.phrases) for one in reader.scan()} for reader in (news, fresh)]
    assert by_id[0] == by_id[1]
