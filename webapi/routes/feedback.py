"""/v1/comparisons/{id}/feedback: whether a phrase was useful."""

from __future__ import annotations

import orjson
from flask import Blueprint, Response

from indexer.errors import BadParameter, UnknownJob
from webapi.context import caller, context, json_body
from webapi.http.cached_answers import PATH
from webapi.http.job_responses import JSON, answer_or_state
from webapi.schemas.requests import FeedbackBody, parsed
from worker.json_bytes import loads
from worker.service.feedback import record

blueprint = Blueprint("feedback", __name__)


@blueprint.post(f"{PATH}/<id>/feedback")
def say(id: str) -> Response:
    who, desk = caller(), context().desk
    body = parsed(FeedbackBody, json_body())
    look = desk.look(id, who)
    if look.job.kind != "comparison":
        raise UnknownJob(f"no comparison {id!r}")
    if look.kept is None:
        return answer_or_state(look, PATH)
    answer = loads(look.kept.answer.body)
    shown = {entry["phrase"] for name in ("common", "distinct_a", "distinct_b") for entry in answer[name]}
    for one in body.phrases:
        if one.phrase not in shown:
            raise BadParameter(f"the comparison shows no phrase {one.phrase!r}", fix="name a phrase of its lists")
    kept = record(desk.service.keys, answer, [one.model_dump(exclude_none=True) for one in body.phrases], who.key_id)
    return Response(orjson.dumps({"id": id, "recorded": kept}), 201, mimetype=JSON)
