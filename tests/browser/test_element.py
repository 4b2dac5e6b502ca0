"""<why-this-result> on pages of the service and of another site."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from selenium.webdriver.common.keys import Keys

from tests.support.browser import Page, begin_test
from tests.support.site import COMPARISON_GATE, InjectedFault, OtherSiteApp, Site, make_unseen_query

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
        chromium, other_site, site, "".join(make_element(site, hit, kind) for kind in kinds for hit in HITS[:3])
    )
    page.wait_until_settled()
    assert site.count_requests("POST", "/v1/explanations") == 3
    sides = page.run("return deep('why-this-result').map((one) => one.comparison?.b.ids ?? null)")
    assert sides[0] == ["paper-5"]
    assert sides[3] == HITS[1:3]
    assert sides[6] is None and sides[7] == [HITS[0]], "nothing is above the first"
    assert page.get_attribute("why-this-result[above]", "state") == "empty"


def test_the_hit_above_can_be_named(chromium: webdriver.Chrome, other_site: Site, site: Site) -> None:
    page = open_elements(chromium, other_site, site, make_element(site, "paper-9", 'above="paper-2"'))
    page.wait_until_settled()
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
    assert "not indexed yet" in page.get_texts("why-this-result[hit=new-today] >> [part=empty]")[0]
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


def test_the_words_of_the_query_come_first_also_where_no_phrase_is_shared(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    page = open_elements(chromium, other_site, site, make_element(site, "paper-1", 'query="qwertyuiop 1"'))
    page.wait_for_texts("why-this-result[state=ready] >> .label")
    assert page.get_texts("why-this-result >> .label")[0] == "Query words"
    assert page.get_texts("why-this-result >> [part=words] li") == ["1 found", "qwertyuiop not found"]
