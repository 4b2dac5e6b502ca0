"""/v1/jobs: the state of a job of any kind."""

from __future__ import annotations

import orjson
from flask import Blueprint, Response
from flask.blueprints import BlueprintSetupState

from webapi.context import get_caller, get_context
from webapi.http.job_responses import JSON_TYPE, make_job_response

blueprint = Blueprint("jobs", __name__)
JOBS_PATH = "/v1/jobs"


def get_job(id: str) -> Response:
    """Return how far a job is, or the result of an ingestion."""
    view = get_context().gateway.get(id, get_caller())
    if view.answer is None:
        return make_job_response(view, JOBS_PATH)
    body = orjson.dumps({"id": id, "state": "done", "progress": 1.0})
    if view.answer.kind == "ingest":
        body = view.answer.stored.body
    return Response(body, mimetype=JSON_TYPE, headers={"Cache-Control": "no-store"})


def _add_routes(state: BlueprintSetupState) -> None:
    """Add the route to the app itself: a blueprint would put its own name before ``indexes.job``, the endpoint that
    metrics and scopes know."""
    state.app.add_url_rule(f"{JOBS_PATH}/<id>", endpoint="indexes.job", view_func=get_job)


blueprint.record(_add_routes)
