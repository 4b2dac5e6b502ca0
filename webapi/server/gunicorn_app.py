"""gunicorn as a library: one thread for each request that has arrived, a graceful stop, never the development
server."""

from __future__ import annotations

import logging
import os
import resource
import tempfile
from collections.abc import Callable
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from indexer.errors import BadSetting
from indexer.logging_setup import redact
from indexer.net import check_can_listen
from indexer.settings import Settings
from webapi.auth.gate import check_keys_file, is_loopback
from webapi.server.gunicorn_worker import MAX_REQUEST_LINE_BYTES, ClientLimits
from worker.redis_connection import check_server_kind

_MAX_CONNECTIONS = 1000
"""Connections in each process; more wait until one of them ends."""
_MAX_OPEN_FILES = 65_536


class GunicornServer(BaseApplication):  # type: ignore[misc]
    """gunicorn with options from a table instead of its command line."""

    def __init__(self, create: Callable[[], Flask], options: dict[str, Any], client_limits: ClientLimits) -> None:
        self._create_app = create
        self.client_limits = client_limits
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            if name in self.cfg.settings:  # the control socket came with a later gunicorn
                self.cfg.set(name, value)

    def load(self) -> Flask:
        return self._create_app()


def serve(settings: Settings, *, inline: bool = False, create: Callable[[], Flask] | None = None) -> None:
    """Serve until a signal; SIGTERM lets running requests finish. Raise BadSetting if the host or port cannot be used.

    ``create`` makes the app in each process, instead of one from the settings.
    """
    check_listen_host(settings)
    check_cors_origins(settings)
    check_can_listen(settings.host, settings.port)
    if create is None and not inline:
        check_server_kind(settings.redis_url.get_secret_value())
    logging.getLogger("gunicorn.error").addFilter(_redact_record)
    processes = 1 if inline else settings.processes
    _raise_open_files_limit()
    server = GunicornServer(
        create or (lambda: _create_app(settings, inline)),
        build_options(settings, processes),
        ClientLimits.from_settings(settings),
    )
    if processes == 1:
        server.run()
        return
    with tempfile.TemporaryDirectory(prefix="phrasecom-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before the processes import the metrics
        server.run()


def build_options(settings: Settings, processes: int) -> dict[str, Any]:
    """Return gunicorn's options."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return {
        "bind": f"{host}:{settings.port}",
        "workers": processes,
        "worker_class": "webapi.server.gunicorn_worker.BufferingWorker",
        "logger_class": "webapi.server.gunicorn_logging.GunicornLogger",
        "limit_request_line": MAX_REQUEST_LINE_BYTES,
        "threads": settings.threads,
        "worker_connections": _MAX_CONNECTIONS,
        "timeout": 0,  # a stuck thread must not end the whole process
        "graceful_timeout": int(settings.max_wait_seconds) + 20,
        "proc_name": "phrasecom",
        "control_socket_disable": True,
        "worker_exit": _close_gateway,
        "child_exit": _forget_process_metrics,
        "loglevel": settings.log_level,
    }


def check_listen_host(settings: Settings) -> None:
    """Raise BadSetting for a host other than this machine without keys: anybody who connects could read and write."""
    if settings.keys_file:
        check_keys_file(settings)
        return
    if is_loopback(settings.host):
        return
    raise BadSetting(
        f"without API keys, the server listens on this machine only, not on {settings.host}",
        fix="create a key with phrasecom keys add NAME --keys-file FILE and set keys_file, or set host = 127.0.0.1",
    )


def check_cors_origins(settings: Settings) -> None:
    """Raise BadSetting for all origins without keys: any web page that is open on this machine could read and write."""
    if "*" in settings.cors_origins.split() and not settings.keys_file:
        raise BadSetting(
            "cors_origins = * lets every web page use the API, and without API keys, nothing else protects it",
            fix="list the origins of your own pages, or create a key with phrasecom keys add NAME and set keys_file",
        )


def _raise_open_files_limit() -> None:
    """Allow a file descriptor for each connection, and more: the usual limit of 1024 is hardly enough."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _redact_record(record: logging.LogRecord) -> bool:
    """Remove secrets: gunicorn logs a request that it cannot parse as it came, perhaps with a misplaced key."""
    record.msg, record.args = redact(record.getMessage()), None
    return True


def _create_app(settings: Settings, inline: bool) -> Flask:
    from webapi.app import create_app

    return create_app(settings, inline=inline)


def _close_gateway(server: Any, worker: Any) -> None:
    from webapi.context import EXTENSION

    app = getattr(worker, "wsgi", None)
    if isinstance(app, Flask) and EXTENSION in app.extensions:
        app.extensions[EXTENSION].gateway.close()


def _forget_process_metrics(server: Any, worker: Any) -> None:
    """Drop the gauges of a process that has ended; its counters stay."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
