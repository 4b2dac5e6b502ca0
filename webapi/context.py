"""What every request handler needs: the desk, the limits, and who is asking."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import current_app, g, request

from indexer.settings import Settings
from webapi.auth.gate import check_index as check_index
from webapi.auth.gate import require as require
from webapi.http.problems import UnsupportedMediaType
from worker.access import Caller
from worker.service.container import Service
from worker.service.gateway import Desk

EXTENSION = "phrasecom"


@dataclass(frozen=True, slots=True)
class Context:
    settings: Settings
    service: Service
    desk: Desk


def context() -> Context:
    found: Context = current_app.extensions[EXTENSION]
    return found


def caller() -> Caller:
    """As the gate let them in."""
    found: Caller = g.caller
    return found


def json_body() -> bytes:
    """The body of a request that says it is JSON (a form of another site cannot say so)."""
    kind = request.mimetype
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType("the body must be JSON", fix="send Content-Type: application/json")
    return request.get_data(cache=False)


_WAIT = re.compile(r"wait\s*=\s*\"?(\d+(?:\.\d+)?)\"?\s*$")


def preferred_wait(settings: Settings) -> float:
    """Seconds, from ``Prefer: respond-async`` and ``Prefer: wait=N``; what cannot be read is ignored."""
    wait = settings.wait_seconds
    for line in request.headers.getlist("Prefer"):
        for preference in line.split(","):
            preference = preference.strip().lower()
            if preference == "respond-async":
                return 0.0
            found = _WAIT.match(preference)
            if found:
                wait = min(float(found.group(1)), settings.max_wait_seconds)
    return wait
