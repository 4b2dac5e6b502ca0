"""<why-this-result> on pages of the service and of another site."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.support.browser import Page, begin_test
from tests.support.site import COMPARISON_GATE, InjectedFault, OtherSiteApp, Site, make_unseen_query
from webapi.client import Client

if TYPE_CHECKING:
    from selenium import webdriver

HITS = [f"paper-{number}" for number in range(1, 41, 4)]


def make_page(site: Site, elements: str) -> str:
    """Return a page of another site with a strict content policy."""
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Elsewhere</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {site.url}; connect-src {site.url}">
<script src="{site.url}/static/why-this-result.js" defer></script><main>{elements}</main>"""


def make_element(site: Site, hit: str, compared: str, content: str = "") -> str:
    attributes = f'endpoint="{site.url}" index="papers" hit="{html.escape(hit)}" {compared}'
    return f"<why-this-result {attributes}>{content}</why-this-result>"


def open_elements(chromium: webdriver.Chrome, other_site: Site, site: Site, elements: str) -> Page:
    assert isinstance(other_site.app, OtherSiteApp)
    other_site.app.pages["/"] = make_page(site, elements)
    page = Page(chromium, other_site.url)
    begin_test(page, site)
    chromium.get_log("browser")
    page.open("/")
    return page


def read_other_sides(page: Page) -> list[list[str] | None]:
    """Return for each element what its link compares the hit with; None where there is no link."""
    sides: list[list[str] | None] = page.run(
        "const links = deep('why-this-result').map((one) => one.shadowRoot.querySelector('[part=link]'));"
        "return links.map((link) => link && new URL(link.href).searchParams.getAll('b'))"
    )
    return sides


