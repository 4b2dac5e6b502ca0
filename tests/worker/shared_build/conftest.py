"""One site with workers for all tests of shared builds, and small slices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.shared_builds import SharedBuildSite, open_site
from worker.shared_build import coordinator


@pytest.fixture(scope="package")
def site(
    elasticsearch_url: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedBuildSite]:
    """A site with two workers, whose source has been indexed in one process as ``ordinary``."""
    with open_site(elasticsearch_url, valkey_url, tmp_path_factory.mktemp("site")) as site:
        site.start_worker()
        site.start_worker()
        site.ordinary = site.build_here("ordinary")
        yield site


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "SLICE_DOCUMENTS", 32)
