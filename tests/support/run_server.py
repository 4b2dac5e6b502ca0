"""A web server process as the tests start it: ``python -m tests.support.run_server CONFIG SETTINGS``."""

from __future__ import annotations

import json
import sys

from flask import Flask

from indexer.settings import load_settings
from tests.support.run_worker import parse_work_config
from webapi.server.gunicorn_app import serve

if __name__ == "__main__":
    config = parse_work_config(sys.argv[1])
    settings = load_settings(**json.loads(sys.argv[2]))

    def make() -> Flask:
        from webapi.app import create_app

        return create_app(settings, config=config)

    serve(settings, create=make)
