"""The server that the commands of docs/http.md are sent to."""

# ruff: noqa: F401 - fixtures imported by name
from __future__ import annotations

from tests.support.web_fixtures import real_server
from tests.support.worker_fixtures import engine_folder
