"""Clients that send or read slowly hold no thread, and not for ever."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from gunicorn.config import Config
from hypothesis import given
from hypothesis import strategies as st

from tests.support.polling import wait_until
from tests.support.slow_clients import (
    ALL_HOLDS,
    Hold,
    SlowClients,
    connect,
    hold_half_body,
    hold_half_chunk,
    hold_half_head,
    hold_idle,
    hold_unread,
    is_readable,
    read_to_end,
)
from tests.support.web_servers import RunningServer, StartServer, launch_server
from webapi.server.client_connection import ClientConnection, ClientSocket
from worker.jobs.config import WorkConfig

CLIENTS = 100
HOUR = 3600.0
MAX_BODY = 2**20
POST = b"POST /v1/comparisons HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
QUESTION = b'{"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}'


@pytest.fixture(scope="module")
def patient_server(engine_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that ends no slow client during a test."""
    patience = {"request_head_seconds": HOUR, "request_body_seconds": HOUR, "response_seconds": HOUR}
    server = launch_server(
        WorkConfig(engine=str(engine_folder)),
        tmp_path_factory.mktemp("patient") / "log",
        {"max_body_bytes": MAX_BODY, **patience},
    )
    yield server
    server.process.kill()  # it would wait for clients that a failed test has left
    server.process.wait()


@pytest.mark.parametrize(
    "holds",
    [(hold_half_head,), (hold_half_body,), (hold_half_chunk,), (hold_unread,), ALL_HOLDS],
    ids=["half heads", "half bodies", "half chunks", "unread responses", "all at once"],
)
def test_requests_are_answered_while_a_hundred_slow_clients_of_each_kind_are_connected(
    patient_server: RunningServer, holds: tuple[Hold, ...]
) -> None:
    with patient_server.make_client() as client:
        client.compare("papers", "d1", "d2")
    with SlowClients(patient_server.url, CLIENTS, holds) as slow, patient_server.make_client() as client:
        assert client.request("GET", "/healthz").status == 200
        answer = client.request("POST", "/v1/comparisons", QUESTION, {"Content-Type": "application/json"})
        assert (answer.status, answer.headers["x-cache"]) == (200, "local")
        if hold_idle not in holds:  # an idle connection is closed after a while
            assert slow.are_all_held()


@pytest.mark.parametrize(
    ("hold", "setting"),
    [
        (hold_half_head, "request_head_seconds"),
        (hold_half_body, "request_body_seconds"),
        (hold_half_chunk, "request_body_seconds"),
    ],
)
def test_a_half_sent_request_is_ended_after_its_deadline(start_server: StartServer, hold: Hold, setting: str) -> None:
    server = start_server(**{setting: 0.2})
    with SlowClients(server.url, CLIENTS, [hold]) as slow:
        for connection in slow.connections[hold]:
            head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408 ") and b"Connection: close" in head
            problem = json.loads(body)
            assert problem["code"] == "request-timeout" and setting in problem["detail"]


def test_a_client_that_keeps_sending_single_bytes_is_ended_too(start_server: StartServer) -> None:
    with connect(start_server(request_head_seconds=0.2).url) as connection:
        wait_until(lambda: connection.send(b"x") and is_readable(connection))
        assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_does_not_read_its_response_is_ended(start_server: StartServer) -> None:
    with connect(start_server(response_seconds=0.2).url) as connection:
        hold_unread(connection)

        def is_lost() -> bool:
            try:
                connection.send(b"x")
            except ConnectionError:
                return True
            return False

        wait_until(is_lost)


def test_a_new_connection_without_a_request_is_closed_without_a_response(start_server: StartServer) -> None:
    with connect(start_server(request_head_seconds=0.2).url) as connection:
        assert read_to_end(connection) == b""


def test_bodies_that_fill_the_memory_are_refused_and_small_requests_are_answered(patient_server: RunningServer) -> None:
    def hold_large_body(connection: socket.socket) -> None:
        connection.sendall(POST + b"Content-Length: %d\r\n\r\n" % MAX_BODY + b"x" * (MAX_BODY - 1))

    with SlowClients(patient_server.url, CLIENTS, [hold_large_body]) as slow, patient_server.make_client() as client:
        connections = slow.connections[hold_large_body]
        wait_until(lambda: any(is_readable(connection) for connection in connections))
        assert client.request("GET", "/healthz").status == 200
        refused = read_to_end(next(connection for connection in connections if is_readable(connection)))
        assert refused.startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in refused


def make_chunked(body: bytes, size: int) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def test_a_body_in_chunks_is_read_or_refused_like_any_other(patient_server: RunningServer) -> None:
    for body, status, code in [
        (make_chunked(QUESTION, 7), 200, None),
        (make_chunked(b'{"index": "' + b"x" * MAX_BODY + b'"}', 50_000), 413, "too-large"),
        (b"5\r\nabcde\r\n%x\r\n" % MAX_BODY, 413, "too-large"),
        (b"x\r\n\r\n", 400, "bad-request"),
        (b"5\r\nabcdefgh\r\n0\r\n\r\n", 400, "bad-request"),
    ]:
        with connect(patient_server.url) as connection:
            connection.sendall(POST + b"Prefer: wait=60\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert (response.status, json.loads(response.read()).get("code")) == (status, code), body


def test_a_client_may_ask_before_it_sends_the_body(patient_server: RunningServer) -> None:
    with connect(patient_server.url) as connection:
        connection.sendall(POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(QUESTION))
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(QUESTION)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
    with connect(patient_server.url) as connection:
        connection.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_requests_on_one_connection_are_answered_in_order(patient_server: RunningServer) -> None:
    requests = [b"GET /healthz", b"HEAD /healthz", b"GET /nowhere", b"GET /healthz"]
    sent = b"".join(request + b" HTTP/1.1\r\nHost: localhost\r\n\r\n" for request in requests)
    with connect(patient_server.url) as connection:
        connection.sendall(sent.removesuffix(b"\r\n") + b"Connection: close\r\n\r\n")
        received = read_to_end(connection)
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", received)
    assert statuses == [b"200", b"200", b"404", b"200"]


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


@given(bodies=st.lists(st.binary(max_size=40), min_size=1, max_size=4), chunk=st.integers(0, 9), data=st.data())
def test_requests_are_found_wherever_the_network_cuts_them(
    bodies: list[bytes], chunk: int, data: st.DataObject
) -> None:
    sent = b"".join(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + make_chunked(body, chunk)
        if chunk
        else HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        for body in bodies
    )
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=6)))
    ours, theirs = socket.socketpair()
    with theirs:
        connection = ClientConnection(ClientSocket(ours), "", "", Config(), lambda path: 1000)
        found: list[bytes] = []
        for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True):
            theirs.sendall(sent[start:end])
            assert connection.receive(10_000)
            while connection.read_request():
                assert isinstance(connection.request.body, io.BytesIO)
                assert ("CONTENT-LENGTH", str(len(connection.request.body.getvalue()))) in connection.request.headers
                found.append(connection.request.body.read())
                connection.end_request()
        assert found == bodies and not connection.has_begun
        connection.sock.close()
