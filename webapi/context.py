"""The request handlers' common needs: settings, the gateway, the caller, the JSON body and the preferred wait."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import current_app, g, request

from indexer.settings import Settings
from webapi.auth.gate import Gate
from webapi.http.problems import UnsupportedMediaType
from worker.access import Caller
from worker.index_catalog import IndexCatalog
from worker.service.gateway import JobGateway

EXTENSION = "phrasecom"
"""Name of the WebContext among the app's extensions."""
_WAIT_PREFERENCE = re.compile(r"wait\s*=\s*\"?(\d+(?:\.\d+)?)\"?\s*$")


@dataclass(frozen=True, slots=True)
class WebContext:
    """Settings, gateway and gate of an app, shared by all its requests."""

    settings: Settings
    gateway: JobGateway
    gate: Gate

    @property
    def catalog(self) -> IndexCatalog:
        """The indexes, for reading."""
        return self.gateway.catalog


def get_context() -> WebContext:
    """Return the context of the current app."""
    context: WebContext = current_app.extensions[EXTENSION]
    return context


def get_caller() -> Caller:
    """Return the caller of the current request, as the gate identified them."""
    caller: Caller = g.caller
    return caller


def read_json_body() -> bytes:
    """Return the body; raise UnsupportedMediaType unless it is declared as JSON, which a form of another site cannot
    do."""
    if not _is_json(request.mimetype):
        raise UnsupportedMediaType("the body must be JSON", fix="send Content-Type: application/json")
    return request.get_data(cache=False)


def read_ndjson_body() -> bytes:
    """Return a body of JSON lines; raise UnsupportedMediaType unless it is declared as that or as JSON."""
    media_type = request.mimetype
    if not _is_json(media_type) and media_type != "application/x-ndjson" and not media_type.endswith("+x-ndjson"):
        raise UnsupportedMediaType("the body must be lines of JSON", fix="send Content-Type: application/x-ndjson")
    return request.get_data(cache=False)


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or media_type.endswith("+json")


def read_preferred_wait_seconds(settings: Settings) -> float:
    """Return the seconds to wait for a job, by ``Prefer: respond-async`` or ``Prefer: wait=N``.

    Preferences that cannot be parsed are ignored.
    """
    wait = settings.wait_seconds
    for header in request.headers.getlist("Prefer"):
        for preference in header.split(","):
            preference = preference.strip().lower()
            if preference == "respond-async":
                return 0.0
            match = _WAIT_PREFERENCE.match(preference)
            if match:
                wait = min(float(match.group(1)), settings.max_wait_seconds)
    return wait
