"""What the shell writes is heard by a running service at once, through Redis."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from indexer.cli.main import run
from indexer.errors import UnknownDocument, UnknownIndex
from indexer.indexing.notifications import KEY_PREFIX
from tests.worker.jobs.conftest import until
from tests.worker.service.test_gateway import ROOT, pair
from worker.jobs.config import WorkConfig
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway


@pytest.fixture
def desk(config: WorkConfig, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobGateway]:
    """A service that would remember for an hour, on the Redis that the shell knows of."""
    shutil.copytree(corpus, tmp_path / "engine")
    url = config.redis_url + "?db=7"
    monkeypatch.setenv("PHRASECOM_ENGINE", str(tmp_path / "engine"))
    monkeypatch.setenv("PHRASECOM_REDIS_URL", url)
    monkeypatch.chdir(tmp_path)
    hour = 3600.0
    long = replace(
        config,
        engine=str(tmp_path / "engine"),
        redis_url=url,
        key_prefix=KEY_PREFIX,
        epoch_ttl=hour,
        document_ttl=hour,
        acl_ttl=hour,
    )
    desk = JobGateway(ServiceContainer(long))
    yield desk
    desk.close()
    with redis.Redis.from_url(url) as client:
        client.flushdb()


def phrasecom(*arguments: str) -> None:
    assert run(list(arguments)) == 0


def written(tmp_path: Path, **fields: object) -> str:
    path = tmp_path / f"{uuid.uuid4().hex}.jsonl"
    path.write_text(json.dumps(fields) + "\n")
    return str(path)


def heard(desk: JobGateway) -> None:
    """Bytes that were understood are forgotten once the news are heard."""
    body = b"remembered"

    def recalled() -> bool:
        desk.remember_id(ROOT, body, "papers", "x")
        return desk.recall_id(ROOT, body) == "x"

    until(recalled)


def test_a_document_added_by_the_shell_changes_its_answers_at_once(desk: JobGateway, tmp_path: Path) -> None:
    touched, other = desk.compute_answer_id(pair("d1", "d2", ROOT)), desk.compute_answer_id(pair("d3", "d4", ROOT))
    heard(desk)
    phrasecom("add", written(tmp_path, id="d2", title="Changed", text="The web graph."), "--index", "papers")
    assert desk.compute_answer_id(pair("d1", "d2", ROOT)) != touched
    assert desk.compute_answer_id(pair("d3", "d4", ROOT)) == other
    until(lambda: desk.recall_id(ROOT, b"remembered") is None)


def test_a_document_deleted_by_the_shell_is_gone_at_once(desk: JobGateway) -> None:
    desk.compute_answer_id(pair("d1", "d2", ROOT))
    phrasecom("delete", "d2", "--index", "papers")
    with pytest.raises(UnknownDocument):
        desk.compute_answer_id(pair("d1", "d2", ROOT))


def test_an_index_refreshed_or_removed_by_the_shell_is_noticed_at_once(desk: JobGateway) -> None:
    before = desk.compute_answer_id(pair("d1", "d2", ROOT))
    phrasecom("refresh", "--index", "papers", "--index-processes", "1")
    assert desk.compute_answer_id(pair("d1", "d2", ROOT)) != before
    phrasecom("delete", "--all", "--index", "papers")
    with pytest.raises(UnknownIndex):
        desk.compute_answer_id(pair("d1", "d2", ROOT))


def test_the_shell_writes_without_redis_and_says_what_was_not_told(
    desk: JobGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHRASECOM_REDIS_URL", "redis://127.0.0.1:1/0")
    phrasecom("add", written(tmp_path, id="d77", text="The web graph."), "--index", "papers")
    assert "within a minute" in capsys.readouterr().err
    assert "d77" in desk.container.catalog.fetch_documents("papers", ["d77"])
