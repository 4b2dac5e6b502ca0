"""Scripts, styles and pictures: read once, compressed once, and sent with an ETag.

Used instead of Flask's static folder because addresses contain a digest of all files, so that scripts which
import each other by relative names are cached for ever, and because responses are compressed.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flask import Response, current_app, request
from werkzeug.exceptions import NotFound

_FOLDER = Path(__file__).parents[1] / "static"
_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_EMBEDDABLE = frozenset({"why-this-result.js"})
"""Files that pages of other sites may load."""
_CACHE_FOREVER = "public, max-age=31536000, immutable"
_CACHE_AND_CHECK = "public, max-age=300, must-revalidate"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """The content of a file, plain and compressed."""

    media_type: str
    body: bytes
    gzipped: bytes
    etag: str


def make_file_response(name: str, digest: str | None = None) -> Response:
    """Return the response to a request for a file; ``digest``: the one in its address. Raise NotFound."""
    file = _get_files().get(name)
    if file is None:
        raise NotFound(f"no file {name!r}")
    is_gzipped = request.accept_encodings["gzip"] > 0
    response = Response(file.gzipped if is_gzipped else file.body, mimetype=file.media_type)
    if is_gzipped:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = _CACHE_FOREVER if digest == compute_static_digest() else _CACHE_AND_CHECK
    response.set_etag(file.etag + ("-gzip" if is_gzipped else ""))
    response.make_conditional(request)
    if name in _EMBEDDABLE:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def compute_static_digest() -> str:
    """Return a digest of all files, which changes whenever one of them does."""
    files = _get_files()
    return hashlib.sha256("".join(files[name].etag for name in sorted(files)).encode()).hexdigest()[:12]


def _get_files() -> dict[str, StaticFile]:
    """Return the files by name; read once, or at each request while debugging."""
    if current_app.debug:
        _read_files.cache_clear()
    return _read_files()


@cache
def _read_files() -> dict[str, StaticFile]:
    return {path.name: _read_file(path) for path in sorted(_FOLDER.iterdir()) if path.suffix in _MEDIA_TYPES}


def _read_file(path: Path) -> StaticFile:
    body = path.read_bytes()
    etag = hashlib.sha256(body).hexdigest()[:16]
    return StaticFile(_MEDIA_TYPES[path.suffix], body, gzip.compress(body, mtime=0), etag)
