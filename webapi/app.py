"""The Flask app, assembled from its routes, error handlers, access control and middleware."""

from __future__ import annotations

import time
from dataclasses import replace

from flask import Flask, Response, g, request

from indexer.engines.factory import is_server_url
from indexer.settings import Settings, load_settings
from webapi.auth.gate import Gate
from webapi.auth.rate_limit import make_rate_limit
from webapi.context import EXTENSION, WebContext
from webapi.http import metrics
from webapi.http.cached_answers import CachedAnswerMiddleware
from webapi.http.cors import register_cors
from webapi.http.problems import register_error_handlers
from webapi.http.security_headers import register_security_headers
from webapi.routes import ALL_BLUEPRINTS
from webapi.routes.comparisons import COMPARISONS_PATH
from webapi.routes.indexes import DocumentIdConverter
from worker.jobs.config import WorkConfig, load_work_config
from worker.service.container import ServiceContainer
from worker.service.gateway import JobGateway

_BREAKER_PAUSE_SECONDS = 3.0
"""Time without requests to an Elasticsearch that was found hanging."""


def create_app(
    settings: Settings | None = None,
    *,
    inline: bool = False,
    config: WorkConfig | None = None,
    service: ServiceContainer | None = None,
) -> Flask:
    """Create the app, ready to be served.

    ``inline``: compute in this process, without Redis. ``config`` and ``service`` replace those that the settings
    describe.
    """
    settings = settings or load_settings()
    service = service or ServiceContainer(
        config or _load_web_config(settings, inline), on_engine_request=metrics.ELASTICSEARCH_SECONDS.observe
    )
    gate = Gate(settings, make_rate_limit(service, settings))
    app = Flask("webapi", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    gateway = JobGateway(service, max_waiting=settings.max_waiting, on_waiting_change=metrics.WAITING_REQUESTS.set)
    app.extensions[EXTENSION] = WebContext(settings, gateway, gate)
    register_error_handlers(app)
    app.url_map.converters["any_id"] = DocumentIdConverter
    app.url_map.merge_slashes = False
    for blueprint in ALL_BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.before_request(_start_timer)
    app.after_request(_record_request)
    gate.register(app)
    register_security_headers(app)
    app.wsgi_app = CachedAnswerMiddleware(  # type: ignore[method-assign]
        app.wsgi_app, gateway, COMPARISONS_PATH, gate.identify_unrestricted
    )
    register_cors(app, settings.cors_origins)
    return app


def _load_web_config(settings: Settings, inline: bool) -> WorkConfig:
    """Return the configuration of a web server: requests to Elasticsearch time out early, as a caller waits, and one
    that hangs is left alone for a while."""
    config = load_work_config(settings, inline=inline)
    if inline or not is_server_url(settings.engine):
        return config
    timeout = min(settings.web_engine_seconds, settings.engine_timeout_seconds)
    options = {**config.engine_options, "timeout": timeout, "breaker_pause": _BREAKER_PAUSE_SECONDS}
    return replace(config, engine_options=options)


def _start_timer() -> None:
    g.started = time.perf_counter()


def _record_request(response: Response) -> Response:
    endpoint = request.endpoint or "none"
    metrics.REQUESTS_ANSWERED.labels(endpoint, response.status_code).inc()
    metrics.REQUEST_SECONDS.labels(endpoint).observe(time.perf_counter() - g.started)
    return response
