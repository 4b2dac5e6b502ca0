"""One Chromium and one site for all browser tests."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.settings import load_settings
from tests.browser.browser import Page, open_chromium
from tests.browser.corpus import odd, papers
from tests.browser.site import Site
from tests.conftest import SERVERS
from tests.conftest import _missing as missing
from webapi.app import create_app
from webapi.context import EXTENSION
from worker.jobs.config import load_work_config

if TYPE_CHECKING:
    from selenium import webdriver


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """The browser, one for the whole run."""
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next((found for name in names if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        missing("Chromium", "install chromium and chromium-driver")
    opened = open_chromium(binary, driver, str(tmp_path_factory.mktemp("profile")))
    pytestconfig.stash[SERVERS].append(f"Chromium {opened.capabilities['browserVersion']}")
    yield opened
    opened.quit()


@pytest.fixture(scope="session")
def axe() -> str:
    from deploy.npm import AXE, DownloadError, fetch_script

    try:
        return fetch_script(AXE).read_text()
    except DownloadError as error:
        missing("axe-core", str(error))


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Site]:
    """A site of somebody else: it serves whatever page a test writes into ``pages``."""
    site = Site(OtherApp()).start()
    yield site
    site.stop()


class OtherApp:
    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.posts: dict[str, Callable[[bytes], bytes]] = {}
        """What is done with the JSON sent to an address."""

    def __call__(self, environ, start_response):  # type: ignore[no-untyped-def]
        path = environ["PATH_INFO"]
        if environ["REQUEST_METHOD"] == "POST" and path in self.posts:
            sent = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            start_response("200 OK", [("Content-Type", "application/json")])
            return [self.posts[path](sent)]
        page = self.pages.get(path)
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        start_response("200 OK" if page else "404 Not Found", [("Content-Type", f"{kind}; charset=utf-8")])
        return [(page or "").encode()]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An engine with the index ``papers``."""
    folder = tmp_path_factory.mktemp("papers")
    with open_engine(str(folder)) as engine:
        build_index(papers(), engine, "papers", processes=1)
    return folder


@pytest.fixture(scope="session")
def site(built: Path, elsewhere: Site) -> Iterator[Site]:
    """The service with one index, ``papers``."""
    yield from serving(built, cors_origins=elsewhere.url)


@pytest.fixture(scope="session")
def odd_site(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The service with two indexes, one of them full of markup."""
    folder = tmp_path_factory.mktemp("odd") / "engine"
    shutil.copytree(built, folder)
    with open_engine(str(folder)) as engine:
        build_index(odd(), engine, "odd", processes=1)
    yield from serving(folder)


def serving(folder: Path | str, **settings: object) -> Iterator[Site]:
    loaded = load_settings(engine=str(folder), wait_seconds=0.5, **settings)
    config = load_work_config(loaded, inline=True, comparer="tests.browser.site:GatedComparer")
    app = create_app(loaded, config=config)
    served = Site(app).start()
    yield served
    served.stop()
    app.extensions[EXTENSION].gateway.close()


@pytest.fixture
def page(chromium: webdriver.Chrome, site: Site) -> Iterator[Page]:
    """A fresh page of the service, calm weather."""
    yield from fresh(chromium, site)


@pytest.fixture
def odd_page(chromium: webdriver.Chrome, odd_site: Site) -> Iterator[Page]:
    yield from fresh(chromium, odd_site)


def fresh(chromium: webdriver.Chrome, site: Site) -> Iterator[Page]:
    page = Page(chromium, site.url)
    begin(page, site)
    page.open("/healthz")
    page.run("sessionStorage.clear()")
    chromium.get_log("browser")
    site.calm()
    yield page
    site.calm()
    page.look()


def begin(page: Page, site: Site) -> None:
    """Calm weather, and nothing counted that the page before this one still asks for."""
    site.calm()
    site.turn = uuid.uuid4().hex
    page.look()
    page.take_turn(site.turn)
