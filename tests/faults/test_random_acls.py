"""Worlds of documents with random acls: what a caller may not read shows up nowhere, whatever anybody asks.

A few worlds in every run; PHRASECOM_TEST_WORLDS says how many (``make faults``: a hundred). Some of them share an
index: what is made once for all is made once, and each hides its documents from the others' callers as well.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.corpora.acl_corpus import GROUPS, SHARED_PHRASES, AclCorpus, join_acl_corpora
from tests.support.faults.log_recorder import LogRecorder
from webapi.context import EXTENSION
from worker.service.ingest import write_documents

COUNT = int(os.environ.get("PHRASECOM_TEST_WORLDS", "3"))
TOGETHER = 5
"""Worlds that share an index."""
SHARES = [tuple(range(first, min(first + TOGETHER, COUNT))) for first in range(0, COUNT, TOGETHER)]
METHODS = ("cda", "topic_label", "context_fuzzy", "containment")
QUERIES: tuple[dict[str, Any], ...] = (
    {"match": {"text": "graph"}},
    {"match": {"text": SHARED_PHRASES[2]}},
    {"match_all": {}},
)
log = logging.getLogger(__name__)
ROOT, NOBODY = "root", "nobody"


def callers(seeds: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Groups by name: one who may read everything, one who is in no group, and three of each world."""
    made: dict[str, tuple[str, ...]] = {ROOT: ("*",), NOBODY: ()}
    for seed, other in zip(seeds, [*seeds[1:], seeds[0]], strict=True):
        made |= {f"red{seed}": (f"w{seed}red",), f"green{seed}": (f"w{seed}green",)}
        made[f"both{seed}"] = (f"w{seed}green", f"w{other}blue")
    return made


