"""/healthz, /readyz and /metrics."""

from __future__ import annotations

import os

import orjson
from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from indexer.errors import PhraseComError
from webapi.context import get_caller, get_context
from webapi.http.metrics import QueueCollector

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz", endpoint="alive")
def report_alive() -> Response:
    """Answer, which shows that the process is alive and has a free thread."""
    return Response(b'{"status":"ok"}', mimetype="application/json")


@blueprint.get("/readyz", endpoint="ready")
def check_ready() -> Response:
    """Write to the store, ping the engine and read the file of API keys; 503 names what is not usable."""
    context = get_context()
    parts = {"store": context.gateway.ping_store, "engine": context.gateway.ping_engine}
    if context.settings.keys_file:
        parts["keys"] = context.gate.check_keys
    checks: dict[str, str] = {}
    for name, check in parts.items():
        try:
            check()
        except PhraseComError as error:
            checks[name] = error.code
        else:
            checks[name] = "ok"
    is_ready = all(result == "ok" for result in checks.values())
    body = {"status": "ok" if is_ready else "unavailable", "checks": checks}
    response = Response(orjson.dumps(body), 200 if is_ready else 503, mimetype="application/json")
    if not is_ready:
        response.headers["Retry-After"] = "2"
    return response


@blueprint.get("/metrics", endpoint="metrics")
def export_metrics() -> Response:
    """Return the counters of all processes and the state of queues and indexes at this moment."""
    counters, current = REGISTRY, CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        counters = CollectorRegistry()
        multiprocess.MultiProcessCollector(counters)  # type: ignore[no-untyped-call]
    current.register(QueueCollector(get_context().gateway, get_caller()))
    return Response(generate_latest(counters) + generate_latest(current), content_type=CONTENT_TYPE_LATEST)
