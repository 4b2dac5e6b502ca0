"""/v1/comparisons/{id}/feedback: whether a phrase was useful."""

from __future__ import annotations

import orjson
from flask import Blueprint, Response

from indexer.errors import BadParameter, UnknownJob
from webapi.context import get_caller, get_context, read_json_body
from webapi.http.job_responses import JSON_TYPE, make_job_response
from webapi.routes.comparisons import COMPARISONS_PATH
from webapi.schemas.requests import FeedbackBody, parse_body
from worker.json_bytes import loads

blueprint = Blueprint("feedback", __name__)


@blueprint.post(f"{COMPARISONS_PATH}/<id>/feedback", endpoint="say")
def record_feedback(id: str) -> Response:
    """Store user feedback on phrases of a comparison."""
    caller, gateway = get_caller(), get_context().gateway
    body = parse_body(FeedbackBody, read_json_body())
    view = gateway.get(id, caller)
    if view.job.kind != "comparison":
        raise UnknownJob(f"no comparison {id!r}")
    if view.answer is None:
        return make_job_response(view, COMPARISONS_PATH)
    answer = loads(view.answer.stored.body)
    phrases = {entry["phrase"] for name in ("common", "distinct_a", "distinct_b") for entry in answer[name]}
    for opinion in body.phrases:
        if opinion.phrase not in phrases:
            raise BadParameter(f"the comparison shows no phrase {opinion.phrase!r}", fix="use a phrase from its lists")
    opinions = [opinion.model_dump(exclude_none=True) for opinion in body.phrases]
    recorded = gateway.record_feedback(answer, opinions, caller)
    return Response(orjson.dumps({"id": id, "recorded": recorded}), 201, mimetype=JSON_TYPE)
