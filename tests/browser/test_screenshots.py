"""Screenshots of the views. With PHRASECOM_TEST_SCREENSHOTS set they show this Python's own documentation and go
into docs/images; otherwise they show the test papers and are thrown away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.readers.docstrings import read_docstrings
from tests.support.browser import Page, open_fresh_page
from tests.support.site import Site, serve_site

if TYPE_CHECKING:
    from selenium import webdriver

IMAGES = Path(__file__).parents[2] / "docs" / "images"
IS_KEPT = bool(os.environ.get("PHRASECOM_TEST_SCREENSHOTS"))
PACKAGES = frozenset({"scikit-learn", "scipy"})
MAX_DOCUMENTS = 1500
MAX_BYTES = 300_000

SEARCH = "clustering algorithm" if IS_KEPT else "web graph"
MEANING = "trigonometry" if IS_KEPT else "network"
PAIR = ("sklearn.cluster.KMeans", "sklearn.cluster.DBSCAN") if IS_KEPT else ("paper-1", "paper-5")


@pytest.fixture(scope="module")
def pictured_site(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Site]:
    if not IS_KEPT:
        yield request.getfixturevalue("site")
        return
    folder = tmp_path_factory.mktemp("docstrings")
    documents = (one for one in read_docstrings() if PACKAGES.intersection(one.facets["package"]))
    with open_engine(str(folder)) as engine:
        build_index(islice(documents, MAX_DOCUMENTS), engine, "papers", processes=1)
    yield from serve_site(folder)


@pytest.fixture
def pictured_page(chromium: webdriver.Chrome, pictured_site: Site) -> Iterator[Page]:
    yield from open_fresh_page(chromium, pictured_site)


def save_screenshot(page: Page, name: str, tmp_path: Path) -> None:
    path = (IMAGES if IS_KEPT else tmp_path) / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    page.driver.save_screenshot(str(path))
    assert 10_000 < path.stat().st_size < MAX_BYTES


def test_a_picture_of_the_search_page(pictured_page: Page, tmp_path: Path) -> None:
    pictured_page.emulate(width=1200, height=860)
    pictured_page.open(f"/?index=papers&q={SEARCH}")
    pictured_page.wait_for_texts(".result", 3)
    pictured_page.wait_until_settled()
    pictured_page.run("deep('#hit-0 why-this-result >> .chip').at(-1).click()")
    save_screenshot(pictured_page, "search", tmp_path)


def test_a_picture_of_a_search_by_meaning(pictured_page: Page, tmp_path: Path) -> None:
    pictured_page.emulate(width=1200, height=760)
    pictured_page.open(f"/?index=papers&q={MEANING}")
    pictured_page.wait_for_texts(".result", 2)
    pictured_page.wait_until_settled()
    save_screenshot(pictured_page, "meaning", tmp_path)


def test_a_picture_of_a_comparison(pictured_page: Page, tmp_path: Path) -> None:
    pictured_page.emulate(width=1200, height=900)
    pictured_page.open(f"/compare?index=papers&a={PAIR[0]}&b={PAIR[1]}")
    pictured_page.wait_for_texts(".text.b mark")
    pictured_page.run("deep('.column.common .phrase')[1].click()")
    pictured_page.wait_for_texts(".evidence")
    save_screenshot(pictured_page, "compare", tmp_path)


def test_a_picture_of_a_neighbourhood(pictured_page: Page, tmp_path: Path) -> None:
    pictured_page.emulate(width=1200, height=760, dark=True)
    pictured_page.open(f"/compare?index=papers&a={PAIR[0]}&b={PAIR[1]}&graph=1")
    pictured_page.wait_for_texts(".node.phrase")
    pictured_page.run("deep('.node.common')[1].dispatchEvent(new MouseEvent('click'))")
    pictured_page.wait_for_script("return deep('.edge.on').length")
    pictured_page.run("deep('#graph')[0].scrollIntoView()")
    save_screenshot(pictured_page, "neighbourhood", tmp_path)
