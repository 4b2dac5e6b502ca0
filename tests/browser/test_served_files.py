"""The files of the pages: small, cached, loading nothing from other sites."""

from __future__ import annotations

import gzip
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.site import Site

STATIC = Path(__file__).parents[2] / "webapi" / "static"
TEMPLATES = STATIC.parent / "templates"
MAX_ELEMENT_BYTES = 11_000


def fetch(site: Site, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(site.url + path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def test_the_element_is_one_small_file() -> None:
    source = (STATIC / "why-this-result.js").read_bytes()
    assert len(gzip.compress(source, 9)) <= MAX_ELEMENT_BYTES
    assert not re.search(rb"^\s*import\b|\bimport\(|\brequire\(", source, re.MULTILINE)


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_text_is_never_set_as_markup(path: Path) -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", path.read_text()
    )


@pytest.mark.parametrize("path", [*sorted(STATIC.iterdir()), *sorted(TEMPLATES.iterdir())], ids=lambda path: path.name)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", path.read_text()))
    assert addresses <= {"http://www.w3.org", "https://why.example"}, "a namespace and an example"


@pytest.mark.parametrize("path", ["/", "/compare", "/example"])
def test_a_page_has_a_strict_policy_and_nothing_inline(site: Site, path: str) -> None:
    status, headers, body = fetch(site, path)
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "require-trusted-types-for 'script'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    page = body.decode()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def test_static_files_are_immutable_under_a_versioned_address(site: Site) -> None:
    page = fetch(site, "/")[2].decode()
    names = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(names) >= 4
    for name in names:
        status, headers, body = fetch(site, name, Accept_Encoding="gzip")
        assert status == 200 and "immutable" in headers["Cache-Control"]
        assert headers["Content-Encoding"] == "gzip" and gzip.decompress(body)
        assert fetch(site, name, Accept_Encoding="gzip", If_None_Match=headers["ETag"])[0] == 304


def test_the_element_has_a_lasting_address_that_other_sites_may_load(site: Site) -> None:
    status, headers, _ = fetch(site, "/static/why-this-result.js")
    assert status == 200 and "immutable" not in headers["Cache-Control"]
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"


@pytest.mark.parametrize("name", ["nothing.js", "../pages.py", "..%2Fpages.py", "x/../../app.py"])
def test_unknown_files_are_404(site: Site, name: str) -> None:
    status, headers, _ = fetch(site, f"/static/{name}")
    assert status == 404 and headers["Content-Type"] == "application/problem+json"


def test_only_named_sites_may_call_the_api(site: Site, other_site: Site) -> None:
    allowed = fetch(site, "/v1/indexes", Origin=other_site.url)[1]
    assert allowed["Access-Control-Allow-Origin"] == other_site.url and "Origin" in allowed["Vary"]
    assert "Access-Control-Allow-Origin" not in fetch(site, "/v1/indexes", Origin="https://evil.example")[1]
    assert "Access-Control-Allow-Origin" not in fetch(site, "/", Origin=other_site.url)[1]


def test_the_element_docs_name_every_attribute_event_and_part() -> None:
    source = (STATIC / "why-this-result.js").read_text()
    page = (STATIC.parents[1] / "docs" / "element.md").read_text()
    attributes = re.search(r'observedAttributes = "([^"]+)"', source)
    assert attributes is not None
    names = set(attributes.group(1).split()) | set(re.findall(r'(?:get|has)Attribute\("([\w-]+)"\)', source))
    names |= set(re.findall(r"var\((--why-[\w-]+)", source)) | set(
        re.findall(r'(?:CustomEvent|#emit)\("([\w-]+)"', source)
    )
    names |= set(re.findall(r'slot", \{ name: "(\w+)"', source)) | set(re.findall(r'\bpart: "(\w+)"', source))
    assert len(names) > 40
    missing = sorted(name for name in names - {"announced"} if f"`{name}`" not in page and f'`{name}="' not in page)
    assert missing == []


@pytest.mark.parametrize("name", ["page.md", "element.md"])
def test_links_and_pictures_of_the_docs_are_there(name: str) -> None:
    docs = STATIC.parents[1] / "docs"
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", (docs / name).read_text()):
        assert (docs / link).exists(), link
