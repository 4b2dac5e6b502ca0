"""Headers that every response carries, unless it says something more exact itself."""

from __future__ import annotations

from typing import Final

from flask import Flask, Response

SAFE: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


def register(app: Flask) -> None:
    app.after_request(_add)


def _add(response: Response) -> Response:
    for name, value in SAFE:
        response.headers.setdefault(name, value)
    return response
