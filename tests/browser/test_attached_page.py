"""The pages on an attached index, searched in its source: other fields and facets, documents without reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.attached_sources import AttachedSource, attach_source, make_story
from tests.support.browser import Page, open_fresh_page
from tests.support.site import Site, serve_site

if TYPE_CHECKING:
    from selenium import webdriver


@pytest.fixture(scope="module")
def source(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttachedSource]:
    source = AttachedSource(elasticsearch_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("attached"))
        patch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
        attach_source(source)
    source.put_document("late", make_story(2) | {"headline": "A late one"})
    yield source
    source.close()


@pytest.fixture(scope="module")
def attached_site(source: AttachedSource) -> Iterator[Site]:
    yield from serve_site(source.url, index_prefix=source.prefix)


@pytest.fixture
def attached_page(chromium: webdriver.Chrome, attached_site: Site) -> Iterator[Page]:
    yield from open_fresh_page(chromium, attached_site)


def test_hits_of_the_source_are_shown_with_its_fields_and_facets(attached_page: Page, attached_site: Site) -> None:
    page = attached_page
    page.open("/?index=news&q=late+Graph")
    assert "13 results" in page.wait_for_texts("#count strong")[0]
    titles = page.get_texts(".result h2")
    assert titles[0] == "A late one" and all(title.endswith("on the web graph") for title in titles[1:])
    page.wait_until_settled()
    assert page.get_texts("#facets legend")[0] == "desk"
    assert page.count_elements(".result mark") > 0 and page.count_elements(".result time") == 10
    assert "changed" not in page.get_visible_text() and "No phrases: it was added" in page.get_texts(".lacking")[0]
    assert (
        page.count_elements("why-this-result[state=error]") == 0
        and page.count_elements("why-this-result[state=ready]") > 6
    )
    page.click("input[value=sports]")
    page.wait_for_script("return deep('#count')[0].textContent.startsWith('6 results')")
    assert attached_site.count_requests("GET", "/v1/indexes/news") == 1 + attached_site.count_requests(
        "GET", "/v1/indexes/news/"
    )
    assert page.get_errors() == []


def test_words_are_searched_for_in_title_and_text_only(attached_page: Page) -> None:
    attached_page.open("/?index=news&q=sports")  # a desk
    attached_page.wait_for_script("return deep('#count')[0].textContent.startsWith('0 results')")


def test_facet_groups_of_an_attached_index_are_compared(attached_page: Page) -> None:
    page = attached_page
    page.open("/compare?index=news")
    page.wait_for_texts(".side select", 2)
    page.click("#parts")
    page.wait_for_texts("select[aria-label='Facet of B'] option[value='desk:sports']")
    page.set_value("select[aria-label='Facet of A']", "desk:science")
    page.set_value("select[aria-label='Facet of B']", "desk:sports")
    page.click("#ask .primary")
    page.wait_for_texts(".column.common .phrase")
    assert page.get_errors() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_element_notes_on_a_hit_that_it_was_changed_in_the_source(
    attached_page: Page, source: AttachedSource, axe: str, dark: bool
) -> None:
    page, notes = attached_page, "why-this-result >> [part=source]"
    page.emulate(dark=dark)
    page.open("/example?index=news&q=Graph")
    page.wait_for_texts("why-this-result[state=ready]")
    page.wait_until_settled()
    assert page.count_elements(notes) == 0
    source.put_document("s2", make_story(2) | {"headline": "Graph, written anew"})
    try:
        page.open("/example?index=news&q=Graph")
        assert page.wait_for_texts(notes) == ["Changed in the source since it was indexed."]
        page.wait_until_settled()
        states = page.run("return deep('why-this-result').map((one) => [one.hit, one.source])")
        assert {hit: state for hit, state in states if state} == {"s2": "changed"}
        assert page.run_axe(axe) == [] and page.get_errors() == []
    finally:
        source.put_document("s2", make_story(2))
