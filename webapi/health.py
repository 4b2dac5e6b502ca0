"""Whether it is alive, whether it can do its work, and what it has counted."""

from __future__ import annotations

import os

import orjson
from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from indexer.errors import PhraseComError
from webapi.context import context

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def alive() -> Response:
    return Response(b'{"status":"ok"}', mimetype="application/json")


@blueprint.get("/readyz")
def ready() -> Response:
    """503 names what is missing."""
    service = context().service
    checks: dict[str, str] = {}
    for name, check in (("store", service.store.ping), ("engine", lambda: service.engine.ping())):
        try:
            check()
        except PhraseComError as error:
            checks[name] = error.code
        else:
            checks[name] = "ok"
    good = all(said == "ok" for said in checks.values())
    body = {"status": "ok" if good else "unavailable", "checks": checks}
    response = Response(orjson.dumps(body), 200 if good else 503, mimetype="application/json")
    if not good:
        response.headers["Retry-After"] = "2"
    return response


@blueprint.get("/metrics")
def metrics() -> Response:
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry), mimetype=CONTENT_TYPE_LATEST)
    return Response(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)
