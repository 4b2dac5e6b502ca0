"""The comparison page."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browser import Page
from tests.support.corpora.page_corpus import make_papers
from tests.support.site import COMPARISON_GATE, Site, make_unseen_query
from webapi.client import Client

PAIR = "/compare?index=papers&a=paper-1&b=paper-5"


@pytest.fixture
def implied(site: Site, implied_phrases_listed: None) -> tuple[str, dict[str, Any]]:
    """A paper, and a phrase of it that other documents connect to the first paper."""
    with Client(site.url) as client:
        for paper in make_papers()[1:]:
            answer = client.compare("papers", paper.id, "paper-1")
            for entry in answer["common"]:
                if entry["kind"] == "implied" and entry["via"]:
                    return paper.id, entry
    raise AssertionError("no phrase is implied")


def open_comparison(page: Page, path: str = PAIR) -> None:
    page.open(path)
    page.wait_for_texts(".column .phrase", 2)


def test_two_documents_side_by_side(page: Page) -> None:
    open_comparison(page)
    assert page.get_texts("#board h2")[0].startswith("Only A")
    assert page.wait_for_texts("#summary")[0].startswith("Both are about")
    assert len(page.wait_for_texts(".text mark.in-common", 2)) >= 2
    titles = {paper.id: paper.title for paper in make_papers()}
    assert page.get_texts(".text h3") == ["A" + titles["paper-1"], "B" + titles["paper-5"]]
    assert page.get_errors() == []


def test_a_click_marks_the_phrase_in_both_texts_and_the_address_keeps_it(page: Page) -> None:
    open_comparison(page)
    page.wait_for_texts(".text.b mark", 1)
    page.click(".column.common .phrase.shared")
    phrase = page.get_attribute(".column.common .phrase[aria-expanded=true]", "data-phrase")
    assert page.wait_for_texts(".text.a mark.on") and page.wait_for_texts(".text.b mark.on")
    assert len(page.wait_for_texts(".evidence blockquote", 2)) >= 2
    page.driver.refresh()
    page.wait_for_texts(".evidence blockquote", 2)
    assert page.get_attribute(".phrase[aria-expanded=true]", "data-phrase") == phrase


def test_an_implied_phrase_names_the_documents_that_connect_it(page: Page, implied: tuple[str, dict[str, Any]]) -> None:
    paper, entry = implied
    open_comparison(page, f"/compare?index=papers&a={paper}&b=paper-1&show=implied")
    assert page.count_elements(".column.common .phrase.shared") == 0
    page.click(f".column.common .phrase.implied[data-phrase='{entry['phrase']}']")
    bridges = page.wait_for_texts(".bridges li")
    assert entry["via"][0]["title"] in bridges[0] and "%" in bridges[0]
    assert "does not contain it" in page.get_texts(".evidence")[0]


def test_sorting_and_filtering_change_the_lists_and_the_address(page: Page) -> None:
    open_comparison(page)
    page.set_value("#sort", "name")
    names = page.wait_for_texts(".column.distinct_a .name")
    assert names == sorted(names, key=str.lower)
    assert "sort=name" in page.driver.current_url
    page.click("#show label", 1)
    page.wait_for_script("return location.search.includes('show=shared')")
    assert page.count_elements(".phrase.implied") == 0


def test_method_and_preset_can_be_switched_and_back_goes_back(page: Page) -> None:
    open_comparison(page)
    page.set_value("#method", "containment")
    page.wait_for_script("return deep('#stats')[0].textContent.includes('method containment')")
    page.set_value("#preset", "paper")
    page.wait_for_script("return deep('#stats')[0].textContent.includes('parameters paper')")
    page.driver.back()
    page.wait_for_script("return deep('#stats')[0].textContent.includes('method containment, parameters default')")
    page.driver.back()
    page.wait_for_script("return deep('#stats')[0].textContent.includes('method cda, parameters default')")
    page.driver.forward()
    page.wait_for_script("return deep('#stats')[0].textContent.includes('method containment, parameters default')")


def test_the_neighbourhood_is_drawn_and_shows_what_a_phrase_is_connected_to(page: Page) -> None:
    open_comparison(page)
    page.click("#graph summary")
    assert len(page.wait_for_texts(".node.phrase", 5)) > 5
    assert page.count_elements(".node.document.a") == 1 and page.count_elements(".node.document.b") == 1
    page.click(".node.common text")
    page.wait_for_script("return deep('.edge.on').length > 1 && location.search.includes('phrase=')")
    assert page.get_texts(".graph .said")[0]
    assert "graph=1" in page.driver.current_url
    overlaps = page.run(
        "const ys = deep('.node.common').map((n) => n.getBoundingClientRect().top); ys.sort((x, y) => x - y);"
        "return ys.some((y, at) => at && y - ys[at - 1] < 8)"
    )
    assert overlaps is False
    assert page.get_errors() == []


@pytest.mark.parametrize(
    "side", ["query:web graph", "text:A heart disease spreads. The heart disease is bad.", "search:topic:health"]
)
def test_a_side_can_be_a_query_a_text_or_a_part_of_the_index(page: Page, side: str) -> None:
    open_comparison(page, f"/compare?index=papers&a=paper-1&b={quote(side)}")
    assert page.wait_for_texts(".text.b .body > *")[0].strip()
    assert page.get_errors() == []


def test_a_long_text_survives_a_reload_behind_the_hash(page: Page) -> None:
    text = "The web graph is crawled by link analysis. " * 200
    page.open("/compare?index=papers&a=paper-1")
    page.wait_for_texts(".side select", 2)
    page.set_value(".side:nth-child(2) select", "text")
    page.run("deep('.side:nth-child(2) textarea')[0].value = arguments[0]", text)
    page.click("#ask .primary")
    page.wait_for_texts(".column .phrase")
    assert page.run("return location.search.length < 200 && location.hash.length > 5000")
    page.driver.refresh()
    page.wait_for_texts(".column .phrase")
    assert "web graph" in page.wait_for_texts(".text.b .body > *")[0]


def test_two_periods_show_what_is_new_and_what_is_gone(page: Page) -> None:
    page.open("/compare?index=papers")
    page.wait_for_texts(".side select", 2)
    page.click("#parts")
    for letter, first, last in (("A", "2021-01-01", "2022-12-31"), ("B", "2023-01-01", "2024-12-31")):
        page.set_value(f"input[aria-label='{letter} from']", first)
        page.set_value(f"input[aria-label='{letter} to']", last)
    page.click("#ask .primary")
    page.wait_for_texts(".column .phrase")
    assert [name.split()[0] for name in page.get_texts("#board h2")] == ["Gone", "In", "New"]


def test_two_facet_values_are_compared_on_one_screen(page: Page) -> None:
    page.open("/compare?index=papers")
    page.wait_for_texts(".side select", 2)
    page.click("#parts")
    page.wait_for_texts("select[aria-label='Facet of B'] option[value='topic:health']")
    page.set_value("select[aria-label='Facet of A']", "topic:energy")
    page.set_value("select[aria-label='Facet of B']", "topic:health")
    page.click("#ask .primary")
    assert any("solar cell" in name for name in page.wait_for_texts(".column.distinct_a .name", 2))
    assert any("patient group" in name for name in page.get_texts(".column.distinct_b .name"))
    assert any("heart disease" in name for name in page.get_texts(".column.common .name")), "both groups are about it"
    assert "10 documents" in page.wait_for_texts(".text.a .body .muted")[0]


def test_an_empty_page_offers_comparisons_that_can_be_made(page: Page) -> None:
    page.open("/compare?index=papers")
    kinds = page.wait_for_texts(".example small", 3)
    assert kinds[:2] == ["Two documents", "A document and a query"] and kinds[2].startswith("Two groups, by ")
    for number in range(3):
        page.open("/compare?index=papers")
        page.click(".example", number)
        page.wait_for_texts(".column .phrase")
    assert page.get_errors() == []


def test_progress_is_visible_and_survives_a_reload_as_one_job(page: Page, site: Site) -> None:
    COMPARISON_GATE.close()
    page.open(f"/compare?index=papers&a=paper-2&b=query:{make_unseen_query('random walk')}")
    page.wait_for_script("return deep('.job progress')[0]?.value === 0.5")
    page.driver.refresh()
    page.wait_for_script("return deep('.job progress')[0]?.value === 0.5")
    COMPARISON_GATE.open()
    page.wait_for_texts(".column .phrase")
    assert (site.count_requests("POST", "/v1/comparisons"), COMPARISON_GATE.started_count) == (2, 1)


def test_a_job_can_be_stopped_and_started_again(page: Page, site: Site) -> None:
    COMPARISON_GATE.close()
    page.open(f"/compare?index=papers&a=paper-3&b=query:{make_unseen_query('random walk')}")
    page.wait_for_script("return deep('.job progress')[0]?.value === 0.5")
    page.click(".job button")
    assert "Stopped" in page.wait_for_texts("#state .notice:not(.job)")[0]
    page.wait_for(lambda: site.count_requests("DELETE", "/v1/comparisons/") == 1, "the job is left")
    COMPARISON_GATE.open()
    page.click("#state button")
    page.wait_for_texts(".column .phrase")


def test_feedback_on_a_phrase_is_sent(page: Page, site: Site) -> None:
    open_comparison(page)
    page.click(".column.common .phrase")
    page.click(".feedback button", 1)
    page.wait_for_script("return deep('.feedback button')[1].getAttribute('aria-pressed') === 'true'")
    assert any(method == "POST" and path.endswith("/feedback") for method, path in site.requests)


def test_the_comparison_can_be_copied(page: Page) -> None:
    page.driver.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    open_comparison(page)
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    page.click("#copy-link")
    assert page.wait_for_script("return window.copied") == page.driver.current_url
    page.click("#copy-markdown")
    assert page.wait_for_script("return window.copied.startsWith('# ') && window.copied").count("\n## ") == 3
    page.click("#copy-json")
    assert (
        json.loads(page.wait_for_script("return window.copied.startsWith('{') && window.copied"))["index"] == "papers"
    )


def test_swapping_the_sides_swaps_the_columns(page: Page) -> None:
    open_comparison(page)
    before = page.get_texts(".column.distinct_a .name")
    page.click("#asking summary")
    page.click("#swap")
    page.wait_for_script("return location.search.includes('b=id%3Apaper-1')")
    page.wait_for_texts(".column .phrase", 2)
    assert page.get_texts(".column.distinct_b .name") == before


def test_unknown_documents_methods_and_indexes_are_reported(page: Page) -> None:
    page.open("/compare?index=papers&a=paper-1&b=nobody")
    assert "nobody" in page.wait_for_texts("#state .trouble")[0]
    page.open("/compare?index=papers&a=paper-1&b=paper-5&method=magic")
    assert "method" in page.wait_for_texts("#state .trouble")[0]
    page.open("/compare?index=nowhere&a=x&b=y")
    assert "nowhere" in page.wait_for_texts("#state .trouble")[0]


def test_the_words_of_a_query_are_listed_and_marked_by_their_offsets(page: Page) -> None:
    page.open("/compare?index=papers&a=id:paper-1&b=query:1+part+of+qwertyuiop")
    page.wait_for_texts("#texts .title")
    assert "1 found" in page.get_texts(".column.common .words li")
    assert page.get_texts(".column.distinct_b .words li") == ["qwertyuiop not found"]
    assert page.wait_for_texts("#texts .text.a .title mark.in-matched") == ["part", "1"]


@pytest.mark.parametrize(
    "sides", [("id:paper-1", "query:random walk zebra"), ("query:random walk zebra", "id:paper-1")]
)
def test_a_query_has_missing_words_instead_of_phrases_of_its_own(page: Page, axe: str, sides: tuple[str, str]) -> None:
    page.open(f"/compare?index=papers&a={quote(sides[0])}&b={quote(sides[1])}&graph=1")
    page.wait_for_texts(".node.common")
    names = ["Not in this document" if side.startswith("query") else "Only this document" for side in sides]
    assert [name.rpartition(" ")[0] for name in page.get_texts("#board h2")] == [names[0], "Both", names[1]]
    of_query = "distinct_b" if sides[1].startswith("query") else "distinct_a"
    assert page.get_texts(f".column.{of_query} .words li") == ["zebra not found"]
    assert page.count_elements(f".column.{of_query} .phrase, .node.{of_query}, mark.in-{of_query}") == 0
    assert page.get_texts(".column.common .name")[0] == "random walk" and not page.get_texts(".column.common .words li")
    assert page.run_axe(axe) == []


def test_a_document_and_a_query_that_share_nothing_say_so(page: Page) -> None:
    page.open("/compare?index=papers&a=id:paper-1&b=query:qwertyuiop")
    said = "Nothing stands out that this document and the query share."
    assert page.wait_for_texts(".column.common .none") == [said]
    assert page.count_elements("#state .trouble") == 0
    page.open("/compare?index=papers&a=id:paper-1&b=query:1+part")
    assert page.wait_for_texts(".column.common .words li") == ["1 found", "part found"]
    assert page.get_texts(".column.distinct_b .none") == ["No word of the query is missing."]
