"""Security headers of every response; a view may set stricter or more exact ones."""

from __future__ import annotations

from typing import Final

from flask import Flask, Response

SECURITY_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


def register_security_headers(app: Flask) -> None:
    """Add the headers to all responses of the app that do not set them."""
    app.after_request(_add_headers)


def _add_headers(response: Response) -> Response:
    for name, value in SECURITY_HEADERS:
        response.headers.setdefault(name, value)
    return response
