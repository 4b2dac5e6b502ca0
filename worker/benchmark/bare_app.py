"""A minimal Flask app that answers every request with the same bytes: the baseline of cached look-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def create_app(size: int) -> Flask:
    """Return an app that answers every request with ``size`` bytes."""
    from flask import Flask, Response

    app = Flask("bare", static_folder=None)
    body = b"x" * size

    @app.route("/", defaults={"path": ""}, methods=["GET", "POST"])
    @app.route("/<path:path>", methods=["GET", "POST"])
    def answer_constant(path: str) -> Response:
        return Response(body, content_type="application/json")

    return app
