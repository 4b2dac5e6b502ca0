"""gunicorn, embedded: threads for requests, a graceful stop, never the development server."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from indexer.errors import BadSetting
from indexer.logging_setup import redact
from indexer.settings import Settings
from webapi.auth.gate import check_keys, is_loopback
from webapi.server.gunicorn_worker import LINE
from webapi.server.listening import check_address


class Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, make: Callable[[], Flask], options: dict[str, Any]) -> None:
        self._make = make
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            if name in self.cfg.settings:  # the control socket came with a later gunicorn
                self.cfg.set(name, value)

    def load(self) -> Flask:
        return self._make()


def serve(settings: Settings, *, inline: bool = False, make: Callable[[], Flask] | None = None) -> None:
    """Serve until told to stop; SIGTERM lets running requests finish."""
    check_host(settings)
    check_address(settings.host, settings.port)
    logging.getLogger("gunicorn.error").addFilter(_without_secrets)
    processes = 1 if inline else settings.processes
    server = Server(make or (lambda: _made(settings, inline)), options(settings, processes))
    if processes == 1:
        server.run()
        return
    with tempfile.TemporaryDirectory(prefix="phrasecom-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before the processes import what counts
        server.run()


def options(settings: Settings, processes: int) -> dict[str, Any]:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return {
        "bind": f"{host}:{settings.port}",
        "workers": processes,
        "worker_class": "webapi.server.gunicorn_worker.Threads",
        "logger_class": "webapi.server.gunicorn_logging.Lines",
        "limit_request_line": LINE,
        "threads": settings.threads,
        "timeout": 0,  # threads answer slow clients; a stuck one must not kill its neighbours
        "graceful_timeout": int(settings.max_wait_seconds) + 20,
        "keepalive": 15,
        "proc_name": "phrasecom",
        "control_socket_disable": True,
        "worker_exit": _close,
        "child_exit": _counted_out,
        "loglevel": settings.log_level,
    }


def check_host(settings: Settings) -> None:
    """Without keys anybody who can connect may read and write: only this machine may connect."""
    if settings.keys_file:
        check_keys(settings)
        return
    if is_loopback(settings.host):
        return
    raise BadSetting(
        f"without API keys the server listens on this machine only, not on {settings.host}",
        fix="make a key with phrasecom keys add NAME --keys-file FILE and set keys_file, or set host = 127.0.0.1",
    )


def _without_secrets(record: logging.LogRecord) -> bool:
    """A request that cannot be read is logged as it came: with a key in the wrong place, the key too."""
    record.msg, record.args = redact(record.getMessage()), None
    return True


def _made(settings: Settings, inline: bool) -> Flask:
    from webapi.app import create_app

    return create_app(settings, inline=inline)


def _close(server: Any, worker: Any) -> None:
    from webapi.context import EXTENSION

    app = getattr(worker, "wsgi", None)
    if isinstance(app, Flask) and EXTENSION in app.extensions:
        app.extensions[EXTENSION].desk.close()


def _counted_out(server: Any, worker: Any) -> None:
    """What a process that is gone was doing is no longer counted; what it did is."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
