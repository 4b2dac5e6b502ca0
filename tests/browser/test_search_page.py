"""The search page."""

from __future__ import annotations

import threading

from selenium.webdriver.common.keys import Keys

from tests.support.browser import Page
from tests.support.site import COMPARISON_GATE, InjectedFault, Site, make_unseen_query

CHIPS = ".result why-this-result >> .chip"
QUERY = "/?index=papers&q=web+graph"


def test_the_only_index_is_used_when_none_is_named(page: Page) -> None:
    page.open("/")
    page.wait_for_script("return location.search.includes('index=papers')")
    assert "40 documents" in page.wait_for_texts("#welcome")[0]


def test_several_indexes_are_listed(odd_page: Page) -> None:
    odd_page.open("/")
    assert odd_page.wait_for_texts(".cards a", 2) == ["odd", "papers"]
    odd_page.click(".cards a", 1)
    odd_page.wait_for_script("return location.search === '?index=papers'")


def test_results_say_why_and_the_address_reproduces_them(page: Page) -> None:
    page.open("/")
    page.wait_for_texts(".tries a")
    page.fill("#q", "web graph" + Keys.ENTER)
    titles = page.wait_for_texts(".result h2", 10)
    page.wait_until_settled()
    assert any("web graph" in chip for chip in page.get_texts(CHIPS))
    assert page.count_elements(".result why-this-result[state=ready] >> .chip.here") > 0, "what sets hits apart"
    address = page.driver.current_url
    assert "index=papers&q=web+graph" in address
    page.driver.get("about:blank")
    page.driver.get(address)
    assert page.wait_for_texts(".result h2", 10) == titles
    assert page.get_errors() == []


def test_matched_and_unmatched_query_words_are_marked(page: Page) -> None:
    page.open("/?index=papers&q=web+graph+zebra")
    page.wait_for_texts(".result")
    page.wait_until_settled()
    assert page.get_texts("#hit-0 why-this-result >> [part=words] li") == ["=web graph, in both", "zebra not found"]
    assert page.get_texts("#hit-0 why-this-result >> .chip.shared [part=phrase]") == ["web graph"], "both words"
    assert page.get_texts("#hit-0 why-this-result >> .label")[0] == "Matches"
    page.open("/?index=papers&q=1+zebra")
    page.wait_for_texts(".result")
    page.wait_until_settled()
    assert page.get_texts("#hit-0 why-this-result >> [part=words] li") == ["1 found", "zebra not found"]
    assert page.get_texts("#hit-0 why-this-result >> .label")[0] == "Matches"


def test_matched_words_of_the_title_are_marked_by_their_offsets(page: Page) -> None:
    page.open("/?index=papers&q=of+the+web+graphs")
    titles = page.wait_for_texts(".result h2", 10)
    marked = page.get_texts(".result h2 mark")
    assert marked and {word.lower() for word in marked} <= {"web", "graph", "graphs"}
    assert all(any(word in title for title in titles) for word in marked)
    assert "the" not in {word.lower() for word in page.get_texts(".result .snippet mark")}


def test_a_provisional_answer_comes_at_once_and_is_replaced_without_a_jump(page: Page) -> None:
    COMPARISON_GATE.close()
    page.open(f"/?index=papers&q={make_unseen_query('random walk')}")
    page.wait_for_texts("why-this-result[provisional] >> .chip")
    page.wait_for_texts("#facets input")
    places = "return deep('.result').map((one) => Math.round(one.getBoundingClientRect().top + scrollY))"
    before = page.run(places)
    COMPARISON_GATE.open()
    page.wait_until_settled()
    assert page.count_elements("why-this-result[provisional]") == 0
    assert page.run(places) == before


def test_the_reasons_of_a_page_come_with_its_search_or_take_one_more_request(page: Page, site: Site) -> None:
    page.open(QUERY)
    page.wait_for_texts(".result", 10)
    page.wait_until_settled()
    page.open(QUERY)
    page.wait_for_texts(".result", 10)
    page.wait_until_settled()
    requests = site.count_requests("POST", "/v1/explanations")
    assert requests <= 1, "at most one, for a first search whose reasons were not ready in time"
    COMPARISON_GATE.close()
    page.open(f"/?index=papers&q={make_unseen_query('web graph')}")
    page.wait_for_texts("why-this-result[provisional]", 10)
    COMPARISON_GATE.open()
    page.wait_until_settled()
    assert site.count_requests("POST", "/v1/explanations") == requests + 1


