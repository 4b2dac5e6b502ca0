"""/v1/explanations: a whole results page in one job, each hit as it is ready."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
from flask import Blueprint, Response

from indexer.errors import BadParameter, TooLarge, UnknownJob
from webapi.context import caller, check_index, context, json_body, preferred_wait
from webapi.http.job_responses import JSON, answer_or_state, state_of
from webapi.schemas.requests import ExplanationBody, parsed
from worker.access import Caller
from worker.jobs.job import OPEN
from worker.jobs.payloads import Against, AskedPage
from worker.service.gateway import Look

blueprint = Blueprint("explanations", __name__)
PATH = "/v1/explanations"


@blueprint.post(PATH)
def ask() -> Response:
    who = caller()
    body = parsed(ExplanationBody, json_body())
    asked = understood(body, who)
    check_index(who, asked.index)
    desk = context().desk
    if body.unknown == "skip":
        asked = _of_known(asked, who)
    ticket = desk.ask_page(asked, who)
    return _page(desk.wait(ticket, who, preferred_wait(context().settings)), asked.hits)


@blueprint.get(f"{PATH}/<id>")
def follow(id: str) -> Response:
    desk = context().desk
    look = desk.look(id, caller())
    if look.job.kind != "explanation":
        raise UnknownJob(f"no explanation {id!r}")
    question = desk.service.store.question(id) if look.job.state in OPEN else None
    return _page(look, AskedPage.from_json(question).hits if question else ())


@blueprint.delete(f"{PATH}/<id>")
def leave(id: str) -> Response:
    who, desk = caller(), context().desk
    desk.look(id, who)
    job = desk.service.store.detach(id, who.key_id)
    if job is None or job.kind != "explanation":
        raise UnknownJob(f"no explanation {id!r}")
    return Response(orjson.dumps(state_of(job)), 200, mimetype=JSON)


def understood(body: ExplanationBody, who: Caller) -> AskedPage:
    """Checked: what the page is compared against must be given."""
    most = context().settings.max_hits
    if len(body.hits) > most:
        raise TooLarge(f"{len(body.hits)} hits are above the limit of {most}", fix="ask for fewer at a time")
    against: Against = body.against or ("query" if body.query is not None else "document")
    if against in ("query", "document") and getattr(body, against) is None:
        said = f"against {against!r} needs a {against}" if body.against else "the page is compared with nothing"
        raise BadParameter(said, fix="add query or document, or choose against page or above")
    hits = tuple(dict.fromkeys(body.hits))
    return AskedPage(body.index, hits, against, body.query, body.document, who.groups)


def _of_known(asked: AskedPage, who: Caller) -> AskedPage:
    """The same about the hits that are there for this caller; all of them if none is, which is then told."""
    mirror = context().service.mirror
    found = mirror.look_up(asked.index, mirror.epoch(asked.index), asked.hits, fresh=who.groups is not None)
    known = tuple(hit for hit in asked.hits if hit in found and who.may_read(found[hit].acl))
    return replace(asked, hits=known or asked.hits)


def _page(look: Look, hits: tuple[str, ...]) -> Response:
    """The whole page once it is done; until then its ready hits under 202."""
    response = answer_or_state(look, PATH)
    if response.status_code != 202:
        return response
    parts = context().desk.ready(look.job.id, caller())
    entries: list[dict[str, Any]] = []
    for hit in hits:
        ready = parts.get(hit)
        entry: dict[str, Any] = {"hit": hit, "state": look.job.state if ready is None else "done"}
        if ready is not None:
            entry["comparison"] = orjson.Fragment(ready)
        entries.append(entry)
    response.set_data(orjson.dumps(state_of(look.job) | {"explanations": entries}))
    return response
