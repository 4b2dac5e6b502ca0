"""Workers killed with kill -9 in every pass of a shared build, and a source that disappears in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import get_context

import psutil
import pytest

from indexer.errors import Unavailable
from tests.support.background_thread import BackgroundThread
from tests.support.engines import reopen_engine
from tests.support.polling import wait_until
from tests.support.shared_builds import SharedBuildSite, open_site, require_equal
from worker.shared_build import coordinator

PASSES = ("words", "phrases", "write")


@pytest.fixture(scope="module")
def site(
    elasticsearch_url: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedBuildSite]:
    with (
        pytest.MonkeyPatch.context() as patch,
        open_site(elasticsearch_url, valkey_url, tmp_path_factory.mktemp("site"), 2.0) as site,
    ):
        patch.setattr(coordinator, "SLICE_DOCUMENTS", 16)
        site.start_worker()
        site.start_worker()
        yield site


class SliceKiller(BackgroundThread):
    """Kills, once in each pass, a process that runs a slice; in one pass the worker that it belongs to as well."""

    def __init__(self, site: SharedBuildSite) -> None:
        super().__init__()
        self._site = site
        self.killed: list[str] = []
        """The passes that were met."""

    def _run(self) -> None:
        for name in PASSES:
            while not self._stopping.wait(0.005) and not self._kill_one_of(name):
                pass

    def _kill_one_of(self, name: str) -> bool:
        for id, pid in self._site.list_running_slices().items():
            if f"-{name}-" in id and self._kill_if_running(id, pid, with_parent=name == PASSES[1]):
                self.killed.append(name)
                return True
        return False

    def _kill_if_running(self, id: str, pid: int, *, with_parent: bool) -> bool:
        """Kill a process that certainly runs the slice: it is stopped first."""
        try:
            process = psutil.Process(pid)
            parent = process.parent()
            process.suspend()
        except psutil.NoSuchProcess:
            return False
        if self._site.list_running_slices().get(id) != pid:
            process.resume()
            return False
        if with_parent and parent is not None:
            parent.kill()
        process.kill()
        return True


def test_a_lost_worker_costs_its_slice_again_and_nothing_else(site: SharedBuildSite) -> None:
    site.build_here("ordinary")
    with SliceKiller(site) as killer:
        report = site.build_shared("shared")
    assert report is not None
    assert killer.killed == list(PASSES)
    assert len(PASSES) <= report.retries < report.slices
    require_equal(site.engine.open_reader("shared"), site.engine.open_reader("ordinary"))


def test_a_source_that_disappears_fails_the_build_and_the_old_epoch_answers(site: SharedBuildSite) -> None:
    before = site.engine.open_reader("shared").info
    names = site.list_index_names()
    source = f"{site.name}-copy"
    site.put_source(source)

    def delete_source(stage: str, done: int, total: int) -> None:
        if stage == "weigh (slices)" and done == 1:
            site.client.indices.delete(index=source)

    with pytest.raises(Unavailable, match="cannot be read any more as it was") as caught:
        site.build_shared("shared", address=f"{site.address}-copy", progress=delete_source, force=True)
    assert "slice" in str(caught.value)
    assert site.engine.open_reader("shared").info == before
    assert site.list_index_names() == names
    wait_until(lambda: site.count_open_slices() == 0)


def test_a_killed_coordinator_leaves_the_old_epoch_and_run_again_gives_the_index(site: SharedBuildSite) -> None:
    before = site.engine.open_reader("shared").info

    def build_in_child() -> None:
        site.build_shared("shared", engine=reopen_engine(site.engine), force=True)

    child = get_context("fork").Process(target=build_in_child)
    child.start()
    wait_until(lambda: any("-phrases-" in id for id in site.list_running_slices()))
    child.kill()
    child.join()
    assert site.engine.open_reader("shared").info == before
    report = site.build_shared("shared", force=True)
    assert report is not None
    require_equal(site.engine.open_reader("shared"), site.engine.open_reader("ordinary"))
    wait_until(lambda: site.count_open_slices() == 0)
    versions = {name.rpartition(".")[2] for name in site.list_index_names() if "shared" in name}
    assert len(versions) == 1, "nothing of the killed build is left"
