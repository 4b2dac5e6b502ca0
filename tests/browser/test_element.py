"""<why-this-result> on pages of our own and of others."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from selenium.webdriver.common.keys import Keys

from tests.support.browser import Page, begin_test
from tests.support.site import COMPARISON_GATE, InjectedFault, OtherSiteApp, Site, make_unseen_query

if TYPE_CHECKING:
    from selenium import webdriver

TEN = [f"paper-{number}" for number in range(1, 41, 4)]


def written(site: Site, elements: str) -> str:
    """A page of somebody else, strict about scripts and styles."""
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Elsewhere</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {site.url}; connect-src {site.url}">
<script src="{site.url}/static/why-this-result.js" defer></script><main>{elements}</main>"""


def element(site: Site, hit: str, what: str, inside: str = "") -> str:
    given = f'endpoint="{site.url}" index="papers" hit="{html.escape(hit)}" {what}'
    return f"<why-this-result {given}>{inside}</why-this-result>"


def visit(chromium: webdriver.Chrome, elsewhere: Site, site: Site, elements: str) -> Page:
    assert isinstance(elsewhere.app, OtherSiteApp)
    elsewhere.app.pages["/"] = written(site, elements)
    page = Page(chromium, elsewhere.url)
    begin_test(page, site)
    chromium.get_log("browser")
    page.open("/")
    return page


def test_ten_hits_on_a_page_of_another_site_take_one_request(
    chromium: webdriver.Chrome, elsewhere: Site, site: Site
) -> None:
    page = visit(chromium, elsewhere, site, "".join(element(site, hit, 'query="web graph"') for hit in TEN))
    page.wait_until_settled()
    assert page.count_elements("why-this-result[state=ready]") == 10
    assert site.count_requests("POST", "/v1/explanations") == site.count_requests("POST", "/v1/") == 1
    assert page.get_errors() == []


def test_what_a_hit_is_compared_with_is_chosen_by_an_attribute(
    chromium: webdriver.Chrome, elsewhere: Site, site: Site
) -> None:
    kinds = ['document="paper-5"', "page", "above"]
    page = visit(chromium, elsewhere, site, "".join(element(site, hit, kind) for kind in kinds for hit in TEN[:3]))
    page.wait_until_settled()
    assert site.count_requests("POST", "/v1/explanations") == 3
    sides = page.run("return deep('why-this-result').map((one) => one.comparison?.b.ids ?? null)")
    assert sides[0] == ["paper-5"]
    assert sides[3] == TEN[1:3]
    assert sides[6] is None and sides[7] == [TEN[0]], "nothing is above the first"
    assert page.get_attribute("why-this-result[above]", "state") == "empty"


def test_the_hit_above_can_be_named(chromium: webdriver.Chrome, elsewhere: Site, site: Site) -> None:
    page = visit(chromium, elsewhere, site, element(site, "paper-9", 'above="paper-2"'))
    page.wait_until_settled()
    assert page.run("return deep('why-this-result')[0].comparison.b.ids") == ["paper-2"]


def test_kinds_are_told_apart_by_shape_and_sign_and_words(page: Page) -> None:
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


def test_a_click_tells_the_page_and_highlights_slotted_texts(
    chromium: webdriver.Chrome, elsewhere: Site, site: Site
) -> None:
    texts = '<p slot="a">All about Web Graphs and other graphs.</p><p slot="b">A web graph.</p>'
    page = visit(chromium, elsewhere, site, element(site, "paper-1", 'document="paper-5"', texts))
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
    assert "The reasons are there." in page.get_texts("why-this-result >> [aria-live=polite]")


def test_a_refused_request_is_told_and_can_be_tried_again(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/explanations", 500, b"<html>not json"))
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=error]", 10)
    assert "500" in page.get_texts("why-this-result >> [role=alert]")[0]
    site.faults.clear()
    page.click("why-this-result >> [part=retry]")
    page.wait_for_script("return deep('why-this-result')[0].state === 'ready'")


def test_too_many_requests_are_tried_again_after_a_while(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/explanations", 429, remaining=1))
    page.open("/example?index=papers&q=web+graph")
    page.wait_for_texts("why-this-result[state=ready]", 10)
    assert site.count_requests("POST", "/v1/explanations") == 2


def test_an_index_that_is_not_there_is_told(page: Page) -> None:
    page.open("/example?index=papers")
    page.run(
        "const e = document.createElement('why-this-result');"
        "for (const [n, v] of Object.entries({index: 'nowhere', hit: 'x', query: 'y'})) e.setAttribute(n, v);"
        "document.querySelector('main').append(e)"
    )
    page.wait_for_texts("why-this-result[state=error]")
    assert "nowhere" in page.get_texts("why-this-result >> [role=alert]")[0]


def test_a_hit_that_is_not_in_the_index_leaves_the_others_their_reasons(
    chromium: webdriver.Chrome, elsewhere: Site, site: Site
) -> None:
    hits = [TEN[0], "new-today", TEN[1]]
    page = visit(chromium, elsewhere, site, "".join(element(site, hit, 'query="web graph"') for hit in hits))
    page.wait_until_settled()
    assert page.run("return deep('why-this-result').map((one) => one.state)") == ["ready", "empty", "ready"]
    assert "not known here yet" in page.get_texts("why-this-result[hit=new-today] >> [part=empty]")[0]
    assert site.count_requests("POST", "/v1/explanations") == 1


def test_an_answer_can_be_handed_over_without_a_request(page: Page, site: Site) -> None:
    page.open("/example?index=papers")
    page.run(
        "const e = document.createElement('why-this-result'); e.setAttribute('lists', 'common');"
        "e.comparison = {common: [{phrase: 'x', display: 'X', kind: 'shared', evidence: []}]}; document.body.append(e)"
    )
    assert page.wait_for_texts("why-this-result >> .chip")[0].startswith("=X")
    assert site.count_requests("POST", "/v1/explanations") == 0


def test_nothing_moves_for_those_who_asked_for_less_motion(page: Page) -> None:
    COMPARISON_GATE.close()
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.open(f"/example?index=papers&q={make_unseen_query('thin film')}")
    assert page.wait_for_script("return getComputedStyle(deep('why-this-result >> .ghost')[0]).animationName") == "none"
