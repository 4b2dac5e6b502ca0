"""Pictures of the three views. With PHRASECOM_TEST_SCREENSHOTS set they go into docs/images, made of this Python's
own documentation; otherwise they are made of the test papers and thrown away."""

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
KEEP = bool(os.environ.get("PHRASECOM_TEST_SCREENSHOTS"))
PACKAGES = frozenset({"scikit-learn", "scipy"})
MOST = 1500
LARGEST = 300_000

SEARCH = "clustering algorithm" if KEEP else "web graph"
PAIR = ("sklearn.cluster.KMeans", "sklearn.cluster.DBSCAN") if KEEP else ("paper-1", "paper-5")


@pytest.fixture(scope="module")
def shown_site(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Site]:
    if not KEEP:
        yield request.getfixturevalue("site")
        return
    folder = tmp_path_factory.mktemp("docstrings")
    found = (one for one in read_docstrings() if PACKAGES.intersection(one.facets["package"]))
    with open_engine(str(folder)) as engine:
        build_index(islice(found, MOST), engine, "papers", processes=1)
    yield from serve_site(folder)


@pytest.fixture
def shown(chromium: webdriver.Chrome, shown_site: Site) -> Iterator[Page]:
    yield from open_fresh_page(chromium, shown_site)


def keep(page: Page, name: str, tmp_path: Path) -> None:
    path = (IMAGES if KEEP else tmp_path) / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    page.driver.save_screenshot(str(path))
    assert 10_000 < path.stat().st_size < LARGEST


def test_a_picture_of_the_search_page(shown: Page, tmp_path: Path) -> None:
    shown.emulate(width=1200, height=860)
    shown.open(f"/?index=papers&q={SEARCH}")
    shown.wait_for_texts(".result", 3)
    shown.wait_until_settled()
    shown.run("deep('#hit-0 why-this-result >> .chip').at(-1).click()")
    keep(shown, "search", tmp_path)


def test_a_picture_of_a_comparison(shown: Page, tmp_path: Path) -> None:
    shown.emulate(width=1200, height=900)
    shown.open(f"/compare?index=papers&a={PAIR[0]}&b={PAIR[1]}")
    shown.wait_for_texts(".text.b mark")
    shown.run("deep('.column.common .phrase')[1].click()")
    shown.wait_for_texts(".evidence")
    keep(shown, "compare", tmp_path)


def test_a_picture_of_a_neighbourhood(shown: Page, tmp_path: Path) -> None:
    shown.emulate(width=1200, height=760, dark=True)
    shown.open(f"/compare?index=papers&a={PAIR[0]}&b={PAIR[1]}&graph=1")
    shown.wait_for_texts(".node.phrase")
    shown.run("deep('.node.common')[1].dispatchEvent(new MouseEvent('click'))")
    shown.wait_for_script("return deep('.edge.on').length")
    shown.run("deep('#graph')[0].scrollIntoView()")
    keep(shown, "neighbourhood", tmp_path)
