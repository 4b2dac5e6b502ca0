"""The search page on an index that is searched by words and by meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from indexer.engines import open_engine
from indexer.indexing.build import build_index
from tests.support.browser import Page, open_fresh_page
from tests.support.corpora.meaning_corpus import UNRELATED_QUERY, make_filler_documents, make_meaning_documents
from tests.support.site import Site, serve_site

if TYPE_CHECKING:
    from selenium import webdriver

INDEX = "meanings"


@pytest.fixture(scope="module")
def meaning_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("meanings")
    with open_engine(str(folder)) as engine:
        build_index([*make_meaning_documents(12), *make_filler_documents(600)], engine, INDEX, processes=1)
    yield from serve_site(folder)


@pytest.fixture
def meaning_page(chromium: webdriver.Chrome, meaning_site: Site) -> Iterator[Page]:
    yield from open_fresh_page(chromium, meaning_site)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_results_that_share_no_word_with_the_query_are_found_and_explained(
    meaning_page: Page, axe: str, dark: bool
) -> None:
    meaning_page.emulate(dark=dark)
    meaning_page.open(f"/?index={INDEX}&q=stargazing")
    meaning_page.wait_for_texts(".result", 10)
    meaning_page.wait_until_settled()
    assert meaning_page.get_texts(".result .found-by") == ["found by meaning"] * 10
    for position in range(10):
        assert meaning_page.get_texts(f"#hit-{position} why-this-result >> .chip.meaning [part=phrase]"), position
    assert meaning_page.run("return deep('#by input:checked')[0].value") == "both"
    assert meaning_page.run_axe(axe) == []
    assert meaning_page.get_errors() == []


def test_a_visitor_chooses_what_is_searched_by(meaning_page: Page) -> None:
    meaning_page.open(f"/?index={INDEX}&q=violin")
    meaning_page.wait_for_texts(".result", 10)
    assert "found by words and meaning" in meaning_page.get_texts(".result .found-by")
    meaning_page.run("deep('#by input[value=meaning]')[0].click()")
    meaning_page.wait_for_script("return location.search.includes('by=meaning')")
    meaning_page.wait_for_script("return deep('.found-by').every((one) => one.textContent === 'found by meaning')")
    meaning_page.run("deep('#by input[value=words]')[0].click()")
    meaning_page.wait_for_script("return location.search.includes('by=words') && !deep('.found-by').length")
    meaning_page.driver.back()
    meaning_page.wait_for_script("return location.search.includes('by=meaning') && deep('.found-by').length > 0")
    assert meaning_page.run("return deep('#by input:checked')[0].value") == "meaning"
    assert meaning_page.get_errors() == []


def test_a_query_that_is_near_nothing_says_so(meaning_page: Page) -> None:
    meaning_page.open(f"/?index={INDEX}&q={UNRELATED_QUERY}&by=meaning")
    assert "Nothing found. Search by words and meaning" in meaning_page.wait_for_texts("#trouble .notice")[0]
    meaning_page.open(f"/?index={INDEX}&q=")
    meaning_page.wait_for_texts(".result", 10)
    assert not meaning_page.run("return deep('#by')[0].checkVisibility()"), "there is nothing to find by meaning"
