"""/v1/comparisons through a real server, queue and worker."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.support.fake_comparer import count_computations, release_computations, tag_query
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, StartServer
from tests.support.workers import StartWorker
from webapi.client import ApiError, Client, Reply
from worker.jobs.config import WorkConfig

ASYNC = {"Prefer": "respond-async"}


def make_request(words: str = "plain") -> dict[str, object]:
    return {"index": "papers", "a": {"id": "d1"}, "b": {"query": tag_query(words)}}


def post_comparison(client: Client, words: str, headers: dict[str, str] | None = None) -> Reply:
    return client.request("POST", "/v1/comparisons", make_request(words), headers)


def test_an_answer_comes_at_once_and_again_from_the_cache(client: Client) -> None:
    first = post_comparison(client, "plain", WAIT_HEADER)
    assert (first.status, first.headers["x-cache"]) == (200, "miss")
    again = post_comparison(client, "plain")
    assert (again.status, again.headers["x-cache"]) == (200, "local")
    assert again.body == first.body
    assert int(again.headers["age"]) >= 0
    by_id = client.request("GET", first.headers["content-location"])
    assert by_id.body == first.body
    assert first.json()["id"] in first.headers["content-location"]
    assert count_computations("plain") == 1


def test_another_process_finds_the_answer_in_the_store(client: Client, start_server: StartServer) -> None:
    with start_server().make_client() as other:
        post_comparison(client, "plain", WAIT_HEADER)
        assert post_comparison(other, "plain").headers["x-cache"] == "hit"


def test_respond_async_is_202_with_a_location(client: Client) -> None:
    reply = post_comparison(client, "hold=1", ASYNC)
    assert reply.status == 202
    assert reply.headers["retry-after"] == "1"
    assert reply.json()["state"] in ("queued", "running")
    location = reply.headers["location"]
    assert location == f"/v1/comparisons/{reply.json()['id']}"
    assert client.request("GET", location).status == 202
    release_computations("hold=1")
    wait_until(lambda: client.request("GET", location).status == 200)


def test_after_the_wait_it_is_202_and_the_same_request_joins_the_job(client: Client) -> None:
    first, second = post_comparison(client, "hold=1"), post_comparison(client, "hold=1")
    assert (first.status, second.status) == (202, 202)
    assert first.json()["id"] == second.json()["id"]
    release_computations("hold=1")
    assert post_comparison(client, "hold=1", WAIT_HEADER).status == 200
    assert count_computations("hold=1") == 1


def test_an_unchanged_answer_is_304(client: Client) -> None:
    first = post_comparison(client, "plain", WAIT_HEADER)
    location, etag = first.headers["content-location"], first.headers["etag"]
    same = client.request("GET", location, headers={"If-None-Match": etag})
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", etag)
    assert client.request("GET", location, headers={"If-None-Match": '"other"'}).status == 200


def test_the_last_delete_cancels_the_job(client: Client) -> None:
    location = post_comparison(client, "hold=1", ASYNC).headers["location"]
    wait_until(lambda: client.call("GET", location)["state"] == "running")
    assert client.request("DELETE", location).status == 200
    wait_until(lambda: client.request("GET", location).status == 409)
    assert client.request("GET", location).json()["code"] == "cancelled"


def test_an_expired_answer_is_gone_and_can_be_asked_again(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    short_lived = replace(work_config, limits=replace(work_config.limits, answer_ttl=0.5))
    start_worker(changed=short_lived)
    with start_server(short_lived).make_client() as client:
        location = post_comparison(client, "hold=1", ASYNC).headers["location"]
        release_computations("hold=1", 2)
        wait_until(lambda: client.request("GET", location).status == 410)
        assert client.request("GET", location).json()["code"] == "expired"
        assert post_comparison(client, "hold=1", ASYNC).status in (200, 202)
        wait_until(lambda: count_computations("hold=1") == 2)


def test_a_failed_job_reads_like_the_error_itself(client: Client) -> None:
    reply = post_comparison(client, "fail=BadParameter", WAIT_HEADER)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")
    assert reply.json()["code"] == "bad-parameter" and reply.json()["state"] == "failed"
    crash = post_comparison(client, "crash=1", WAIT_HEADER)
    assert crash.status == 500 and b"secret" not in crash.body


def test_500_equal_cold_requests_run_one_computation(client: Client) -> None:
    def send_twenty(_: int) -> set[int]:
        with Client(client.url) as own:
            return {post_comparison(own, "sleep=1", {"Prefer": "wait=5"}).status for _ in range(20)}

    with ThreadPoolExecutor(25) as pool:
        statuses = set().union(*pool.map(send_twenty, range(25)))
    assert statuses <= {200, 202}
    assert count_computations("sleep=1") == 1


def test_beyond_max_waiting_it_is_202_at_once_and_cached_answers_still_come(
    shared_worker: None, start_server: StartServer
) -> None:
    served = start_server(max_waiting=2, threads=8)
    with served.make_client() as client:
        post_comparison(client, "plain", WAIT_HEADER)
        with ThreadPoolExecutor(3) as pool:

            def wait_for(n: int) -> int:
                with served.make_client() as own:
                    return post_comparison(own, f"hold=1 n{n}", WAIT_HEADER).status

            waiting = [pool.submit(wait_for, n) for n in range(2)]
            wait_until(lambda: "phrasecom_waiting_requests 2" in client.request("GET", "/metrics").body.decode())
            third = pool.submit(wait_for, 2)
            assert third.result() == 202
            assert not any(one.done() for one in waiting)
            assert post_comparison(client, "plain").status == 200
            for n in range(3):
                release_computations(f"hold=1 n{n}")
            assert {one.result() for one in waiting} == {200}


def test_a_stopping_server_finishes_running_requests(shared_worker: None, start_server: StartServer) -> None:
    served = start_server()
    with ThreadPoolExecutor(1) as pool, served.make_client() as client:
        running = pool.submit(post_comparison, client, "hold=1", WAIT_HEADER)
        wait_until(lambda: count_computations("hold=1") == 1)
        served.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "Handling signal: term" in served.log.read_text())
        release_computations("hold=1")
        assert running.result().status == 200
        assert served.process.wait(timeout=120) == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid-request"),
        (b"[]", "invalid-request"),
        (b"null", "invalid-request"),
        (b'{"index": 1, "a": {"id": "d1"}, "b": {"id": "d2"}}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1"}}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}, "extra": 1}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1", "text": "x"}, "b": {"id": "d2"}}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": null}, "b": {"id": "d2"}}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}, "options": {"cap": "8"}}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}, "options": {"alpha": NaN}}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}, "method": "magic"}', "invalid-request"),
        (b'{"index": "papers", "a": {"id": "d1"}, "b": {"search": "date:yesterday"}}', "bad-side"),
        (b"\xff\xfe", "invalid-request"),
    ],
)
def test_bad_requests_are_reported_in_one_line(inline: Client, body: bytes, code: str) -> None:
    reply = inline.request("POST", "/v1/comparisons", body)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")
    problem = reply.json()
    assert problem["code"] == code and problem["type"] == f"/errors/{code}" and problem["status"] == 400
    assert "\n" not in problem["detail"] and "Traceback" not in problem["detail"]


def test_unknown_things_are_404_with_their_own_code(inline: Client) -> None:
    for body, code in [
        ({**make_request(), "index": "nope"}, "unknown-index"),
        ({**make_request(), "a": {"id": "nope"}}, "unknown-document"),
    ]:
        with pytest.raises(ApiError) as caught:
            inline.call("POST", "/v1/comparisons", body)
        assert (caught.value.status, caught.value.code) == (404, code)
    assert inline.request("GET", "/v1/comparisons/nope").json()["code"] == "unknown-job"
    assert inline.request("DELETE", "/v1/comparisons/nope").json()["code"] == "unknown-job"
    assert inline.request("GET", "/nowhere").json()["code"] == "not-found"
    wrong = inline.request("PUT", "/v1/comparisons", {})
    assert wrong.json()["code"] == "method-not-allowed" and "POST" in wrong.headers["allow"]


def test_a_body_too_large_is_413_and_a_form_is_415(inline: Client) -> None:
    large = inline.request("POST", "/v1/comparisons", b'{"index": "' + b"x" * 2**20 + b'"}')
    assert (large.status, large.json()["code"]) == (413, "too-large")
    text = inline.request("POST", "/v1/comparisons", {**make_request(), "b": {"text": "x" * (2**18 + 1)}})
    assert (text.status, text.json()["code"]) == (413, "too-large")
    many = inline.request("POST", "/v1/comparisons", {**make_request(), "b": {"ids": [str(n) for n in range(1001)]}})
    assert (many.status, many.json()["code"]) == (413, "too-large")
    form = inline.request("POST", "/v1/comparisons", b"{}", {"Content-Type": "text/plain"})
    assert (form.status, form.json()["code"]) == (415, "unsupported-media-type")


def test_inline_answers_without_redis(inline: Client, work_config: WorkConfig) -> None:
    answer = inline.compare("papers", "d1", {"query": tag_query("plain")})
    assert answer["a"]["ids"] == ["d1"]
    assert inline.request("POST", "/v1/comparisons", make_request()).headers["x-cache"] == "local"
    slow = inline.request("POST", "/v1/comparisons", make_request("hold=1 steps=5"), ASYNC)
    assert slow.status == 202
    release_computations("hold=1 steps=5", 5)
    wait_until(lambda: inline.request("GET", slow.headers["location"]).status == 200)


def test_too_many_open_jobs_are_429(start_server: StartServer, work_config: WorkConfig) -> None:
    with start_server(
        replace(work_config, limits=replace(work_config.limits, max_open_jobs=1))
    ).make_client() as client:
        assert post_comparison(client, "first", ASYNC).status == 202
        assert post_comparison(client, "first", ASYNC).status == 202
        refused = post_comparison(client, "second", ASYNC)
        assert (refused.status, refused.json()["code"]) == (429, "overloaded")
        assert int(refused.headers["retry-after"]) > 0
