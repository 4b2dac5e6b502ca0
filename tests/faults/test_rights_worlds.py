"""Worlds of documents with random acls: what a caller may not read shows up nowhere, whatever anybody asks.

A few worlds in every run; PHRASECOM_TEST_WORLDS says how many (``make faults``: a hundred).
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from indexer.build import build_index
from indexer.engines.base import Engine
from tests.faults.worlds import FIELD, GROUPS, World, world
from tests.webapi.keyring import Inside, Ring, inside
from webapi.context import EXTENSION
from worker.ingest import add

COUNT = int(os.environ.get("PHRASECOM_TEST_WORLDS", "3"))
CALLERS = {"root": ("*",), "nobody": (), "red": ("red",), "green": ("green",), "both": ("green", "blue")}
METHODS = ("cda", "topic_label", "context_fuzzy", "containment")


class Probe:
    """One caller who asks everything there is to ask and looks at every byte that comes back."""

    def __init__(self, app: Inside, name: str, key: str, made: World) -> None:
        groups = CALLERS[name]
        self.groups = None if groups == ("*",) else frozenset(groups)
        self.name = name
        self._app = app.as_(key)
        self._world = made
        self.heard: list[str] = []
        """What came back, to see that the one who may read all does."""

    def look(self, reply: TestResponse) -> Any:
        assert reply.status_code < 500, reply.text
        text = f"{reply.headers}\n{reply.get_data(as_text=True)}"
        self.heard.append(text)
        lower = text.lower()
        for secret in self._world.forbidden(self.groups):
            seen = secret in text if "-" in secret else secret in lower  # a spelling is its capitals
            assert not seen, f"world {self._world.seed}: {self.name} is shown {secret!r} by {reply.request.path}"
        return reply.json if reply.mimetype.endswith("json") else None

    def get(self, path: str) -> Any:
        return self.look(self._app.get(path))

    def post(self, path: str, body: object) -> Any:
        return self.look(self._app.post(path, body))

    def everything(self, dice: random.Random) -> list[str]:
        """Ask at every address; the ids of all answers."""
        self.get("/metrics")
        self.get("/v1/indexes")
        self.get("/v1/indexes/papers")
        for id in self._world.documents:
            self.get(f"/v1/indexes/papers/documents/{id}")
        self.suggestions()
        return [*self.searches(), *self.comparisons(dice), *self.explanations(dice)]

    def suggestions(self) -> None:
        typed = {secret[:n].lower() for mine in self._world.secrets.values() for secret in mine for n in (1, 3, 99)}
        for prefix in sorted(typed | {phrase[:2] for phrase in FIELD}):
            reply = self._app.get(f"/v1/indexes/papers/suggest?q={prefix}&size=50")
            self.look(reply)

    def searches(self) -> list[str]:
        ids = []
        aggs = {"sources": {"terms": {"field": "source", "size": 100}}}
        for query in ({"match": {"text": "graph"}}, {"match": {"text": FIELD[2]}}, {"match_all": {}}):
            body = {"query": query, "size": 6, "aggs": aggs, "highlight": {"fields": {"text": {}, "title": {}}}}
            hits = self.post("/v1/papers/_search", body)["hits"]["hits"]
            assert all(self._world.readable(hit["_id"], self.groups) for hit in hits)
            ids += [href.rpartition("/")[2] for hit in hits for href in hit["why"]["href"].values()]
        for secret in self._world.forbidden(self.groups):
            if "-" not in secret:
                found = self.post("/v1/papers/_search", {"query": {"match": {"text": secret}}})
                assert found["hits"]["total"]["value"] == 0
        return ids

    def comparisons(self, dice: random.Random) -> list[str]:
        mine = [id for id in self._world.documents if self._world.readable(id, self.groups)]
        all_of_them = list(self._world.documents)
        sides: list[dict[str, object]] = [{"id": id} for id in dice.sample(mine, 4) + dice.sample(all_of_them, 3)]
        sides += [{"ids": dice.sample(mine, 3)}, {"ids": dice.sample(all_of_them, 3)}, {"search": "walk"}]
        sides += [{"query": dice.choice(FIELD)}, {"text": f"The {FIELD[0]} and the {FIELD[3]} of a {FIELD[5]}."}]
        ids = []
        for _ in range(10):
            a, b = dice.sample(sides, 2)
            options = {"candidates": True, "graph": True, "cap": 0}
            body = {"index": "papers", "a": a, "b": b, "method": dice.choice(METHODS), "options": options}
            ids.append(self.post("/v1/comparisons", body).get("id"))
        return [id for id in ids if id]

    def explanations(self, dice: random.Random) -> list[str]:
        mine = [id for id in self._world.documents if self._world.readable(id, self.groups)]
        ids = []
        for against in ("query", "page", "above", "document"):
            body: dict[str, object] = {"index": "papers", "hits": dice.sample(mine, 4), "against": against}
            body |= {"query": dice.choice(FIELD)} if against == "query" else {}
            body |= {"document": dice.choice(mine)} if against == "document" else {}
            page = self.post("/v1/explanations", body)["id"]
            ids += [page, f"{page}.0", f"{page}.1"]
        body = {"index": "papers", "hits": dice.sample(list(self._world.documents), 4), "query": FIELD[0]}
        self.post("/v1/explanations", body)
        return ids

    def revisit(self, ids: list[str]) -> None:
        """Answers of everybody, by their ids."""
        for id in ids:
            for kind in ("comparisons", "explanations", "jobs"):
                self.get(f"/v1/{kind}/{id}")
            said = {"phrases": [{"phrase": FIELD[0], "useful": True}]}
            self.post(f"/v1/comparisons/{id}/feedback", said)


@pytest.mark.parametrize("seed", range(COUNT))
def test_what_may_not_be_read_is_shown_nowhere(
    seed: int, tantivy_engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    explore(seed, tantivy_engine, tmp_path, caplog)


def test_what_may_not_be_read_is_shown_nowhere_on_elasticsearch(
    elasticsearch_engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    explore(1000, elasticsearch_engine, tmp_path, caplog, ("root", "nobody", "red"))


def explore(
    seed: int,
    engine: Engine,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    callers: Sequence[str] = tuple(CALLERS),
) -> None:
    """The first caller may read everything."""
    caplog.set_level(logging.DEBUG)
    for chatty in ("elastic_transport", "urllib3"):  # of the client's own, at this level: every body
        logging.getLogger(chatty).setLevel(logging.INFO)
    made, dice = world(seed), random.Random(seed)
    build_index(made.documents.values(), engine, "papers", processes=1)
    ring = Ring(tmp_path / "keys.toml")
    for name, groups in CALLERS.items():
        ring.add(name, ("read", "compare", "admin"), groups=groups)
    app = inside(engine, ring)
    probes = [Probe(app, name, ring.secrets[name], made) for name in callers]
    ids: list[str] = []
    for probe in probes:
        ids += probe.everything(random.Random(seed))  # the same questions, so that answers are there already
    for probe in probes:
        probe.revisit(dice.sample(ids, 25))
    _the_test_can_fail(made, probes[0])
    _close_some(app, made, dice)
    for probe in probes[1:]:
        probe.revisit(dice.sample(ids, 25))
        probe.everything(random.Random(seed))
    app.close()
    everybody = {secret for mine in made.secrets.values() for secret in mine}
    assert not [secret for secret in everybody if secret in caplog.text]


def _the_test_can_fail(made: World, root: Probe) -> None:
    """Whoever may read everything is told every secret, spellings and phrases among them."""
    said = "\n".join(root.heard)
    unheard = {secret for mine in made.secrets.values() for secret in mine if secret not in said}
    assert not unheard


def _close_some(app: Inside, made: World, dice: random.Random) -> None:
    """Other groups for some documents, open ones among them: what they say is a secret from now on."""
    changed = []
    for id in dice.sample(list(made.documents), 6):
        acl = (dice.choice(GROUPS),)
        changed.append(replace(made.documents[id], acl=acl))
        made.documents[id] = changed[-1]
    add(app.app.extensions[EXTENSION].service, "papers", changed)
