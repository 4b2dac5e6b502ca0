"""Whether it is alive, whether it can do its work, and what it has counted."""

from __future__ import annotations

import os

import orjson
from flask import Blueprint, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest, multiprocess

from indexer.errors import PhraseComError
from webapi.context import caller, context
from webapi.http.state import State

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
    counted, looked_up = REGISTRY, CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        counted = CollectorRegistry()
        multiprocess.MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    looked_up.register(State(context().service, caller()))
    return Response(generate_latest(counted) + generate_latest(looked_up), content_type=CONTENT_TYPE_LATEST)
