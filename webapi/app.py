"""The Flask app: put together here, everything else in small files beside it."""

from __future__ import annotations

import time
from dataclasses import replace

from flask import Flask, Response, g, request

from indexer.engines.factory import is_server
from indexer.settings import Settings, load_settings
from webapi.auth.gate import Gate
from webapi.auth.rate_limit import rate_limit
from webapi.context import EXTENSION, Context
from webapi.http import cors, metrics, problems, security_headers
from webapi.http.cached_answers import HotAnswers
from webapi.routes import comparisons, docs, explanations, feedback, health, indexes, pages, search
from webapi.schemas import openapi
from worker.jobs.config import WorkConfig, work_config
from worker.service.container import Service
from worker.service.gateway import Desk

_PAUSE = 3.0
"""Seconds during which nothing is asked of an Elasticsearch that was seen to hang."""


def create_app(
    settings: Settings | None = None,
    *,
    inline: bool = False,
    config: WorkConfig | None = None,
    service: Service | None = None,
) -> Flask:
    """The app, ready to be served.

    ``inline``: compute in this process, without Redis. ``config`` and ``service`` replace what the
    settings would give.
    """
    settings = settings or load_settings()
    service = service or Service(config or _config(settings, inline), took=metrics.ELASTICSEARCH.observe)
    gate = Gate(settings, rate_limit(service, settings.rate_per_minute))
    app = Flask("webapi", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    desk = Desk(service, max_waiting=settings.max_waiting, waiting=metrics.WAITING.set)
    app.extensions[EXTENSION] = Context(settings, service, desk)
    problems.register(app)
    app.url_map.converters["any_id"] = indexes.AnyId
    app.url_map.merge_slashes = False
    for part in (comparisons, explanations, feedback, indexes, search, health, openapi, docs, pages):
        app.register_blueprint(part.blueprint)
    app.before_request(_begin)
    app.after_request(_end)
    gate.register(app)
    security_headers.register(app)
    app.wsgi_app = HotAnswers(app.wsgi_app, desk, gate.glance)  # type: ignore[method-assign]
    cors.register(app, settings.cors_origins)
    return app


def _config(settings: Settings, inline: bool) -> WorkConfig:
    """Somebody waits for a web server: its patience with Elasticsearch is short, and a hang is not tried out again."""
    config = work_config(settings, inline=inline)
    if inline or not is_server(settings.engine):
        return config
    timeout = min(settings.web_engine_seconds, settings.engine_timeout_seconds)
    return replace(config, engine_options={**config.engine_options, "timeout": timeout, "pause": _PAUSE})


def _begin() -> None:
    g.began = time.perf_counter()


def _end(response: Response) -> Response:
    endpoint = request.endpoint or "none"
    metrics.REQUESTS.labels(endpoint, response.status_code).inc()
    metrics.SECONDS.labels(endpoint).observe(time.perf_counter() - g.began)
    return response
