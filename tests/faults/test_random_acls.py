"""Corpora with random acls: a caller sees nothing of a document it may not read, in any request.

A few corpora in every run; PHRASECOM_TEST_WORLDS says how many (``make faults``: a hundred). Several share an index,
which is faster, and each must hide its documents from the others' callers too.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from werkzeug.test import TestResponse

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.indexing.build import build_index
from indexer.indexing.update import add_documents
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.corpora.acl_corpus import (
    GROUPS,
    SHARED_PHRASES,
    AclCorpus,
    join_acl_corpora,
    make_random_vector,
)
from tests.support.faults.log_recorder import LogRecorder
from webapi.context import EXTENSION

CORPUS_COUNT = int(os.environ.get("PHRASECOM_TEST_WORLDS", "3"))
CORPORA_PER_INDEX = 5
SEED_GROUPS = [
    tuple(range(first, min(first + CORPORA_PER_INDEX, CORPUS_COUNT)))
    for first in range(0, CORPUS_COUNT, CORPORA_PER_INDEX)
]
VECTORS_PER_CALLER = 4
METHODS = ("cda", "topic_label", "context_fuzzy", "containment")
QUERIES: tuple[dict[str, Any], ...] = (
    {"match": {"text": "graph"}},
    {"match": {"text": SHARED_PHRASES[2]}},
    {"match_all": {}},
)
log = logging.getLogger(__name__)
ROOT, NOBODY = "root", "nobody"


def list_callers(seeds: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Return groups by caller: one may read everything, one is in no group, three belong to each corpus."""
    callers: dict[str, tuple[str, ...]] = {ROOT: ("*",), NOBODY: ()}
    for seed, other in zip(seeds, [*seeds[1:], seeds[0]], strict=True):
        callers |= {f"red{seed}": (f"w{seed}red",), f"green{seed}": (f"w{seed}green",)}
        callers[f"both{seed}"] = (f"w{seed}green", f"w{other}blue")
    return callers


