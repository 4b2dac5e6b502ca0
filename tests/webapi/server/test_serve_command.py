"""The server: the hosts it may listen on, its own errors, its counters."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path

import pytest

from indexer.errors import BadSetting
from indexer.settings import load_settings
from tests.support.polling import wait_until
from tests.support.web_servers import RunningServer, StartServer
from webapi.app import create_app
from webapi.client import Client
from webapi.server.gunicorn_app import check_cors_origins, check_listen_host, serve
from worker.jobs.config import WorkConfig


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_without_keys_this_machine_may_connect(host: str) -> None:
    check_listen_host(load_settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.org", ""])
def test_without_keys_no_other_machine_may(host: str) -> None:
    with pytest.raises(BadSetting, match="this machine only"):
        check_listen_host(load_settings(host=host))


def test_without_keys_not_every_web_page_may_use_the_api(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cors_origins"):
        serve(load_settings(cors_origins="https://why.example *"), inline=True)
    check_cors_origins(load_settings(cors_origins="https://why.example"))
    check_cors_origins(load_settings(cors_origins="*", keys_file=str(tmp_path / "keys.toml")))


def test_keys_are_never_silently_ignored() -> None:
    with pytest.raises(BadSetting, match="keys_file"):
        create_app(load_settings(keys_file="keys.toml"), config=WorkConfig())


def test_an_unreadable_http_request_gets_a_problem_response(real_server: RunningServer) -> None:
    host, port = real_server.url.removeprefix("http://").split(":")
    for sent, status, code in [
        (b"GET /v1/indexes?q=" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "too-large"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431, "too-large"),
        (b"not http at all\r\n\r\n", 400, "bad-request"),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400, "bad-request"),
    ]:
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(sent)
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert (response.status, response.headers["Content-Type"]) == (status, "application/problem+json")
            assert json.loads(response.read())["code"] == code


def test_requests_and_answers_are_counted(real: Client) -> None:
    real.compare("papers", "d3", "d4")
    before = _read_counter(real, 'phrasecom_answers_total{source="local"}')
    for _ in range(3):
        real.compare("papers", "d3", "d4")
    assert _read_counter(real, 'phrasecom_answers_total{source="local"}') == before + 3


def test_several_processes_add_up_their_counts(start_server: StartServer, work_config: WorkConfig) -> None:
    with start_server(work_config, processes=2).make_client() as client:
        assert client.request("GET", "/nowhere").status == 404
        name = 'phrasecom_requests_total{endpoint="none",status="404"}'
        wait_until(lambda: _read_counter(client, name) == 1)


def _read_counter(client: Client, name: str) -> float:
    lines = client.request("GET", "/metrics").body.decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)), 0.0)