def test_a_click_on_a_chip_shows_its_evidence_and_marks_it_in_the_text(page: Page) -> None:
    page.open(QUERY)
    page.wait_for_texts(".result", 10)
    page.wait_until_settled()
    page.click("#hit-0 why-this-result >> .chip")
    assert "web graph" in page.wait_for_texts("#hit-0 why-this-result >> blockquote")[0].lower()
    assert page.run("return CSS.highlights.get('why-phrase')?.size") > 0
    page.press(Keys.ESCAPE)
    page.wait_for_script("return !deep('#hit-0 why-this-result >> blockquote').length")
    assert page.run("return CSS.highlights.has('why-phrase')") is False


def test_a_hit_is_compared_with_the_one_above(page: Page) -> None:
    page.open(QUERY)
    page.wait_for_texts(".result", 10)
    page.wait_until_settled()
    page.click("#hit-2 .actions button")
    page.wait_for_script("return deep('#hit-2 .above')[0]?.state === 'ready'")
    page.click("#hit-2 .above >> .chip")
    page.wait_for_texts("#hit-2 .above >> blockquote")
    comparison = page.run("return deep('#hit-2 .above')[0].comparison")
    ids = page.run("return deep('.result').map((one) => one.dataset.id)")
    assert comparison["a"]["ids"] == [ids[2]] and comparison["b"]["ids"] == [ids[1]]


def test_results_can_be_explained_by_the_page_and_by_a_document(page: Page) -> None:
    page.open(QUERY)
    page.wait_for_texts(".result", 10)
    page.click("#against label", 1)
    page.wait_for_script("return location.search.includes('why=page')")
    page.wait_for_script("return deep('why-this-result[page]').length === 10")
    page.click("#hit-1 .actions button:last-child")
    page.wait_for_script("return deep('why-this-result[document]').length === 9")
    page.wait_until_settled()
    assert page.count_elements("why-this-result[document][state=ready]") > 0


def test_facets_and_dates_narrow_the_results(page: Page) -> None:
    page.open("/?index=papers&q=")
    assert "40 results" in page.wait_for_texts("#count strong")[0]
    page.click("input[name=topic][value=energy]")
    page.wait_for_script("return deep('#count')[0].textContent.startsWith('10 results')")
    page.set_value("input[name=since]", "2023-01-01")
    page.wait_for_script("return location.search.includes('since=2023-01-01')")
    page.wait_for_script(
        "return deep('.result time').length && deep('.result time').every((one) => one.textContent >= '2023')"
    )
    page.driver.back()
    page.wait_for_script("return deep('#count')[0].textContent.startsWith('10 results')")
    page.driver.back()
    page.wait_for_script("return deep('#count')[0].textContent.startsWith('40 results')")
    page.driver.forward()
    page.wait_for_script("return deep('input[name=topic][value=energy]')[0]?.checked")


def test_suggestions_are_phrases_of_the_index_and_work_with_the_keyboard(page: Page) -> None:
    page.open("/?index=papers")
    page.fill("#q", "solar c")
    assert page.wait_for_texts("#suggestions[data-typed='solar c'] li span")[0].lower() == "solar cell"
    page.press(Keys.ARROW_DOWN, Keys.ENTER)
    page.wait_for_script("return location.search.toLowerCase().includes('q=solar+cell')")
    page.wait_for_texts(".result")


def test_what_is_typed_before_the_page_is_ready_stays(page: Page, site: Site) -> None:
    late = threading.Event()
    site.faults.append(InjectedFault("/v1/indexes", 0, release=late))
    page.open("/?index=papers")
    page.fill("#q", "solar")
    late.set()
    page.wait_for_texts(".tries a")
    assert page.run("return deep('#q')[0].value") == "solar"


def test_two_documents_in_the_tray_are_compared(page: Page) -> None:
    page.open(QUERY)
    page.wait_for_texts(".result", 10)
    page.wait_until_settled()
    page.click("[data-tray]", 0)
    page.click("[data-tray]", 1)
    page.driver.refresh()
    page.wait_for_texts("#tray li", 2)
    page.click("#tray a")
    page.wait_for_texts(".column .phrase", 3)
    assert page.run("return location.pathname") == "/compare"


def test_pages_of_results_follow_each_other(page: Page) -> None:
    page.open("/?index=papers&q=")
    first = page.wait_for_texts(".result h2", 10)
    page.click("#pager a[rel=next]")
    page.wait_for_script(
        "return location.search.includes('from=10') && deep('.result h2')[0].textContent !== arguments[0]", first[0]
    )
    page.driver.back()
    page.wait_for_script("return deep('.result h2')[0].textContent === arguments[0]", first[0])


def test_nothing_found_says_so(page: Page) -> None:
    page.open("/?index=papers&q=xylophone")
    assert "Nothing found" in page.wait_for_texts("#trouble .notice")[0]