class Probe:
    """A caller that uses every address of the API and searches every reply for secrets."""

    def __init__(self, app: AppClient, name: str, groups: tuple[str, ...], key: str, corpus: AclCorpus) -> None:
        self.groups = None if groups == ("*",) else frozenset(groups)
        self.name = name
        self._app = app.with_key(key)
        self._corpus = corpus
        self.replies: list[str] = []
        """Texts of all replies, of a caller that may read everything."""
        self.reply_count = 0
        self.guess_ids: list[str] = []
        """Answers to texts that contain hidden words themselves."""
        seeds = corpus.seeds if name == ROOT else (random.Random(name).choice(corpus.seeds),) if name == NOBODY else ()
        marks = tuple(f"w{seed}d" for seed in seeds or (int(name.lstrip("abcdefghijklmnopqrstuvwxyz")),))
        self._own = [id for id in corpus.documents if id.startswith(marks)]
        """Documents of the caller's own corpus (of all corpora for root), used most in its requests."""

    def _check_reply(self, reply: TestResponse) -> Any:
        self.reply_count += 1
        assert reply.status_code < 500, reply.text
        text = f"{reply.headers}\n{reply.get_data(as_text=True)}"
        if self.groups is None:
            self.replies.append(text)
        lower = text.lower()
        for secret in self._forbidden:
            seen = secret in text if "-" in secret else secret in lower  # a spelling is secret for its capitals
            assert not seen, f"corpora {self._corpus.seeds}: {self.name} is shown {secret!r} by {reply.request.path}"
        return reply.json if reply.mimetype.endswith("json") else None

    def get(self, path: str) -> Any:
        return self._check_reply(self._app.get(path))

    def post(self, path: str, body: object) -> Any:
        return self._check_reply(self._app.post(path, body))

    def _learn_rights(self) -> None:
        """Find out what the caller may read now."""
        self._forbidden = self._corpus.find_forbidden(self.groups)
        self._mine = [id for id in self._own if self._corpus.is_readable(id, self.groups)]

    def visit_all_addresses(self, chance: random.Random) -> list[str]:
        """Send requests to every address; return the ids of all answers."""
        self._learn_rights()
        self.get("/metrics")
        self.get("/v1/indexes")
        self.get("/v1/indexes/papers")
        for id in self._own:
            self.get(f"/v1/indexes/papers/documents/{id}")
        self._ask_suggestions(chance)
        self._guess_phrases(chance)
        if self._corpus.documents[self._own[0]].vector is not None:
            self._send_vectors(chance)
        return [*self._search(chance), *self._compare(chance), *self._explain(chance)]

    def _ask_suggestions(self, chance: random.Random) -> None:
        secrets = sorted({secret.lower() for id in self._own for secret in self._corpus.secrets[id]})
        typed = {secret[:n] for secret in secrets for n in (3, 99)} | {
            secret[:1] for secret in chance.sample(secrets, 4)
        }
        for prefix in sorted(typed | {phrase[:2] for phrase in chance.sample(SHARED_PHRASES, 4)}):
            self.get(f"/v1/indexes/papers/suggest?q={prefix}&size=50")

    def _search(self, chance: random.Random) -> list[str]:
        ids = []
        aggs = {"sources": {"terms": {"field": "source", "size": 100}}}
        for query in chance.sample(QUERIES, 2):
            body = {"query": query, "size": 4, "aggs": aggs, "highlight": {"fields": {"text": {}, "title": {}}}}
            hits = self.post("/v1/papers/_search", body)["hits"]["hits"]
            assert all(self._corpus.is_readable(hit["_id"], self.groups) for hit in hits)
            ids += [href.rpartition("/")[2] for hit in hits for href in hit["why"]["href"].values()]
        for secret in sorted({s for id in self._own for s in self._corpus.secrets[id]} & self._forbidden):
            if "-" not in secret:
                found = self.post("/v1/papers/_search", {"query": {"match": {"text": secret}}})
                assert found["hits"]["total"]["value"] == 0
        return ids

    def _compare(self, chance: random.Random) -> list[str]:
        mine, all_of_them = self._mine, list(self._corpus.documents)
        sides: list[dict[str, object]] = [{"id": id} for id in chance.sample(mine, 4) + chance.sample(all_of_them, 3)]
        sides += [{"ids": chance.sample(mine, 3)}, {"ids": chance.sample(all_of_them, 3)}, {"search": "walk"}]
        sides += [
            {"query": chance.choice(SHARED_PHRASES)},
            {"text": f"The {SHARED_PHRASES[0]} and the {SHARED_PHRASES[3]} of a {SHARED_PHRASES[5]}."},
        ]
        ids = []
        for turn in range(6):
            a, b = chance.sample(sides, 2)
            options = {"candidates": True, "graph": turn % 3 == 0, "cap": 0}
            body = {"index": "papers", "a": a, "b": b, "method": chance.choice(METHODS), "options": options}
            ids.append(self.post("/v1/comparisons", body).get("id"))
        return [id for id in ids if id]

    def _explain(self, chance: random.Random) -> list[str]:
        ids = []
        for against in chance.sample(("query", "page", "above", "document"), 2):
            body: dict[str, object] = {"index": "papers", "hits": chance.sample(self._mine, 4), "against": against}
            body |= {"query": chance.choice(SHARED_PHRASES)} if against == "query" else {}
            body |= {"document": chance.choice(self._mine)} if against == "document" else {}
            page = self.post("/v1/explanations", body)["id"]
            ids += [page, f"{page}.0", f"{page}.1"]
        body = {"index": "papers", "hits": chance.sample(list(self._corpus.documents), 4), "query": SHARED_PHRASES[0]}
        self.post("/v1/explanations", body)
        return ids

    def _guess_phrases(self, chance: random.Random) -> None:
        """Guess every hidden phrase at once, in texts and queries."""
        texts = [self._corpus.write_guesses(self._own), self._corpus.write_guesses(list(self._corpus.documents))]
        guesses: list[dict[str, object]] = [{form: text} for form in ("text", "query") for text in texts]
        others: list[dict[str, object]] = [{"id": chance.choice(self._mine)}, {"text": SHARED_PHRASES[4]}, guesses[0]]
        for guess in guesses:
            options = {"candidates": True, "graph": True, "cap": 0}
            body = {"index": "papers", "a": chance.choice(others), "b": guess, "options": options}
            self._check_guesses(self._app.post("/v1/comparisons", body | {"method": chance.choice(METHODS)}))
        page = {"index": "papers", "hits": chance.sample(self._mine, 2), "query": texts[0]}
        self._check_guesses(self._app.post("/v1/explanations", page))
        search = {"query": {"match": {"text": " ".join(texts[0].split()[:100])}}, "size": 2, "_source": False}
        self._check_guesses(self._app.post("/v1/papers/_search", search))

    def _send_vectors(self, chance: random.Random) -> None:
        """Send random vectors, alone, with harmless queries and with guesses of every hidden phrase."""
        guess = self._corpus.write_guesses(self._own)
        for _ in range(VECTORS_PER_CALLER):
            vector = make_random_vector(chance)
            hits = chance.sample(self._mine, 4)
            page: dict[str, object] = {"index": "papers", "hits": hits, "vector": vector}
            self.post("/v1/explanations", page)
            self.post("/v1/explanations", page | {"query": chance.choice(SHARED_PHRASES)})
            self._check_guesses(self._app.post("/v1/explanations", page | {"query": guess}))
            knn = {"field": "vector", "query_vector": vector, "k": 4}
            found = self.post("/v1/papers/_search", {"knn": knn, "size": 4})["hits"]["hits"]
            assert len(found) == 4 and all(self._corpus.is_readable(hit["_id"], self.groups) for hit in found)
            words = " ".join(guess.split()[:50])
            fused = {"knn": knn, "query": {"match": {"text": words}}, "size": 4, "_source": False}
            self._check_guesses(self._app.post("/v1/papers/_search", fused))
            sides = {"a": {"id": hits[0]}, "b": {"query": guess, "vector": vector}}
            self._check_guesses(self._app.post("/v1/comparisons", {"index": "papers", **sides, "options": {"cap": 0}}))

    def _check_guesses(self, reply: TestResponse) -> None:
        """Fail if the reply to a request with hidden words shows one of them as a phrase."""
        assert reply.status_code in (200, 404), reply.text
        self.reply_count += 1
        if self.groups is None:
            self.replies.append(reply.text)
        elif "id" in reply.json:
            self.guess_ids.append(reply.json["id"])
        shown = {phrase: set(re.findall(r"\w+", phrase.lower())) for phrase in find_phrase_texts(reply.json)}
        confirmed = [phrase for phrase, words in shown.items() if words & self._forbidden]
        assert not confirmed, f"corpora {self._corpus.seeds}: {reply.request.path} confirms {confirmed} to {self.name}"

    def open_answers(self, ids: list[str]) -> None:
        """Ask for answers that were made for any caller, by their ids, and for those to the caller's own guesses."""
        self._learn_rights()
        for id in self.guess_ids[:]:
            self._check_guesses(self._app.get(f"/v1/{'explanations' if id.startswith('p') else 'comparisons'}/{id}"))
        for id in ids:
            for kind in ("comparisons", "explanations", "jobs"):
                self.get(f"/v1/{kind}/{id}")
            feedback = {"phrases": [{"phrase": SHARED_PHRASES[0], "useful": True}]}
            self.post(f"/v1/comparisons/{id}/feedback", feedback)


