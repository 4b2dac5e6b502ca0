"""Pages of other sites that may call the API from a browser: those the settings name, no others."""

from __future__ import annotations

from flask import Flask, Response, request

_SENT = "Content-Type, Prefer, Authorization, X-API-Key, If-None-Match"
_READ = "Location, Retry-After, ETag, Age, X-Cache, Content-Location"
_METHODS = "GET, POST, DELETE, OPTIONS"
_DAY = "86400"


def register(app: Flask, origins: str) -> None:
    """``origins``: separated by spaces; ``*`` for all."""
    allowed = frozenset(origin.rstrip("/") for origin in origins.split())
    if allowed:
        app.after_request(lambda response: _allow(response, allowed))


def _allow(response: Response, allowed: frozenset[str]) -> Response:
    origin = request.headers.get("Origin", "")
    if not request.path.startswith("/v1/") or not origin:
        return response
    response.vary.add("Origin")
    if origin not in allowed and "*" not in allowed:
        return response
    response.headers["Access-Control-Allow-Origin"] = origin  # keys travel in a header, never in a cookie
    response.headers["Access-Control-Expose-Headers"] = _READ
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Headers"] = _SENT
        response.headers["Access-Control-Allow-Methods"] = _METHODS
        response.headers["Access-Control-Max-Age"] = _DAY
    return response
