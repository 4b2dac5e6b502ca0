"""A build shared out to real workers gives the index of an ordinary one, or leaves the old one with a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from indexer.cli.main import run
from indexer.engines import open_engine
from indexer.errors import BadSetting, PhraseComError, StoreUnavailable, Unavailable
from indexer.indexing.build import AnalysisOptions
from tests.support.polling import wait_until
from tests.support.shared_builds import DOCUMENTS, SharedBuildSite, require_equal
from worker.jobs.job import Job
from worker.jobs.memory_store import MemoryJobStore
from worker.shared_build import slice_jobs

SLICES = 10


def test_it_gives_the_index_of_an_ordinary_build_and_two_workers_take_part(site: SharedBuildSite) -> None:
    report = site.build_shared("shared")
    assert report is not None
    assert (report.slices, report.workers, report.retries) == (SLICES, 2, 0)
    same = ("documents", "mined_documents", "phrases", "pairs", "edges", "rejects")
    assert [getattr(report, name) for name in same] == [getattr(site.ordinary, name) for name in same]
    assert (report.documents, report.mined_documents, report.rejects) == (DOCUMENTS - 1, 80, 1)
    require_equal(site.engine.open_reader("shared"), site.engine.open_reader("ordinary"))
    again = site.build_shared("shared")
    assert again is not None
    assert (again.unchanged, again.epoch) == (True, report.epoch)
    assert site.count_open_slices() == 0


def test_documents_that_fit_the_sample_are_left_to_an_ordinary_build(site: SharedBuildSite) -> None:
    names = site.list_index_names()
    assert site.build_shared("small", AnalysisOptions(sample_documents=DOCUMENTS)) is None
    assert site.list_index_names() == names


def test_without_workers_nothing_is_begun_and_the_error_names_the_command(site: SharedBuildSite) -> None:
    names = site.list_index_names()
    other_queue = replace(site.config, key_prefix="{nobody}:")
    with pytest.raises(Unavailable, match="no worker is running") as caught:
        site.build_shared("lonely", config=other_queue)
    assert "phrasecom worker" in caught.value.fix
    assert site.list_index_names() == names


def test_the_embedded_engine_is_refused(site: SharedBuildSite, tmp_path: Path) -> None:
    with open_engine(str(tmp_path)) as engine, pytest.raises(BadSetting, match="folder of one machine"):
        site.build_shared("shared", engine=engine)


def test_an_interrupted_build_leaves_nothing(site: SharedBuildSite) -> None:
    names = site.list_index_names()

    def interrupt(stage: str, done: int, total: int) -> None:
        if stage.startswith("weigh"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        site.build_shared("shared", progress=interrupt, force=True)
    assert site.list_index_names() == names
    wait_until(lambda: site.count_open_slices() == 0)


def test_a_store_that_fails_now_and_then_loses_no_slice(site: SharedBuildSite, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, get = count(), MemoryJobStore.get

    def fail_every_fourth_time(store: MemoryJobStore, id: str) -> Job | None:
        if next(calls) % 4 == 3:
            raise StoreUnavailable("the job store cannot be reached")
        return get(store, id)

    monkeypatch.setattr(MemoryJobStore, "get", fail_every_fourth_time)
    monkeypatch.setattr(slice_jobs, "_POLL_SECONDS", 0.01)
    report = site.build_shared("unsteady", config=replace(site.config, redis_url=""))
    assert report is not None
    assert (report.slices, report.retries) == (SLICES, 0)
    assert next(calls) > 3 * SLICES
    require_equal(site.engine.open_reader("unsteady"), site.engine.open_reader("ordinary"))


def test_a_build_that_another_takes_over_ends_with_the_reason(site: SharedBuildSite) -> None:
    def take_over(stage: str, done: int, total: int) -> None:
        if stage.startswith("weigh") and done == 1:
            site.engine.start_build("shared").abort()

    names = site.list_index_names()
    with pytest.raises(PhraseComError, match="has ended"):
        site.build_shared("shared", progress=take_over, force=True)
    assert site.list_index_names() == names
    wait_until(lambda: site.count_open_slices() == 0)


def test_the_command_reports_slices_workers_and_retries(
    site: SharedBuildSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", site.config.engine_options["prefix"])
    monkeypatch.setenv("PHRASECOM_REDIS_URL", site.config.redis_url)
    monkeypatch.setattr("worker.shared_build.command.load_work_config", lambda _: site.config)
    maps = ["--map", "title=headline", "--map", "text=body", "--map", "acl=", "--sample-documents", "80"]
    command = ["attach", site.address, "--index", "commanded", "--engine", site.config.engine, "--shared", *maps]
    assert run([*command, "--json"]) == 1, "one record is rejected"
    report = json.loads(capsys.readouterr().out)
    assert report["documents"] == DOCUMENTS - 1
    assert (report["slices"], report["retries"]) == (SLICES, 0)
    assert report["workers"] >= 1
    require_equal(site.engine.open_reader("commanded"), site.engine.open_reader("ordinary"))
    assert run(command) == 1
    assert "slices" in capsys.readouterr().out
    assert run([*command, "--sample-documents", "1000"]) == 1
    assert "nothing is shared out" in capsys.readouterr().err
