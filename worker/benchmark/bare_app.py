"""The least a Flask app can do: the same bytes for everybody. What our look-ups are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def make(size: int) -> Flask:
    """An app that answers every request with so many bytes."""
    from flask import Flask, Response

    app = Flask("bare", static_folder=None)
    body = b"x" * size

    @app.route("/", defaults={"path": ""}, methods=["GET", "POST"])
    @app.route("/<path:path>", methods=["GET", "POST"])
    def constant(path: str) -> Response:
        return Response(body, content_type="application/json")

    return app
