"""Hostile documents, odd ids, and a service that is down, slow or refuses: the page stays usable."""

from __future__ import annotations

import re
import threading
from urllib.parse import quote, urlencode

import pytest

from tests.support.browser import Page
from tests.support.corpora.page_corpus import ODD_IDS, ODD_TITLES
from tests.support.site import COMPARISON_GATE, InjectedFault, Site, make_unseen_query

HOSTILE = "<img src=x onerror=window.pwned=1>\"'`🦉 שלום"


def assert_harmless(page: Page) -> None:
    assert page.run("return window.pwned") is None
    assert page.run("return deep('img[src=x], b[onclick], main script').length") == 0
    assert page.get_errors() == []


def test_documents_full_of_markup_are_shown_as_text(odd_page: Page) -> None:
    odd_page.open("/?index=odd&q=")
    titles = odd_page.wait_for_texts(".result h2", 10)
    odd_page.wait_until_settled()
    assert set(titles) <= set(ODD_TITLES)
    assert any("<u>" in text for text in odd_page.wait_for_texts("#facets .tick"))
    odd_page.click("#facets .tick input")
    odd_page.wait_for_script("return location.search.includes('f=')")
    odd_page.wait_for_texts(".result")
    assert_harmless(odd_page)


@pytest.mark.parametrize("number", range(0, len(ODD_IDS), 2))
def test_odd_ids_are_compared(odd_page: Page, number: int) -> None:
    sides = {"index": "odd", "a": f"id:{ODD_IDS[number]}", "b": f"id:{ODD_IDS[number + 1]}"}
    odd_page.open(f"/compare?{urlencode(sides)}")
    odd_page.wait_for_texts(".column .phrase")
    odd_page.wait_for_texts(".text.b mark")
    assert odd_page.get_texts(".text h3") == ["A" + ODD_TITLES[number], "B" + ODD_TITLES[number + 1]]
    odd_page.click("#graph summary")
    odd_page.wait_for_texts(".node.phrase")
    odd_page.click(".phrase")
    odd_page.wait_for_texts(".evidence")
    assert_harmless(odd_page)


def test_highlights_cover_the_right_letters_after_emoji(odd_page: Page) -> None:
    odd_page.open(f"/compare?{urlencode({'index': 'odd', 'a': 'id:a/b/c', 'b': 'id:id:with:colons'})}")
    odd_page.wait_for_texts(".text.a mark")
    marks = odd_page.run("return deep('.text.a mark').map((one) => [one.dataset.phrase, one.textContent])")
    assert len({phrase for phrase, _ in marks}) > 1
    words = set(re.findall(r"\w+", odd_page.get_texts(".text.a")[0].lower()))
    for phrase, text in marks:  # the mark of a phrase may be a longer one with it
        assert phrase[:4] in text.lower() and words.issuperset(re.findall(r"\w+", text.lower())), (
            "not a letter beside it"
        )


@pytest.mark.parametrize(
    "where", ["/?q={}", "/?index={}&q=x", "/?index=odd&q={}&f={}:{}", "/compare?index={}&a={}&b={}"]
)
def test_hostile_addresses_do_nothing(odd_page: Page, where: str) -> None:
    odd_page.open(where.replace("{}", quote(HOSTILE)))
    odd_page.wait_for_script("return deep('.trouble, .result, .notice, .cards li').length")
    assert_harmless(odd_page)


def test_hostile_phrases_in_the_element_are_text(odd_page: Page) -> None:
    odd_page.open("/example?index=odd")
    odd_page.run(
        """
        const e = document.createElement('why-this-result');
        const bad = arguments[0];
        const place = {side: 'a', id: bad, snippet: bad + ' ' + bad};
        const bridge = {id: bad, title: bad, phrases: [bad], share: 0.5};
        const entry = {phrase: bad, display: bad, kind: 'implied', also: [bad], evidence: [place], via: [bridge]};
        e.setAttribute('label', bad);
        e.comparison = {common: [entry], distinct_a: [entry, {...entry, phrase: '(', display: '(['}]};
        document.querySelector('main').append(e);
        e.select(bad);
        """,
        HOSTILE,
    )
    assert HOSTILE in odd_page.wait_for_texts("why-this-result >> .evidence")[0]
    assert odd_page.run("return deep('why-this-result >> img').length") == 0
    assert_harmless(odd_page)


@pytest.mark.parametrize(("status", "said"), [(429, "Too many requests"), (500, "went wrong"), (503, "not available")])
def test_an_error_is_shown_and_the_search_can_be_retried(page: Page, site: Site, status: int, said: str) -> None:
    site.faults.append(InjectedFault("/v1/papers/_search", status))
    page.open("/?index=papers&q=web+graph")
    assert said in page.wait_for_texts("#trouble .trouble")[0]
    site.faults.clear()
    page.click("#trouble button")
    page.wait_for_texts(".result", 10)
    page.wait_for_script("return !deep('#trouble .trouble').length")


def test_a_slow_search_says_that_it_is_searching(page: Page, site: Site) -> None:
    answer = threading.Event()
    site.faults.append(InjectedFault("/v1/papers/_search", 0, release=answer))
    page.open("/?index=papers&q=web+graph")
    page.wait_for_script("return deep('#count')[0].textContent === 'Searching …'")
    answer.set()
    page.wait_for_texts(".result", 10)
    assert "results" in page.get_texts("#count")[0]


def test_results_stay_when_only_the_reasons_fail(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/explanations", 500))
    COMPARISON_GATE.close()
    page.open(f"/?index=papers&q={make_unseen_query('web graph')}")
    page.wait_for_texts(".result", 10)
    page.wait_for_texts("why-this-result[state=error]", 10)
    page.click("[data-tray]")
    page.wait_for_texts("#tray li")


def test_a_comparison_that_fails_leaves_the_form(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/comparisons", 500))
    page.open("/compare?index=papers&a=paper-1&b=paper-6")
    assert "as ordered" in page.wait_for_texts("#state .trouble")[0]
    assert page.run("return deep('#asking')[0].open && deep('.side input')[0].value") == "paper-1"
    site.faults.clear()
    page.click("#state button")
    page.wait_for_texts(".column .phrase")


def test_an_unreachable_server_is_reported(page: Page) -> None:
    page.open("/?index=papers&q=web+graph")
    page.wait_for_texts(".result", 10)
    page.emulate(offline=True)
    page.fill("#q", "solar cell\n")
    assert "cannot be reached" in page.wait_for_texts("#trouble .trouble")[0]
    page.emulate(offline=False)
    page.click("#trouble button")
    page.wait_for_texts(".result", 5)


def test_a_service_with_keys_asks_for_one(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/", 403, unless_authorization="Bearer open sesame"))
    page.open("/?index=papers&q=web+graph")
    page.fill("#welcome input[type=password]", "open sesame\n")
    page.wait_for_texts(".result", 10)
    page.wait_for_texts("why-this-result[state=ready]", 5)
    page.open("/compare?index=papers&a=paper-1&b=paper-5")
    page.wait_for_texts(".column .phrase")


def test_a_failing_index_list_is_reported(page: Page, site: Site) -> None:
    site.faults.append(InjectedFault("/v1/indexes", 503, remaining=1))
    page.open("/")
    assert "not available" in page.wait_for_texts("#welcome .trouble")[0]
    page.click("#welcome button")
    page.wait_for_texts("#welcome .lead")
