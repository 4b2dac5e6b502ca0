"""What is said of a hit for hard queries, on an index of our own and on one attached to Elasticsearch: an acronym in
lower case, a rare name, words that stand nowhere, and a hit that was deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from flask import Flask

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from indexer.indexing.update import delete_documents
from tests.support.attached_sources import AttachedSource, attach_source
from tests.support.browser import Page, open_fresh_page
from tests.support.corpora.page_corpus import make_papers
from tests.support.site import Site, serve_site
from webapi.context import EXTENSION

if TYPE_CHECKING:
    from selenium import webdriver

INDEX = "news"
NONSENSE = "qwertyuiop asdfghjkl"


def make_documents() -> list[Document]:
    """Return papers, two notes with an acronym and a rare name, and two to delete."""
    notes = {
        "acronym": ("Backups on AWS", "The nightly backups of the web graph are kept on AWS for a year."),
        "name": ("Answering calls with mgetty", "A modem answers with mgetty while the web graph is crawled."),
        "doomed-light": ("A short-lived note, light", "The random walk of a note that will not stay."),
        "doomed-dark": ("A short-lived note, dark", "The random walk of a note that will not stay."),
    }
    return make_papers() + [Document(id, title, text) for id, (title, text) in notes.items()]


@dataclass
class ServedIndex:
    site: Site
    delete: Callable[[str], None]
    is_attached: bool


@pytest.fixture(scope="module")
def embedded_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("notes")
    with open_engine(str(folder)) as engine:
        build_index(make_documents(), engine, INDEX, processes=1)
    yield from serve_site(folder)


@pytest.fixture(scope="module")
def embedded_index(embedded_site: Site) -> ServedIndex:
    assert isinstance(embedded_site.app, Flask)
    service = embedded_site.app.extensions[EXTENSION].gateway.container

    def delete(id: str) -> None:
        delete_documents(service.engine, INDEX, [id], listener=service.versions)

    return ServedIndex(embedded_site, delete, is_attached=False)


@pytest.fixture(scope="module")
def source(elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttachedSource]:
    documents = {one.id: {"headline": one.title, "body": one.text} for one in make_documents()}
    source = AttachedSource(elasticsearch_url, documents, text_options={"analyzer": "standard"})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("attached"))
        patch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
        attach_source(source)
    yield source
    source.close()


@pytest.fixture(scope="module")
def attached_site(source: AttachedSource) -> Iterator[Site]:
    yield from serve_site(source.url, index_prefix=source.prefix)


@pytest.fixture(scope="module")
def attached_index(attached_site: Site, source: AttachedSource) -> ServedIndex:
    def delete(id: str) -> None:
        source.client.delete(index=source.index, id=id, refresh=True)

    return ServedIndex(attached_site, delete, is_attached=True)


@pytest.fixture(params=["embedded_index", "attached_index"])
def served(request: pytest.FixtureRequest) -> ServedIndex:
    index: ServedIndex = request.getfixturevalue(request.param)
    return index


@pytest.fixture
def notes_page(chromium: webdriver.Chrome, served: ServedIndex) -> Iterator[Page]:
    yield from open_fresh_page(chromium, served.site)


def open_results(page: Page, query: str) -> None:
    page.open(f"/?index={INDEX}&q={query.replace(' ', '+')}")
    page.wait_for_texts(".result")
    page.wait_until_settled()


def add_element(page: Page, hit: str, query: str) -> None:
    """Add an element for a hit, wherever it came from, to a plain page."""
    page.open(f"/example?index={INDEX}")
    page.run(
        "const e = document.createElement('why-this-result');"
        "for (const [n, v] of Object.entries(arguments[0])) e.setAttribute(n, v);"
        "document.querySelector('main').append(e)",
        {"index": INDEX, "hit": hit, "query": query},
    )
    page.wait_until_settled()


@pytest.mark.parametrize(("query", "hit", "word"), [("aws", "acronym", "aws"), ("mgetty", "name", "mgetty")])
def test_an_acronym_in_lower_case_and_a_rare_name_are_the_reason(
    notes_page: Page, axe: str, query: str, hit: str, word: str
) -> None:
    page = notes_page
    open_results(page, query)
    reasons = f".result[data-id={hit}] why-this-result >> "
    told = page.get_texts(reasons + "[part~=word-found]") + page.get_texts(reasons + ".chip.shared [part=phrase]")
    assert any(word in one.lower() for one in told)
    assert (
        page.get_texts(f".result[data-id={hit}] h2 mark") and page.count_elements(reasons + "[part~=word-lacking]") == 0
    )
    assert page.run_axe(axe) == [] and page.get_errors() == []


def test_words_that_stand_nowhere_are_no_reason(notes_page: Page, axe: str) -> None:
    page = notes_page
    page.open(f"/?index={INDEX}&q={NONSENSE.replace(' ', '+')}")
    assert "Nothing found" in page.wait_for_texts("#trouble .notice")[0]
    add_element(page, "paper-1", NONSENSE)
    assert "Nothing stands out that it shares with the query." in page.get_texts("why-this-result >> .said")
    assert page.count_elements("why-this-result >> .chip.shared, why-this-result >> [part=words]") == 0
    assert page.count_elements("why-this-result >> .chip.implied") == 0
    page.open(f"/compare?index={INDEX}&a=id:paper-1&b=query:{NONSENSE.replace(' ', '+')}")
    assert "Nothing stands out" in page.wait_for_texts(".column.common .none")[0]
    assert len(page.get_texts(".column.distinct_b .words li")) == 2
    assert page.run_axe(axe) == [] and page.get_errors() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_hit_that_was_deleted_says_so(notes_page: Page, served: ServedIndex, axe: str, dark: bool) -> None:
    page, hit = notes_page, "doomed-dark" if dark else "doomed-light"
    page.emulate(dark=dark)
    query = f"short-lived {'dark' if dark else 'light'}"
    open_results(page, query)
    served.delete(hit)
    chips = f".result[data-id={hit}] why-this-result >> .chip"
    page.click(chips)
    if served.is_attached:  # the index still has it
        page.wait_for_texts(f".result[data-id={hit}] why-this-result >> blockquote")
    else:
        alerts = page.wait_for_texts(f".result[data-id={hit}] why-this-result >> .evidence [role=alert]")
        assert alerts == ["A document of this comparison is no longer in the index. Try again"]
        assert page.run_axe(axe) == []
        page.click(f".result[data-id={hit}] why-this-result >> [part=retry]")
        page.wait_for_texts(f".result[data-id={hit}] why-this-result[state=empty]")
    add_element(page, hit, query)
    said = "No longer in the source." if served.is_attached else "It is not in the index."
    part = "source" if served.is_attached else "empty"
    assert page.get_texts(f"why-this-result >> [part={part}]") == [said]
    assert page.run_axe(axe) == [] and page.get_errors() == []
