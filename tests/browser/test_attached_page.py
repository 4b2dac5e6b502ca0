"""The page on an index that is searched in its source: other fields, other facets, documents without reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.browser import Page
from tests.browser.conftest import fresh, serving
from tests.browser.site import Site
from tests.webapi.sources import House, attach, story

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = pytest.mark.elasticsearch


@pytest.fixture(scope="module")
def attached_site(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    house = House(elasticsearch_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("attached"))
        patch.setenv("PHRASECOM_INDEX_PREFIX", house.prefix)
        attach(house)
    house.put("late", story(2) | {"headline": "A late one"})
    yield from serving(house.url, index_prefix=house.prefix)
    house.close()


@pytest.fixture
def attached_page(chromium: webdriver.Chrome, attached_site: Site) -> Iterator[Page]:
    yield from fresh(chromium, attached_site)


def test_hits_of_the_source_are_shown_with_its_fields_and_facets(attached_page: Page, attached_site: Site) -> None:
    page = attached_page
    page.open("/?index=news&q=late+Graph")
    assert "13 results" in page.see("#count strong")[0]
    titles = page.texts(".result h2")
    assert titles[0] == "A late one" and all(title.endswith("on the web graph") for title in titles[1:])
    page.settled()
    assert page.texts("#facets legend")[0] == "desk"
    assert page.count(".result mark") > 0 and page.count(".result time") == 10
    assert "changed" not in page.shown() and "No reasons: it was added" in page.texts(".lacking")[0]
    assert page.count("why-this-result[state=error]") == 0 and page.count("why-this-result[state=ready]") > 6
    page.click("input[value=sports]")
    page.until("return deep('#count')[0].textContent.startsWith('6 results')")
    assert attached_site.asked("GET", "/v1/indexes/news") == 1 + attached_site.asked("GET", "/v1/indexes/news/")
    assert page.complaints() == []


def test_groups_of_the_side_index_are_compared(attached_page: Page) -> None:
    page = attached_page
    page.open("/compare?index=news")
    page.see(".side select", 2)
    page.click("#parts")
    page.see("select[aria-label='Facet of B'] option[value='desk:sports']")
    page.choose("select[aria-label='Facet of A']", "desk:science")
    page.choose("select[aria-label='Facet of B']", "desk:sports")
    page.click("#ask .primary")
    page.see(".column.common .phrase")
    assert page.complaints() == []