def find_phrase_texts(value: Any, name: str = "") -> Iterator[str]:
    """Yield every text of a reply that is shown as a phrase, not as a part of the caller's own text."""
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            yield from find_phrase_texts(inner, inner_name)
    elif isinstance(value, list):
        for inner in value:
            yield from find_phrase_texts(inner, name)
    elif isinstance(value, str) and name in ("phrase", "phrases", "display", "also"):
        yield value


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """A process for each core: several indexes are probed at the same time."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@cache
def _start_all(pool: ProcessPoolExecutor) -> dict[tuple[int, ...], Future[int]]:
    return {seeds: pool.submit(probe_embedded, seeds) for seeds in SEED_GROUPS}


@pytest.mark.parametrize("seeds", SEED_GROUPS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_no_reply_contains_anything_unreadable(seeds: tuple[int, ...], pool: ProcessPoolExecutor) -> None:
    if CORPUS_COUNT <= CORPORA_PER_INDEX:
        assert probe_embedded(seeds)
    else:
        assert _start_all(pool)[seeds].result()


def test_no_reply_contains_anything_unreadable_on_elasticsearch(elasticsearch_engine: Engine, tmp_path: Path) -> None:
    probe_corpus((1000,), elasticsearch_engine, tmp_path)


def probe_embedded(seeds: tuple[int, ...]) -> int:
    with tempfile.TemporaryDirectory(prefix="phrasecom-worlds-") as folder, open_engine(f"{folder}/engine") as engine:
        return probe_corpus(seeds, engine, Path(folder))


def probe_corpus(seeds: tuple[int, ...], engine: Engine, folder: Path) -> int:
    """Build the index, probe it as every caller, and return the number of replies.

    Every other corpus has vectors. Evidence is measured although there are too few documents, and told even if it is
    noise.
    """
    corpus, chance = join_acl_corpora(seeds), random.Random(seeds[0])
    if seeds[0] // CORPORA_PER_INDEX % 2 == 0:
        corpus.add_vectors()
    with (
        LogRecorder() as logs,
        patch("indexer.model.evidence_spaces.MIN_RESERVOIR", 20),
        patch("worker.methods.query_ranking.MAX_NOISE", 0.5),
    ):
        log.info("probing the corpora %s", seeds)
        build_index(corpus.documents.values(), engine, "papers", processes=1)
        keys = IssuedKeys(folder / "keys.toml")
        for name, groups in list_callers(seeds).items():
            keys.issue(name, ("read", "compare", "admin"), groups=groups)
        app = make_app_client(engine, keys, limited_rate_per_minute=0)
        probes = [Probe(app, name, groups, keys.secrets[name], corpus) for name, groups in list_callers(seeds).items()]
        reply_count = _probe_all(app, probes, corpus, chance)
        app.close()
    secrets = {secret for mine in corpus.secrets.values() for secret in mine}
    assert logs.lines, "nothing was logged"
    assert not [line for line in logs.lines if any(secret in line for secret in secrets)][:3]
    return reply_count


def _probe_all(app: AppClient, probes: Sequence[Probe], corpus: AclCorpus, chance: random.Random) -> int:
    """Probe before and after some documents are restricted; the first probe may read everything."""
    ids: list[str] = []
    for probe in probes:
        # the same requests for every caller, so that some answers are cached
        ids += probe.visit_all_addresses(random.Random(corpus.seeds[0]))
    for probe in probes:
        probe.open_answers(chance.sample(ids, 12))
    _assert_root_sees_every_secret(corpus, probes[0])
    _restrict_some(app, corpus, chance)
    for probe in probes[1:]:
        probe.open_answers(chance.sample(ids, 12))
        probe.visit_all_addresses(random.Random(corpus.seeds[0]))
    return sum(probe.reply_count for probe in probes)


def _assert_root_sees_every_secret(corpus: AclCorpus, root: Probe) -> None:
    """Fail if a secret would never be shown to anybody, so that the probes cannot find it."""
    text = "\n".join(root.replies)
    unseen = {secret for mine in corpus.secrets.values() for secret in mine if secret not in text}
    assert not unseen
    if corpus.documents[next(iter(corpus.documents))].vector is not None:
        assert '"kind":"meaning"' in text.replace(" ", ""), "no reason was told by vectors"


def _restrict_some(app: AppClient, corpus: AclCorpus, chance: random.Random) -> None:
    """Change the groups of some documents, open ones among them."""
    changed = []
    for id in chance.sample(list(corpus.documents), 6 * len(corpus.seeds)):
        acl = (f"w{chance.choice(corpus.seeds)}{chance.choice(GROUPS)}",)
        changed.append(replace(corpus.documents[id], acl=acl))
        corpus.documents[id] = changed[-1]
    container = app.flask_app.extensions[EXTENSION].gateway.container
    add_documents(changed, container.engine, "papers", listener=container.versions)
