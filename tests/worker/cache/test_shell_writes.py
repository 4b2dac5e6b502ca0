"""A running service learns through Redis at once what the command line writes to an index."""

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
from tests.support.gateways import UNRESTRICTED, make_pair_request, wait_until_remembered
from tests.support.polling import wait_until
from worker.jobs.config import WorkConfig
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway


@pytest.fixture
def gateway(
    work_config: WorkConfig, engine_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobGateway]:
    """The gateway of a service that caches for an hour, on the Redis that the command line notifies."""
    shutil.copytree(engine_folder, tmp_path / "engine")
    url = work_config.redis_url + "?db=7"
    monkeypatch.setenv("PHRASECOM_ENGINE", str(tmp_path / "engine"))
    monkeypatch.setenv("PHRASECOM_REDIS_URL", url)
    monkeypatch.chdir(tmp_path)
    hour = 3600.0
    long = replace(
        work_config,
        engine=str(tmp_path / "engine"),
        redis_url=url,
        key_prefix=KEY_PREFIX,
        epoch_ttl=hour,
        document_ttl=hour,
        acl_ttl=hour,
    )
    gateway = JobGateway(ServiceContainer(long))
    yield gateway
    gateway.close()
    with redis.Redis.from_url(url) as client:
        client.flushdb()


def run_command(*arguments: str) -> None:
    assert run(list(arguments)) == 0


def write_json_line(tmp_path: Path, **fields: object) -> str:
    path = tmp_path / f"{uuid.uuid4().hex}.jsonl"
    path.write_text(json.dumps(fields) + "\n")
    return str(path)


def test_a_document_added_by_the_shell_changes_its_answers_at_once(gateway: JobGateway, tmp_path: Path) -> None:
    touched = gateway.compute_answer_id(make_pair_request("d1", "d2"))
    other = gateway.compute_answer_id(make_pair_request("d3", "d4"))
    wait_until_remembered(gateway, b"remembered")
    run_command("add", write_json_line(tmp_path, id="d2", title="Changed", text="The web graph."), "--index", "papers")
    assert gateway.compute_answer_id(make_pair_request("d1", "d2")) != touched
    assert gateway.compute_answer_id(make_pair_request("d3", "d4")) == other
    wait_until(lambda: gateway.recall_job_id(UNRESTRICTED, b"remembered") is None)


def test_a_document_deleted_by_the_shell_is_gone_at_once(gateway: JobGateway) -> None:
    gateway.compute_answer_id(make_pair_request("d1", "d2"))
    run_command("delete", "d2", "--index", "papers")
    with pytest.raises(UnknownDocument):
        gateway.compute_answer_id(make_pair_request("d1", "d2"))


def test_an_index_refreshed_or_removed_by_the_shell_is_noticed_at_once(gateway: JobGateway) -> None:
    before = gateway.compute_answer_id(make_pair_request("d1", "d2"))
    run_command("refresh", "--index", "papers", "--index-processes", "1")
    assert gateway.compute_answer_id(make_pair_request("d1", "d2")) != before
    run_command("delete", "--all", "--index", "papers")
    with pytest.raises(UnknownIndex):
        gateway.compute_answer_id(make_pair_request("d1", "d2"))


def test_the_shell_writes_without_redis_and_warns_of_stale_answers(
    gateway: JobGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHRASECOM_REDIS_URL", "redis://127.0.0.1:1/0")
    run_command("add", write_json_line(tmp_path, id="d77", text="The web graph."), "--index", "papers")
    assert "within a minute" in capsys.readouterr().err
    assert "d77" in gateway.container.catalog.fetch_documents("papers", ["d77"])
