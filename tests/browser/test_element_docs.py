"""The snippets of docs/element.md, run as they are in a real Chromium, with the libraries they are written for."""

from __future__ import annotations

import re
import shutil
import subprocess
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elasticsearch import Elasticsearch

from deploy.npm import INSTANTSEARCH, SEARCHKIT, SEARCHKIT_CLIENT, DownloadError, NpmScript, fetch_script
from indexer.cli.main import run
from indexer.engines import open_engine
from tests.support.browser import Page, begin_test
from tests.support.corpora.page_corpus import make_papers
from tests.support.required_programs import skip_without
from tests.support.site import OtherSiteApp, Site, serve_site

if TYPE_CHECKING:
    from selenium import webdriver

PAGE = Path(__file__).parents[2] / "docs" / "element.md"
HERE = Path(__file__).parent
BACKEND = """
const searchClient = {  // replaces the search client of a site
  async search(requests) {
    const results = await Promise.all(requests.map(async ({ indexName, params }) => {
      const query = params.query ? { multi_match: { query: params.query } } : { match_all: {} };
      const body = JSON.stringify({ query, why: false });
      const headers = { "Content-Type": "application/json" };
      const response = await fetch("https://why.example/v1/papers/_search", { method: "POST", headers, body });
      const found = await response.json();
      const hits = found.hits.hits.map((hit) => ({
        objectID: hit._id, title: hit._source.title, _highlightResult: { title: { value: hit._source.title } } }));
      return { hits, nbHits: hits.length, page: 0, nbPages: 1, hitsPerPage: 10, query: params.query, index: indexName };
    }));
    return { results };
  },
};
const search = instantsearch({ indexName: "papers", searchClient });
"""


def read_snippet(heading: str, number: int = 0) -> str:
    """Return a block of code below a heading, by default the first."""
    _, found, rest = PAGE.read_text().partition(f"\n## {heading}\n")
    assert found, heading
    return re.findall(r"```\w+\n(.*?)```", rest.partition("\n## ")[0], re.DOTALL)[number]


def read_library(script: NpmScript) -> str:
    try:
        return fetch_script(script).read_text()
    except DownloadError as error:
        skip_without(script.package, str(error))


def open_example(chromium: webdriver.Chrome, other_site: Site, site: Site, body: str, **scripts: NpmScript) -> Page:
    """Open a page of another site with these libraries."""
    app = other_site.app
    assert isinstance(app, OtherSiteApp)
    app.pages |= {f"/{name}.js": read_library(script) for name, script in scripts.items()}
    loaded = "".join(f'<script src="/{name}.js"></script>' for name in scripts)
    element = f'<script src="{site.url}/static/why-this-result.js" defer></script>'
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Elsewhere</title>'
    app.pages["/"] = head + loaded + element + body.replace("https://why.example", site.url)
    page = Page(chromium, other_site.url)
    begin_test(page, site)
    chromium.get_log("browser")
    page.open("/")
    return page


def make_module(*parts: str) -> str:
    code = "\n".join(parts)
    return f'<ol id="hits"></ol><script type="module">{code}\nwindow.search = search;</script>'


def assert_explained(page: Page, query: str, least: int) -> None:
    """Search, and check that every hit the library shows is explained."""
    page.wait_for_script("return window.search && deep('#hits why-this-result').length")
    page.run("search.helper.setQuery(arguments[0]).search()", query)
    page.wait_for_script(
        "const all = deep('#hits why-this-result');"
        "return all.length >= arguments[1] && all.every((one) => one.query === arguments[0])",
        query,
        least,
    )
    page.wait_until_settled()
    assert page.count_elements("#hits why-this-result[state=ready]") >= least
    assert any(query in chip.lower() for chip in page.get_texts("#hits why-this-result >> .chip"))
    hits = page.run("return deep('#hits why-this-result').map((one) => [one.hit, one.closest('li').innerText])")
    titles = {paper.id: paper.title for paper in make_papers()}
    assert all(titles[hit] in shown for hit, shown in hits)


def test_the_plain_page_says_why(chromium: webdriver.Chrome, other_site: Site, site: Site) -> None:
    page = open_example(chromium, other_site, site, read_snippet("A plain page"))
    page.wait_for_texts("#hits why-this-result[state=ready]", 10)
    assert site.count_requests("POST", "/v1/explanations") == 1
    assert page.get_errors() == []


