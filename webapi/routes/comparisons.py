"""/v1/comparisons: ask, follow, leave."""

from __future__ import annotations

import orjson
from flask import Blueprint, Response

from indexer.errors import EngineUnavailable, StoreUnavailable, TooLarge, UnknownJob
from webapi.context import caller, check_index, context, json_body, preferred_wait
from webapi.http.cached_answers import PATH
from webapi.http.job_responses import JSON, answer_or_state, state_of
from webapi.schemas.requests import ComparisonBody, parsed
from worker.access import Caller
from worker.explain.side import Side
from worker.jobs.payloads import Asked
from worker.service.gateway import Look

blueprint = Blueprint("comparisons", __name__)


@blueprint.post(PATH)
def ask() -> Response:
    who, body = caller(), json_body()
    try:
        look = _asked(who, body)
    except (StoreUnavailable, EngineUnavailable):
        stale = context().desk.stale(who, body)
        if stale is None:
            raise
        look = stale
    return answer_or_state(look, PATH)


def _asked(who: Caller, body: bytes) -> Look:
    desk = context().desk
    id = desk.recall(who, body)
    if id is not None and desk.local.get(id) is not None:
        try:
            return desk.look(id, who)
        except UnknownJob:
            pass  # it names what this caller may no longer read: asked again
    asked = understood(parsed(ComparisonBody, body), who)
    check_index(who, asked.index)
    ticket = desk.ask(asked, who)
    look = desk.wait(ticket, who, preferred_wait(context().settings))
    if look.kept is not None:
        desk.remember(who, body, asked.index, ticket.id)
    return look


def understood(body: ComparisonBody, who: Caller) -> Asked:
    """Checked as far as can be without the index, so that no job is made for what cannot be done."""
    settings = context().settings
    a, b = Side.from_json(body.a.as_json()), Side.from_json(body.b.as_json())
    for side in (a, b):
        if len(side.ids) > settings.max_set:
            raise TooLarge(f"a set of {len(side.ids)} documents is above the limit of {settings.max_set}")
        if len(side.words.encode("utf-8", "surrogatepass")) > settings.max_text_bytes:
            raise TooLarge(f"the text is larger than {settings.max_text_bytes} bytes", fix="compare a part of it")
    return Asked(body.index, a, b, body.method, body.preset, body.options.as_json(), who.groups)


@blueprint.get(f"{PATH}/<id>")
def follow(id: str) -> Response:
    look = context().desk.look(id, caller())
    if look.job.kind != "comparison":
        raise UnknownJob(f"no comparison {id!r}")
    return answer_or_state(look, PATH)


@blueprint.delete(f"{PATH}/<id>")
def leave(id: str) -> Response:
    who, desk = caller(), context().desk
    desk.look(id, who)
    job = desk.service.store.detach(id, who.key_id)
    if job is None:
        raise UnknownJob(f"no comparison {id!r}")
    return Response(orjson.dumps(state_of(job)), 200, mimetype=JSON)