class Probe:
    """One caller who asks everything there is to ask and looks at every byte that comes back."""

    def __init__(self, app: AppClient, name: str, groups: tuple[str, ...], key: str, made: AclCorpus) -> None:
        self.groups = None if groups == ("*",) else frozenset(groups)
        self.name = name
        self._app = app.with_key(key)
        self._world = made
        self.heard: list[str] = []
        """What came back, to see that the one who may read all does."""
        self.looks = 0
        seeds = made.seeds if name == ROOT else (random.Random(name).choice(made.seeds),) if name == NOBODY else ()
        marks = tuple(f"w{seed}d" for seed in seeds or (int(name.lstrip("abcdefghijklmnopqrstuvwxyz")),))
        self._own = [id for id in made.documents if id.startswith(marks)]
        """The documents of their own world (everybody's for the first): what they ask about most."""

    def look(self, reply: TestResponse) -> Any:
        self.looks += 1
        assert reply.status_code < 500, reply.text
        text = f"{reply.headers}\n{reply.get_data(as_text=True)}"
        if self.groups is None:
            self.heard.append(text)
        lower = text.lower()
        for secret in self._forbidden:
            seen = secret in text if "-" in secret else secret in lower  # a spelling is its capitals
            assert not seen, f"worlds {self._world.seeds}: {self.name} is shown {secret!r} by {reply.request.path}"
        return reply.json if reply.mimetype.endswith("json") else None

    def get(self, path: str) -> Any:
        return self.look(self._app.get(path))

    def post(self, path: str, body: object) -> Any:
        return self.look(self._app.post(path, body))

    def begin(self) -> None:
        """Learn what may be read at this time."""
        self._forbidden = self._world.find_forbidden(self.groups)
        self._mine = [id for id in self._own if self._world.is_readable(id, self.groups)]

    def everything(self, dice: random.Random) -> list[str]:
        """Ask at every address; the ids of all answers."""
        self.begin()
        self.get("/metrics")
        self.get("/v1/indexes")
        self.get("/v1/indexes/papers")
        for id in self._own:
            self.get(f"/v1/indexes/papers/documents/{id}")
        self.suggestions(dice)
        return [*self.searches(dice), *self.comparisons(dice), *self.explanations(dice)]

    def suggestions(self, dice: random.Random) -> None:
        secrets = sorted({secret.lower() for id in self._own for secret in self._world.secrets[id]})
        typed = {secret[:n] for secret in secrets for n in (3, 99)} | {secret[:1] for secret in dice.sample(secrets, 4)}
        for prefix in sorted(typed | {phrase[:2] for phrase in dice.sample(SHARED_PHRASES, 4)}):
            self.get(f"/v1/indexes/papers/suggest?q={prefix}&size=50")

    def searches(self, dice: random.Random) -> list[str]:
        ids = []
        aggs = {"sources": {"terms": {"field": "source", "size": 100}}}
        for query in dice.sample(QUERIES, 2):
            body = {"query": query, "size": 4, "aggs": aggs, "highlight": {"fields": {"text": {}, "title": {}}}}
            hits = self.post("/v1/papers/_search", body)["hits"]["hits"]
            assert all(self._world.is_readable(hit["_id"], self.groups) for hit in hits)
            ids += [href.rpartition("/")[2] for hit in hits for href in hit["why"]["href"].values()]
        for secret in sorted({s for id in self._own for s in self._world.secrets[id]} & self._forbidden):
            if "-" not in secret:
                found = self.post("/v1/papers/_search", {"query": {"match": {"text": secret}}})
                assert found["hits"]["total"]["value"] == 0
        return ids

    def comparisons(self, dice: random.Random) -> list[str]:
        mine, all_of_them = self._mine, list(self._world.documents)
        sides: list[dict[str, object]] = [{"id": id} for id in dice.sample(mine, 4) + dice.sample(all_of_them, 3)]
        sides += [{"ids": dice.sample(mine, 3)}, {"ids": dice.sample(all_of_them, 3)}, {"search": "walk"}]
        sides += [
            {"query": dice.choice(SHARED_PHRASES)},
            {"text": f"The {SHARED_PHRASES[0]} and the {SHARED_PHRASES[3]} of a {SHARED_PHRASES[5]}."},
        ]
        ids = []
        for turn in range(6):
            a, b = dice.sample(sides, 2)
            options = {"candidates": True, "graph": turn % 3 == 0, "cap": 0}
            body = {"index": "papers", "a": a, "b": b, "method": dice.choice(METHODS), "options": options}
            ids.append(self.post("/v1/comparisons", body).get("id"))
        return [id for id in ids if id]

    def explanations(self, dice: random.Random) -> list[str]:
        ids = []
        for against in dice.sample(("query", "page", "above", "document"), 2):
            body: dict[str, object] = {"index": "papers", "hits": dice.sample(self._mine, 4), "against": against}
            body |= {"query": dice.choice(SHARED_PHRASES)} if against == "query" else {}
            body |= {"document": dice.choice(self._mine)} if against == "document" else {}
            page = self.post("/v1/explanations", body)["id"]
            ids += [page, f"{page}.0", f"{page}.1"]
        body = {"index": "papers", "hits": dice.sample(list(self._world.documents), 4), "query": SHARED_PHRASES[0]}
        self.post("/v1/explanations", body)
        return ids

    def revisit(self, ids: list[str]) -> None:
        """Answers of everybody, by their ids."""
        self.begin()
        for id in ids:
            for kind in ("comparisons", "explanations", "jobs"):
                self.get(f"/v1/{kind}/{id}")
            said = {"phrases": [{"phrase": SHARED_PHRASES[0], "useful": True}]}
            self.post(f"/v1/comparisons/{id}/feedback", said)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """As many processes as there are cores: whole indexes of worlds are looked at side by side."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as made:
        yield made


@cache
def _begun(pool: ProcessPoolExecutor) -> dict[tuple[int, ...], Future[int]]:
    return {seeds: pool.submit(explore_embedded, seeds) for seeds in SHARES}


@pytest.mark.parametrize("seeds", SHARES, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_what_may_not_be_read_is_shown_nowhere(seeds: tuple[int, ...], pool: ProcessPoolExecutor) -> None:
    if COUNT <= TOGETHER:
        assert explore_embedded(seeds)
    else:
        assert _begun(pool)[seeds].result()


def test_what_may_not_be_read_is_shown_nowhere_on_elasticsearch(elasticsearch_engine: Engine, tmp_path: Path) -> None:
    explore((1000,), elasticsearch_engine, tmp_path)


def explore_embedded(seeds: tuple[int, ...]) -> int:
    with tempfile.TemporaryDirectory(prefix="phrasecom-worlds-") as folder, open_engine(f"{folder}/engine") as engine:
        return explore(seeds, engine, Path(folder))


def explore(seeds: tuple[int, ...], engine: Engine, folder: Path) -> int:
    """How many replies were looked at."""
    made, dice = join_acl_corpora(seeds), random.Random(seeds[0])
    with LogRecorder() as logs:
        log.info("the worlds %s are made", seeds)
        build_index(made.documents.values(), engine, "papers", processes=1)
        ring = IssuedKeys(folder / "keys.toml")
        for name, groups in callers(seeds).items():
            ring.issue(name, ("read", "compare", "admin"), groups=groups)
        app = make_app_client(engine, ring)
        probes = [Probe(app, name, groups, ring.secrets[name], made) for name, groups in callers(seeds).items()]
        looked = _look_around(app, probes, made, dice)
        app.close()
    everybody = {secret for mine in made.secrets.values() for secret in mine}
    assert logs.lines, "the logs were not heard"
    assert not [line for line in logs.lines if any(secret in line for secret in everybody)][:3]
    return looked


def _look_around(app: AppClient, probes: Sequence[Probe], made: AclCorpus, dice: random.Random) -> int:
    """The first of them may read everything."""
    ids: list[str] = []
    for probe in probes:
        ids += probe.everything(random.Random(made.seeds[0]))  # the same dice, so that some answers are there already
    for probe in probes:
        probe.revisit(dice.sample(ids, 12))
    _the_test_can_fail(made, probes[0])
    _close_some(app, made, dice)
    for probe in probes[1:]:
        probe.revisit(dice.sample(ids, 12))
        probe.everything(random.Random(made.seeds[0]))
    return sum(probe.looks for probe in probes)


def _the_test_can_fail(made: AclCorpus, root: Probe) -> None:
    """Whoever may read everything is told every secret, spellings and phrases among them."""
    said = "\n".join(root.heard)
    unheard = {secret for mine in made.secrets.values() for secret in mine if secret not in said}
    assert not unheard


def _close_some(app: AppClient, made: AclCorpus, dice: random.Random) -> None:
    """Other groups for some documents, open ones among them: what they say is a secret from now on."""
    changed = []
    for id in dice.sample(list(made.documents), 6 * len(made.seeds)):
        acl = (f"w{dice.choice(made.seeds)}{dice.choice(GROUPS)}",)
        changed.append(replace(made.documents[id], acl=acl))
        made.documents[id] = changed[-1]
    write_documents(app.flask_app.extensions[EXTENSION].gateway.container, "papers", changed)
