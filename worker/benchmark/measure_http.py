"""Measurements of cached look-ups over HTTP against a bare Flask app under the same server."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from indexer.net import find_free_port
from worker.benchmark import probe
from worker.benchmark.environment import EMBEDDED, BenchEnvironment, Unmeasured
from worker.benchmark.rows import MeasuredFigures

CONNECTIONS = 32
THREADS = 16
"""Threads of either server; the service's own default."""
_START_TIMEOUT = 60.0
"""Seconds."""


@dataclass(frozen=True)
class LoadTarget:
    """A server on this machine and the request sent to it."""

    port: int
    request: str

    def run_burst(self, seconds: float) -> dict[str, float]:
        """Send requests from another process for some seconds; return rate and errors."""
        arguments = {"port": self.port, "request": self.request, "connections": CONNECTIONS, "seconds": seconds}
        return probe.wait_for_result(probe.start_probe("loading", arguments))


def measure_cached_lookups(environment: BenchEnvironment, engine_kind: str | None) -> list[MeasuredFigures]:
    """Measure look-ups by id and by question against a constant of the same size, and look-ups by id a second."""
    pair = environment.pairs[0]
    request = {"index": environment.ensure_index(EMBEDDED), "a": {"id": pair.a}, "b": {"id": pair.b}}
    with run_service(environment.engines[EMBEDDED].address) as port:
        id, size = _request_comparison_id_and_size(port, request)
        body = json.dumps(request)
        with _run_bare_app(size) as bare_port:
            targets = {
                "get": LoadTarget(port, _format_get_request(f"/v1/comparisons/{id}")),
                "post": LoadTarget(port, _format_post_request("/v1/comparisons", body)),
                "bare get": LoadTarget(bare_port, _format_get_request(f"/v1/comparisons/{id}")),
                "bare post": LoadTarget(bare_port, _format_post_request("/v1/comparisons", body)),
            }
            rates = _measure_rates(targets, rounds=max(3, int(environment.budget_seconds / 4)))
    note = f"{CONNECTIONS} connections, {size:,} bytes"
    return [
        _build_rate_figures(rates["get"], rates["bare get"], note),
        _build_rate_figures(rates["post"], rates["bare post"], note),
        _build_rate_figures(rates["get"], None, note),
    ]


def _measure_rates(targets: dict[str, LoadTarget], rounds: int) -> dict[str, list[float]]:
    """Return the answers a second of each burst; bursts last a second, and the targets take turns."""
    for target in targets.values():
        target.run_burst(0.5)
    rates: dict[str, list[float]] = {name: [] for name in targets}
    for number in range(rounds):
        names = list(targets)
        for turn in range(len(names)):
            name = names[(turn + number) % len(names)]
            burst = targets[name].run_burst(1.0)
            if burst["errors"]:
                raise Unmeasured(f"{burst['errors']:.0f} of {burst['requests']:.0f} answers were errors")
            rates[name].append(burst["rate"])
    return rates


def _build_rate_figures(ours: Sequence[float], against: Sequence[float] | None, note: str) -> MeasuredFigures:
    """Return medians; in place of the 95th percentile the lowest rate."""
    return MeasuredFigures(
        ours=statistics.median(ours),
        against=None if against is None else statistics.median(against),
        p95=min(ours),
        against_p95=None if against is None else min(against),
        repetitions=len(ours),
        note=note,
    )


def _format_get_request(path: str) -> str:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def _format_post_request(path: str, body: str) -> str:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body.encode())}\r\n\r\n{body}"
    )


def _request_comparison_id_and_size(port: int, comparison: Mapping[str, object]) -> tuple[str, int]:
    """Request a comparison, so that the service caches its answer; return its id and size in bytes."""
    url = f"http://127.0.0.1:{port}/v1/comparisons"
    headers = {"Content-Type": "application/json", "Prefer": "wait=10"}
    request = urllib.request.Request(url, json.dumps(comparison).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        body = reply.read()
    return json.loads(body)["id"], len(body)


@contextmanager
def run_service(engine: str) -> Iterator[int]:
    """Run the service on an engine and yield its port."""
    port = find_free_port()
    command = ["-m", "indexer", "serve", "--inline", "--engine", engine, "--port", str(port)]
    with _run_server([*command, "--threads", str(THREADS), "--log-level", "error"], port, "/readyz"):
        yield port


@contextmanager
def _run_bare_app(size: int) -> Iterator[int]:
    """Run the bare app and yield its port."""
    port = find_free_port()
    command = ["-m", "gunicorn", "--worker-class", "gthread", "--workers", "1", "--threads", str(THREADS)]
    command += ["--timeout", "0", "--keep-alive", "15", "--bind", f"127.0.0.1:{port}", "--log-level", "error"]
    with _run_server([*command, f"worker.benchmark.bare_app:create_app({size})"], port, "/"):
        yield port


@contextmanager
def _run_server(arguments: list[str], port: int, path: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=dict(os.environ))
    try:
        _wait_for_server(process, f"http://127.0.0.1:{port}{path}")
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_server(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise Unmeasured("the server did not start")
