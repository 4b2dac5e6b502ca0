"""One Chromium and one site for all browser tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.browser import Page, open_chromium, open_fresh_page
from tests.support.corpora.page_corpus import make_odd_documents, make_papers
from tests.support.required_programs import PROGRAMS_USED, skip_without
from tests.support.site import OtherSiteApp, Site, serve_site
from worker.solver.parameters import DEFAULT, PRESETS

if TYPE_CHECKING:
    from selenium import webdriver


@pytest.fixture(scope="session")
def chromium(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """The browser, one for the whole run."""
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next((found for name in names if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        skip_without("Chromium", "install chromium and chromium-driver")
    browser = open_chromium(binary, driver, str(tmp_path_factory.mktemp("profile")))
    pytestconfig.stash[PROGRAMS_USED].append(f"Chromium {browser.capabilities['browserVersion']}")
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def axe() -> str:
    from deploy.npm import AXE, DownloadError, fetch_script

    try:
        return fetch_script(AXE).read_text()
    except DownloadError as error:
        skip_without("axe-core", str(error))


@pytest.fixture(scope="session")
def other_site() -> Iterator[Site]:
    """Another site, which serves the pages that a test writes into ``app.pages``."""
    site = Site(OtherSiteApp()).start()
    yield site
    site.stop()


@pytest.fixture(scope="session")
def papers_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an embedded engine with the index ``papers``."""
    folder = tmp_path_factory.mktemp("papers")
    with open_engine(str(folder)) as engine:
        build_index(make_papers(), engine, "papers", processes=1)
    return folder


@pytest.fixture(scope="session")
def site(papers_folder: Path, other_site: Site) -> Iterator[Site]:
    """The service with one index, ``papers``."""
    yield from serve_site(papers_folder, cors_origins=other_site.url)


@pytest.fixture(scope="session")
def odd_site(papers_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The service with two indexes, one of them full of markup."""
    folder = tmp_path_factory.mktemp("odd") / "engine"
    shutil.copytree(papers_folder, folder)
    with open_engine(str(folder)) as engine:
        build_index(make_odd_documents(), engine, "odd", processes=1)
    yield from serve_site(folder)


@pytest.fixture
def page(chromium: webdriver.Chrome, site: Site) -> Iterator[Page]:
    """A fresh page of the service."""
    yield from open_fresh_page(chromium, site)


@pytest.fixture
def odd_page(chromium: webdriver.Chrome, odd_site: Site) -> Iterator[Page]:
    yield from open_fresh_page(chromium, odd_site)


@pytest.fixture
def implied_phrases_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default preset as if readers kept implied phrases, of which the test papers have no good ones."""
    monkeypatch.setitem(PRESETS, "default", DEFAULT.with_options(odds_implied_intercept=3.0))
