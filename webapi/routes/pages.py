"""The pages (search, compare, an example of the element) and the addresses of their static files."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, render_template, request

from webapi.http.static_files import compute_static_digest, make_file_response
from worker.methods.registry import METHODS
from worker.solver.parameters import PRESETS

blueprint = Blueprint("pages", __name__, template_folder="../templates")

_PAGE_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",  # text can only ever be set as text
        "trusted-types 'none'",
    ]
)
_METHOD_LABELS = {
    "cda": "graph (cda)",
    "cda_two_step": "two steps",
    "cda_alter_mea": "other measure",
    "cda_no_graph": "no graph",
    "containment": "containment",
    "word_match": "word match",
    "topic_label": "topic labels",
    "patent_com": "patent_com",
    "string_fuzzy": "similar strings",
    "context_fuzzy": "similar contexts",
}
"""Methods as the page calls them, in the order of its menu; one that is missing here appears under its name."""


@blueprint.get("/", endpoint="search")
def show_search_page() -> Response:
    return render_page("search.html")


@blueprint.get("/compare", endpoint="compare")
def show_compare_page() -> Response:
    names = [
        *(name for name in _METHOD_LABELS if name in METHODS),
        *(name for name in METHODS if name not in _METHOD_LABELS),
    ]
    methods = [(name, _METHOD_LABELS.get(name, name)) for name in names]
    return render_page("compare.html", methods=methods, presets=list(PRESETS))


@blueprint.get("/example", endpoint="example")
def show_example_page() -> Response:
    return render_page("example.html")


@blueprint.get("/favicon.ico", endpoint="favicon")
def send_favicon() -> Response:
    return make_file_response("mark.svg")


@blueprint.get("/static/<name>", endpoint="embedded")
def send_embedded_file(name: str) -> Response:
    """Send a file under its lasting address, for pages of other sites."""
    return make_file_response(name)


@blueprint.get("/static/<digest>/<name>", endpoint="static_file")
def send_static_file(digest: str, name: str) -> Response:
    """Send a file under an address that changes with the content; scripts import each other under the same digest."""
    return make_file_response(name, digest)


def render_page(template: str, **values: Any) -> Response:
    """Render a page with a policy that allows nothing but its own files and API."""
    html = render_template(template, static=f"/static/{compute_static_digest()}", **values)
    response = Response(html, mimetype="text/html")
    response.headers["Content-Security-Policy"] = _PAGE_POLICY
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cache-Control"] = "no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response
