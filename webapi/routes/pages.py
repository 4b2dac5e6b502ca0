"""The pages people see: search, compare, an example; and their scripts and styles, all from here."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request

blueprint = Blueprint("pages", __name__, template_folder="../templates")

_STATIC = Path(__file__).parents[1] / "static"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_EMBEDDED = frozenset({"why-this-result.js"})
"""What pages of other sites may load."""
_FOREVER = "public, max-age=31536000, immutable"
_CHECKED = "public, max-age=300, must-revalidate"
_POLICY = "; ".join(
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


@dataclass(frozen=True, slots=True)
class StaticFile:
    kind: str
    body: bytes
    packed: bytes
    """The same, gzipped."""
    etag: str


@blueprint.get("/")
def search() -> Response:
    return page_of("search.html")


@blueprint.get("/compare")
def compare() -> Response:
    return page_of("compare.html")


@blueprint.get("/example")
def example() -> Response:
    return page_of("example.html")


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    return _file(static_files()["mark.svg"], _CHECKED)


@blueprint.get("/static/<name>")
def embedded(name: str) -> Response:
    """A file under its lasting address, for pages of other sites."""
    return _named(name, _CHECKED)


@blueprint.get("/static/<digest>/<name>")
def static_file(digest: str, name: str) -> Response:
    """A file under an address that changes with the content; scripts import each other under the same one."""
    return _named(name, _FOREVER if digest == digest_of_all() else _CHECKED)


def page_of(template: str, **values: Any) -> Response:
    """A page with the strictest policy it can have."""
    written = render_template(template, static=f"/static/{digest_of_all()}", **values)
    response = Response(written, mimetype="text/html")
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cache-Control"] = "no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response


def _named(name: str, caching: str) -> Response:
    found = static_files().get(name)
    if found is None:
        from werkzeug.exceptions import NotFound

        raise NotFound(f"no file {name!r}")
    response = _file(found, caching)
    if name in _EMBEDDED:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _file(found: StaticFile, caching: str) -> Response:
    packed = request.accept_encodings["gzip"] > 0
    response = Response(found.packed if packed else found.body, mimetype=found.kind)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = caching
    response.set_etag(found.etag + ("-gzip" if packed else ""))
    response.make_conditional(request)
    return response


def static_files() -> dict[str, StaticFile]:
    """By name. Read once; while debugging, at each request."""
    if current_app.debug:
        _read_all.cache_clear()
    return _read_all()


def digest_of_all() -> str:
    files = static_files()
    return hashlib.sha256("".join(files[name].etag for name in sorted(files)).encode()).hexdigest()[:12]


@cache
def _read_all() -> dict[str, StaticFile]:
    return {path.name: _read(path) for path in sorted(_STATIC.iterdir()) if path.suffix in _KINDS}


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    digest = hashlib.sha256(body).hexdigest()[:16]
    return StaticFile(_KINDS[path.suffix], body, gzip.compress(body, mtime=0), digest)