def test_ten_hits_on_a_page_of_another_site_take_one_request(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    page = open_elements(
        chromium, other_site, site, "".join(make_element(site, hit, 'query="web graph"') for hit in HITS)
    )
    page.wait_until_settled()
    assert page.count_elements("why-this-result[state=ready]") == 10
    assert site.count_requests("POST", "/v1/explanations") == site.count_requests("POST", "/v1/") == 1
    assert page.get_errors() == []


def test_what_a_hit_is_compared_with_is_chosen_by_an_attribute(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    kinds = ['document="paper-5"', "page", "above"]
    page = open_elements(
        chromium, other_site, site, "".join(make_element(site, hit, f"link {k}") for k in kinds for hit in HITS[:3])
    )
    page.wait_until_settled()
    assert site.count_requests("POST", "/v1/explanations") == 3
    sides = read_other_sides(page)
    assert sides[0] == ["id:paper-5"]
    assert sides[3] == [f"id:{hit}" for hit in HITS[1:3]]
    assert sides[6] is None and sides[7] == [f"id:{HITS[0]}"], "nothing is above the first"
    assert page.get_attribute("why-this-result[above]", "state") == "empty"


def test_the_hit_above_can_be_named(chromium: webdriver.Chrome, other_site: Site, site: Site) -> None:
    page = open_elements(chromium, other_site, site, make_element(site, "paper-9", 'link above="paper-2"'))
    page.wait_until_settled()
    assert read_other_sides(page) == [["id:paper-2"]]
    page.click("why-this-result >> .chip")
    page.wait_for_texts("why-this-result >> blockquote")
    assert page.run("return deep('why-this-result')[0].comparison.b.ids") == ["paper-2"]


def test_kinds_of_phrases_differ_in_shape_sign_and_words(page: Page) -> None:
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=ready] >> .chip.here")
    page.wait_until_settled()
    signs = page.run(
        "const chips = deep('why-this-result >> .chip');"
        "return Object.fromEntries(chips.map((c) => [c.className, c.firstChild.textContent]))"
    )
    assert signs["chip shared"] == "=" and signs["chip here"] == "+"
    assert "only here" in page.get_texts("why-this-result >> .chip.here")[0]
    radius = "return getComputedStyle(deep(arguments[0])[0]).borderRadius"
    assert page.run(radius, "why-this-result >> .chip.shared") != page.run(radius, "why-this-result >> .chip.here")


def test_a_click_fires_an_event_and_highlights_slotted_texts(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    texts = '<p slot="a">All about Web Graphs and other graphs.</p><p slot="b">A web graph.</p>'
    page = open_elements(chromium, other_site, site, make_element(site, "paper-1", 'document="paper-5"', texts))
    page.wait_until_settled()
    page.run("window.heard = []; addEventListener('why-select', (event) => heard.push(event.detail.phrase))")
    page.run("deep('why-this-result')[0].select('web graph')")
    assert page.run("return window.heard") == ["web graph"]
    ranges = page.run("return [...CSS.highlights.get('why-phrase')].map(String)")
    assert {"Web Graphs", "web graph"} <= set(ranges)
    page.run("deep('why-this-result')[0].select(null)")
    assert page.run("return [heard.at(-1), CSS.highlights.has('why-phrase')]") == [None, False]


def test_it_works_with_the_keyboard_alone(page: Page) -> None:
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=ready]", 10)
    page.run("document.getElementById('words').focus()")
    page.tab_to("here.classList.contains('chip')")
    page.press(Keys.ENTER)
    page.wait_for_texts("why-this-result >> .evidence")
    page.tab_to("here.textContent === 'Close'", 10)
    page.press(Keys.SPACE)
    page.wait_for_script("return !deep('why-this-result >> .evidence').length")
    assert page.run("return document.activeElement.shadowRoot.activeElement.classList.contains('chip')")


def test_each_state_is_shown_and_announced(page: Page, site: Site) -> None:
    COMPARISON_GATE.close()
    page.open(f"/example?index=papers&q={make_unseen_query('page ranking')}")
    page.wait_for_texts("why-this-result[state=waiting] >> [aria-busy=true]")
    COMPARISON_GATE.open()
    page.wait_until_settled()
    assert page.count_elements("why-this-result >> [aria-live=polite]") == page.count_elements("why-this-result")
    assert "Reasons loaded." in page.get_texts("why-this-result >> [aria-live=polite]")


def test_an_error_is_shown_and_the_request_can_be_retried(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/explanations", 500, b"<html>not json"))
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=error]", 10)
    assert "500" in page.get_texts("why-this-result >> [role=alert]")[0]
    site.faults.clear()
    page.click("why-this-result >> [part=retry]")
    page.wait_for_script("return deep('why-this-result')[0].state === 'ready'")


def test_a_429_is_retried_after_a_while(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/explanations", 429, remaining=1))
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=ready]", 10)
    assert site.count_requests("POST", "/v1/explanations") == 2


def test_an_unknown_index_is_reported(page: Page) -> None:
    page.open("/example?index=papers")
    page.run(
        "const e = document.createElement('why-this-result');"
        "for (const [n, v] of Object.entries({index: 'nowhere', hit: 'x', query: 'y'})) e.setAttribute(n, v);"
        "document.querySelector('main').append(e)"
    )
    page.wait_for_texts("why-this-result[state=error]")
    assert "nowhere" in page.get_texts("why-this-result >> [role=alert]")[0]


def test_a_hit_that_is_not_in_the_index_leaves_the_others_their_reasons(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    hits = [HITS[0], "new-today", HITS[1]]
    page = open_elements(
        chromium, other_site, site, "".join(make_element(site, hit, 'query="web graph"') for hit in hits)
    )
    page.wait_until_settled()
    assert page.run("return deep('why-this-result').map((one) => one.state)") == ["ready", "empty", "ready"]
    assert "not in the index" in page.get_texts("why-this-result[hit=new-today] >> [part=empty]")[0]
    assert site.count_requests("POST", "/v1/explanations") == 1


def test_an_answer_can_be_handed_over_without_a_request(page: Page, site: Site) -> None:
    page.open("/example?index=papers")
    page.run(
        "const e = document.createElement('why-this-result'); e.setAttribute('lists', 'common');"
        "e.comparison = {common: [{phrase: 'x', display: 'X', kind: 'shared', evidence: []}]}; document.body.append(e)"
    )
    assert page.wait_for_texts("why-this-result >> .chip")[0].startswith("=X")
    assert site.count_requests("POST", "/v1/explanations") == 0


def test_nothing_moves_with_reduced_motion(page: Page) -> None:
    COMPARISON_GATE.close()
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.open(f"/example?index=papers&q={make_unseen_query('thin film')}")
    assert page.wait_for_script("return getComputedStyle(deep('why-this-result >> .ghost')[0]).animationName") == "none"


@pytest.mark.parametrize("lists", ["", 'lists="common distinct"'], ids=["all lists", "without a list of words"])
def test_a_hit_that_was_found_by_words_alone_says_the_words(
    chromium: webdriver.Chrome, other_site: Site, site: Site, lists: str
) -> None:
    page = open_elements(chromium, other_site, site, make_element(site, "paper-1", f'query="qwertyuiop 1" {lists}'))
    page.wait_for_texts("why-this-result[state=ready] >> .label")
    assert page.get_texts("why-this-result >> .label") == ["Matches", "Sets it apart"]
    assert page.get_texts("why-this-result >> [part=words] li") == ["1 found", "qwertyuiop not found"]


def test_a_hit_that_shares_nothing_with_the_query_says_so_in_a_sentence(
    chromium: webdriver.Chrome, other_site: Site, site: Site, axe: str
) -> None:
    query = 'query="qwertyuiop asdfghjkl"'
    elements = [make_element(site, "paper-1", query), make_element(site, "paper-1", f'{query} lists="matched common"')]
    page = open_elements(chromium, other_site, site, "<h1>Hits</h1>" + "".join(elements))
    page.wait_until_settled()
    assert page.run("return deep('why-this-result').map((one) => one.state)") == ["ready", "empty"]
    said = "Nothing stands out that it shares with the query."
    assert page.get_texts("why-this-result[state=ready] >> [part~=list-common] li") == [said]
    assert page.get_texts("why-this-result[state=empty] >> [part=empty]") == [said]
    assert page.count_elements("why-this-result >> [role=alert]") == 0
    assert page.count_elements("why-this-result >> [part=words]") == 0, "no list of words that are not there"
    assert page.run_axe(axe) == []


def show_reasons(page: Page, reasons: dict[str, Any], lists: str = "matched common") -> None:
    """Add an element with these reasons to the page."""
    page.open("/example?index=papers")
    page.run(
        "const e = document.createElement('why-this-result'); e.setAttribute('lists', arguments[1]);"
        "e.reasons = arguments[0]; document.querySelector('main').append(e)",
        reasons,
        lists,
    )


def make_word(word: str, written: str) -> dict[str, Any]:
    return {"word": word, "as": written, "field": "text", "start": 0, "end": len(written)}


def make_reason(display: str, score: float, kind: str = "shared") -> dict[str, Any]:
    return {"phrase": display.lower(), "display": display, "score": score, "kind": kind}


def test_a_word_is_shown_as_part_of_its_phrase_or_alone_but_never_twice(page: Page, site: Site) -> None:
    words = [make_word("times", "time"), make_word("zone", "Zones"), make_word("sun", "sun"), make_word("day", "day")]
    words.append(make_word("clustering", "Clustering"))
    common = [
        make_reason("calendar", 0.9, "implied"),
        make_reason("sun", 0.2),
        make_reason("cluster", 0.2),
        make_reason("Day", 0.8),
        make_reason("time zone", 0.3),
    ]
    show_reasons(page, {"matched": words, "lacks": ["moon"], "common": common, "distinct": []})
    assert page.wait_for_texts("why-this-result >> [part=phrase]") == ["Day", "time zone", "calendar"]
    shown = ["=Day, in both", "=time zone, in both", "sun found", "clustering found", "moon not found"]
    assert page.get_texts("why-this-result >> [part=words] li") == shown
    assert page.get_texts("why-this-result >> .label") == ["Matches", "Related"]
    show_reasons(page, {"matched": words[:2], "lacks": ["moon"], "common": common[4:], "distinct": []})
    assert page.wait_for_texts("why-this-result >> .label") == ["Matches"]
    assert site.count_requests("POST", "/v1/explanations") == 0


def test_the_passage_is_quoted_below_the_reasons_as_text(page: Page, axe: str) -> None:
    passage = {"field": "text", "start": 5, "end": 30, "text": "A <b>sentence</b> that is\nnear."}
    show_reasons(
        page, {"matched": [], "lacks": ["walk"], "common": [make_reason("Page rank", 0.9)], "passage": passage}
    )
    quote = "why-this-result >> [part=passage] [dir=auto]"
    assert page.wait_for_texts(quote) == ["“A <b>sentence</b> that is near.”"]
    assert page.get_texts("why-this-result >> [part=passage]")[0].startswith("Nearest sentence:")
    assert page.run_axe(axe) == []
    show_reasons(page, {"matched": [], "lacks": ["walk"], "common": [], "passage": passage | {"text": "word " * 100}})
    (shown,) = page.wait_for_texts(quote)
    assert shown.endswith("word…”")
    assert len(shown) < 210
    assert page.count_elements("why-this-result[state=ready] >> [part~=list-common]") == 0, "the passage is the reason"
    show_reasons(page, {"common": [], "distinct": [make_reason("Crawler", 0.9)], "passage": passage}, lists="distinct")
    assert page.count_elements("why-this-result >> [part=passage]") == 0


def test_the_evidence_of_a_list_is_fetched_once_and_on_a_click(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    elements = "".join(make_element(site, hit, 'query="random walk" limit="9"') for hit in HITS[:2])
    page = open_elements(chromium, other_site, site, elements)
    page.wait_until_settled()
    page.run("window.heard = []; addEventListener('why-evidence', (event) => heard.push(event.detail))")
    assert site.count_requests("GET", "/v1/comparisons/") == 0
    chips = "why-this-result >> .chip.shared"
    for presses in range(3):  # open, close, open
        page.click(chips)
        page.wait_for_script("return deep('why-this-result >> blockquote').length > 0 === arguments[0]", presses != 1)
    assert site.count_requests("GET", "/v1/comparisons/") == 1
    detail = page.run("return window.heard[0]")
    assert detail["list"] == "common" and detail["entry"]["evidence"] and detail["comparison"]["b"]["kind"] == "query"
    page.click("why-this-result >> .chip.here")
    page.wait_for_script("return window.heard.at(-1).list === 'distinct_a'")
    assert page.run("return window.heard.at(-1).comparison.b.ids") == [HITS[1]], "apart from the other hits"
    assert site.count_requests("GET", "/v1/comparisons/") == 2


def test_a_click_on_an_implied_phrase_names_the_documents_that_connect_it(
    chromium: webdriver.Chrome, other_site: Site, site: Site, implied_phrases_listed: None
) -> None:
    with Client(site.url) as client:
        explained = client.explain("papers", [f"paper-{n}" for n in range(2, 41)], document="paper-1")["explanations"]
        hit, phrase = next(
            (entry["hit"], reason["phrase"])
            for entry in explained
            for reason in entry["common"]
            if reason["kind"] == "implied"
        )
    page = open_elements(chromium, other_site, site, make_element(site, hit, 'document="paper-1" limit="0"'))
    page.wait_until_settled()
    page.click(f"why-this-result >> .chip.implied[data-key='common {phrase}']")
    assert "%" in page.wait_for_texts("why-this-result >> [part=bridge]")[0]


def test_the_progress_of_the_evidence_is_visible(page: Page, axe: str) -> None:
    page.open(f"/example?index=papers&q={make_unseen_query('web graph')}")
    page.wait_for_texts("why-this-result[state=ready]", 10)
    COMPARISON_GATE.close()
    page.click("why-this-result >> .chip")
    assert page.wait_for_texts("why-this-result >> [part=loading]") == ["Loading the evidence …"]
    assert any("Loading the evidence" in said for said in page.get_texts("why-this-result >> [aria-live=polite]"))
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    assert page.run_axe(axe) == []
    COMPARISON_GATE.open()
    page.wait_for_texts("why-this-result >> blockquote")
    assert page.count_elements("why-this-result >> [part=loading]") == 0


def test_evidence_that_cannot_be_fetched_is_an_error_that_can_be_retried(page: Page, site: Site, axe: str) -> None:
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=ready]", 10)
    site.faults.append(InjectedFault("/v1/comparisons/", 500))
    page.click("why-this-result >> .chip")
    assert "as ordered" in page.wait_for_texts("why-this-result >> .evidence [role=alert]")[0]
    assert page.run_axe(axe) == []
    site.faults.clear()
    page.click("why-this-result >> [part=retry]")
    page.wait_for_texts("why-this-result >> blockquote")
    assert page.run("return document.activeElement.shadowRoot.activeElement.classList.contains('chip')")
    assert page.count_elements("why-this-result[state=ready]") == 10, "the reasons stay"
