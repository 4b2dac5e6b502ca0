"""Rows of a results page: which pages count, and that the first request for reasons is the one that is timed."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from tests.support.corpora.bench_corpus import DOCUMENT_COUNT, INDEX
from worker.benchmark.generated_corpus import generate_documents
from worker.benchmark.measure_http import run_service
from worker.benchmark.measure_search import SearchClient, is_fully_explained, time_pages
from worker.benchmark.workload import draw_workload


@pytest.fixture(scope="module")
def queries(generated_embedded_engine: Engine) -> list[str]:
    ids = [document.id for document in generate_documents(DOCUMENT_COUNT)]
    return draw_workload(generated_embedded_engine.open_reader(INDEX), ids, 4)[1]


@pytest.fixture
def port(generated_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a service on each engine, which has answered nothing yet."""
    if isinstance(generated_engine, ElasticsearchEngine):
        monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", generated_engine.prefix)
    with run_service(generated_engine.address) as port:
        yield port


@pytest.fixture
def client(port: int) -> Iterator[SearchClient]:
    with closing(SearchClient(port, INDEX)) as client:
        yield client


def count_finished_jobs(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        lines = response.read().decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if re.match(r'phrasecom_jobs_ended_total{.*"done"', line))


def remove_hit(hits: list[Any]) -> None:
    hits.pop()


def set_pending(hits: list[Any]) -> None:
    hits[0]["why"]["state"] = "pending"


def remove_matched(hits: list[Any]) -> None:
    del hits[3]["why"]["matched"]


def reverse_distinct(hits: list[Any]) -> None:
    hits[5]["why"]["distinct"].reverse()


def test_a_page_counts_only_with_the_reasons_of_the_explanations(client: SearchClient, queries: list[str]) -> None:
    response = client.search(queries[0], True)
    assert is_fully_explained(client, queries[0], response)
    changes: list[Callable[[list[Any]], None]] = [remove_hit, set_pending, remove_matched, reverse_distinct]
    for change in changes:
        page = json.loads(response)
        change(page["hits"]["hits"])
        assert not is_fully_explained(client, queries[0], json.dumps(page).encode())


def test_the_first_run_computes_the_reasons_and_the_second_finds_them(
    port: int, client: SearchClient, queries: list[str]
) -> None:
    done = [count_finished_jobs(port)]
    for _ in range(2):
        pages = time_pages(client, queries, budget_seconds=60.0)
        assert len(pages.with_why) == len(pages.without_why) == len(queries)
        done.append(count_finished_jobs(port))
    assert [after - before for before, after in pairwise(done)] == [len(queries), 0]
