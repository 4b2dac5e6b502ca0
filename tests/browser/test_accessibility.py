"""Every view in light and dark, narrow and wide, with the keyboard, checked with axe-core."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.support.browser import Page

VIEWS = {
    "/": ".tries a",
    "/?index=papers&q=web+graph&why=page": "#facets input",
    "/?index=papers&q=web+graph+zebra": "#facets input",
    "/compare?index=papers": ".example",
    "/compare?index=papers&a=paper-1&b=paper-5&graph=1": ".node.phrase",
    "/compare?index=papers&a=paper-1&b=query:random+walk+zebra": ".column .phrase",
    "/example?index=papers&q=web+graph": "why-this-result[state=ready]",
    "/docs": "h1",
}
ODD_VIEWS = {
    "/": ".cards a",
    "/?index=odd&q=": ".result",
    "/?index=nowhere&q=x": "#trouble .trouble",
    "/compare?index=odd&a=id:a/b/c&b=id:a,b,c&graph=1": ".node.phrase",
}
"""Views of documents, ids and facets full of markup, and of an error."""


def open_view(page: Page, path: str) -> None:
    """Open the view, with everything expanded that can be."""
    page.open(path)
    page.wait_for_texts(VIEWS[path])
    page.wait_until_settled()
    if path.startswith("/compare") and "a=" in path:
        page.run("deep('.column.common .phrase')[0].click()")
        page.wait_for_texts(".text.b mark")
    elif "q=" in path:
        page.run("deep('why-this-result[state=ready] >> .chip')[0].click()")
        page.run("deep('.actions button')[2]?.click(); deep('[data-tray]')[0]?.click()")
        page.wait_until_settled()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", VIEWS)
def test_axe_finds_no_problem(page: Page, axe: str, path: str, dark: bool) -> None:
    page.emulate(dark=dark)
    open_view(page, path)
    assert page.run_axe(axe) == []
    assert page.get_errors() == []


@pytest.mark.parametrize("path", ODD_VIEWS)
def test_odd_pages_pass_axe_and_fit_a_narrow_window(odd_page: Page, axe: str, path: str) -> None:
    odd_page.emulate(width=320)
    odd_page.open(path)
    odd_page.wait_for_texts(ODD_VIEWS[path])
    odd_page.wait_until_settled()
    assert odd_page.run_axe(axe) == []
    assert odd_page.run("return document.documentElement.scrollWidth") <= 320
    assert odd_page.get_errors() == [] and odd_page.run("return window.pwned") is None


@pytest.mark.parametrize("width", [320, 1440])
@pytest.mark.parametrize("path", VIEWS)
def test_no_view_is_wider_than_the_window(page: Page, path: str, width: int) -> None:
    page.emulate(width=width)
    open_view(page, path)
    assert page.run("return document.documentElement.scrollWidth") <= width
    wide = page.run(
        "const out = (e) => e.getBoundingClientRect().right > innerWidth + 1 && e.getClientRects().length;"
        "const wide = deep('main *').filter((e) => out(e) && !e.closest('.canvas, .hide'));"
        "return wide.map((e) => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


def test_search_to_comparison_with_the_keyboard_alone(page: Page) -> None:
    page.open("/?index=papers")
    page.wait_for_texts(".tries a")
    page.wait_for_script("return document.activeElement.id === 'q'")
    page.press("web graph", Keys.ENTER)
    page.wait_for_texts(".result", 10)
    page.wait_for_texts("#facets input")
    page.wait_until_settled()
    for number in (0, 1):
        page.tab_to(f"here.dataset?.tray === deep('.result')[{number}].dataset.id")
        page.press(Keys.ENTER)
    page.wait_for_texts("#tray a")
    page.run("deep('#tray button')[0].focus()")
    page.tab_to("here.matches?.('#tray a')", 5)
    page.press(Keys.ENTER)
    page.wait_for_texts(".column .phrase", 2)
    page.tab_to("here.matches?.('.column.common .phrase')")
    page.press(Keys.SPACE)
    page.wait_for_texts(".evidence")
    assert page.run("return document.activeElement.matches('.phrase[aria-expanded=true]')"), "focus stays on the phrase"


def test_the_neighbourhood_is_walked_with_the_arrow_keys(page: Page) -> None:
    page.open("/compare?index=papers&a=paper-1&b=paper-5&graph=1")
    page.wait_for_texts(".node.phrase")
    assert page.run("return deep('.node[tabindex=\"0\"]').length") == 1
    page.run("deep('.node.common')[0].focus()")
    first = page.run("return document.activeElement.getAttribute('aria-label')")
    page.press(Keys.ARROW_DOWN)
    assert page.run("return document.activeElement.getAttribute('aria-label')") != first
    page.press(Keys.ENTER)
    page.wait_for_script("return location.search.includes('phrase=')")


def test_the_first_tab_skips_to_the_content(page: Page) -> None:
    page.open("/compare?index=papers")
    page.wait_for_texts(".side select")
    page.press(Keys.TAB)
    assert page.run("return document.activeElement.textContent") == "Skip to the content"
