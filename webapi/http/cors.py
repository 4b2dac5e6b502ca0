"""CORS headers for the pages of other sites that the settings allow to call the API from a browser."""

from __future__ import annotations

from flask import Flask, Response, request

_ALLOWED_HEADERS = "Content-Type, Prefer, Authorization, X-API-Key, If-None-Match"
_EXPOSED_HEADERS = "Location, Retry-After, ETag, Age, X-Cache, Content-Location"
_METHODS = "GET, POST, DELETE, OPTIONS"
_DAY_SECONDS = "86400"


def register_cors(app: Flask, origins: str) -> None:
    """Allow these origins, separated by spaces; ``*`` for all."""
    allowed = frozenset(origin.rstrip("/") for origin in origins.split())
    if allowed:
        app.after_request(lambda response: _add_headers(response, allowed))


def _add_headers(response: Response, allowed: frozenset[str]) -> Response:
    origin = request.headers.get("Origin", "")
    if not request.path.startswith("/v1/") or not origin:
        return response
    response.vary.add("Origin")
    if origin not in allowed and "*" not in allowed:
        return response
    response.headers["Access-Control-Allow-Origin"] = origin  # keys travel in a header, never in a cookie
    response.headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Headers"] = _ALLOWED_HEADERS
        response.headers["Access-Control-Allow-Methods"] = _METHODS
        response.headers["Access-Control-Max-Age"] = _DAY_SECONDS
    return response