def test_instantsearch_says_why_with_a_stand_in_for_its_search_client(
    chromium: webdriver.Chrome, other_site: Site, site: Site
) -> None:
    body = make_module(BACKEND, read_snippet("InstantSearch"), "search.start();")
    page = open_example(chromium, other_site, site, body, instantsearch=INSTANTSEARCH)
    assert_explained(page, "web graph", 10)
    assert site.count_requests("POST", "/v1/explanations") == 1, "an empty query sends no request"
    assert page.get_errors() == []


@pytest.fixture
def source(elasticsearch_url: str) -> Iterator[str]:
    """An index of papers that another program owns."""
    name = f"papers-{uuid.uuid4().hex[:8]}"
    with Elasticsearch(elasticsearch_url) as client:
        for paper in make_papers():
            client.index(index=name, id=paper.id, document={"title": paper.title, "text": paper.text})
        client.indices.refresh(index=name)
        yield name
        client.indices.delete(index=name)


@pytest.fixture
def attached(
    elasticsearch_url: str, source: str, other_site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Site]:
    """The service with that index attached as ``papers``."""
    prefix = f"side-{uuid.uuid4().hex[:8]}-"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", prefix)
    given = ["--index", "papers", "--engine", elasticsearch_url, "--index-processes", "1"]
    assert run(["attach", f"{elasticsearch_url}/{source}", *given]) == 0
    # Searchkit says nothing of how long it waits for reasons
    yield from serve_site(elasticsearch_url, index_prefix=prefix, cors_origins=other_site.url, wait_seconds=10)
    with open_engine(elasticsearch_url, prefix=prefix) as engine:
        engine.delete_index("papers")


@contextmanager
def serve_searchkit(other_site: Site, host: str, hooks: str = "const hooks = {};") -> Iterator[None]:
    """Serve Searchkit's own server, which searches at ``host``, behind /api/search of the other site."""
    node = shutil.which("node")
    if node is None:
        skip_without("Node.js", "the server side of Searchkit needs it")
    read_library(SEARCHKIT)
    command = [node, str(HERE / "searchkit.mjs"), str(fetch_script(SEARCHKIT)), host, hooks]
    assert isinstance(other_site.app, OtherSiteApp)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        other_site.app.posts["/api/search"] = lambda body: urllib.request.urlopen(address, body, 120).read()
        yield
        server.terminate()


def test_searchkit_on_an_attached_index_says_why(
    chromium: webdriver.Chrome, other_site: Site, attached: Site, source: str, elasticsearch_url: str
) -> None:
    written = read_snippet("Searchkit").replace('indexName: "papers"', f'indexName: "{source}"')
    assert source in written
    body = make_module("const Client = SearchkitInstantsearchClient;", written)
    with serve_searchkit(other_site, elasticsearch_url):
        page = open_example(chromium, other_site, attached, body, instantsearch=INSTANTSEARCH, client=SEARCHKIT_CLIENT)
        assert_explained(page, "web graph", 10)
        assert page.get_errors() == []


SECOND_INDEX = """
search.addWidgets([instantsearch.widgets.index({ indexName: "papers", indexId: "more" }).addWidgets([
  instantsearch.widgets.configure({ hitsPerPage: 3 }),
  instantsearch.widgets.hits({ container: "#more", templates: { item: (hit) => JSON.stringify(hit.why) } })])]);
"""


def test_searchkit_searches_through_the_service_and_its_hits_bring_their_reasons(
    chromium: webdriver.Chrome, other_site: Site, attached: Site
) -> None:
    heading = "Searchkit through PhraseCom"
    written = read_snippet(heading, 1).replace("search.start();", f"{SECOND_INDEX}search.start();")
    body = make_module("const Client = SearchkitInstantsearchClient;", written) + '<ol id="more"></ol>'
    with serve_searchkit(other_site, f"{attached.url}/v1", read_snippet(heading)):
        page = open_example(chromium, other_site, attached, body, instantsearch=INSTANTSEARCH, client=SEARCHKIT_CLIENT)
        assert_explained(page, "web graph", 10)
        assert all('"state":"done"' in text for text in page.get_texts("#more li"))
        assert page.count_elements("#more li") == 3
        assert attached.count_requests("POST", "/v1/_msearch") == 2, "one for the empty query, one for the other"
        assert attached.count_requests("POST", "/v1/explanations") == 0
        assert page.get_errors() == []
