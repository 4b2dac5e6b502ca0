"""Keys: who is let in, for what, to which indexes; and how keys come and go."""

from __future__ import annotations

import json
import shutil
import socket
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.cli.main import run
from indexer.documents import Document
from indexer.engines import open_engine
from indexer.errors import BadSetting
from indexer.indexing.build import build_index
from indexer.logging_setup import redact
from indexer.settings import load_settings
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client
from tests.support.polling import wait_until
from tests.support.web_servers import StartServer
from tests.support.workers import StartWorker
from webapi.app import create_app
from webapi.auth.api_keys import KeyFile, read_keys
from webapi.auth.gate import ANY_SCOPE, PUBLIC_SCOPE, SCOPE_BY_ENDPOINT
from webapi.server.gunicorn_app import check_listen_host
from worker.access import SCOPES
from worker.jobs.config import WorkConfig


@pytest.fixture(scope="module")
def two_indexes(engine_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys") / "engine"
    shutil.copytree(engine_folder, folder)
    with open_engine(str(folder)) as engine:
        build_index([Document(f"n{n}", "News", "The web graph of the news. " * 3) for n in range(4)], engine, "news")
    return folder


@pytest.fixture
def ring(tmp_path: Path) -> IssuedKeys:
    ring = IssuedKeys(tmp_path / "keys.toml")
    ring.issue("reader")
    return ring


@pytest.fixture
def app(two_indexes: Path, ring: IssuedKeys) -> Iterator[AppClient]:
    app = make_app_client(two_indexes, ring)
    yield app
    app.close()


def test_without_a_key_nothing_of_an_index_is_told(app: AppClient) -> None:
    for path in (
        "/v1/indexes",
        "/v1/indexes/papers",
        "/v1/indexes/nope",
        "/v1/comparisons/x",
        "/v1/jobs/x",
        "/metrics",
    ):
        refused = app.get(path)
        assert refused.status_code == 401, path
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")
        assert refused.mimetype == "application/problem+json"
        assert refused.json["code"] == "unauthorized"
    assert app.compare("d1", "d2").status_code == 401


def test_what_holds_no_data_needs_no_key(app: AppClient) -> None:
    for path in ("/healthz", "/readyz", "/docs", "/v1/openapi.json", "/", "/compare"):
        assert app.get(path).status_code == 200, path
    assert app.get("/v1/nowhere/at/all").status_code == 404


@pytest.mark.parametrize(
    "form", ["Authorization: Bearer ", "authorization: bearer ", "Authorization: ApiKey ", "X-API-Key: "]
)
def test_a_key_is_shown_in_a_header(app: AppClient, ring: IssuedKeys, form: str) -> None:
    name, _, scheme = form.partition(": ")
    assert app.get("/v1/indexes/papers", {name: scheme + ring.secrets["reader"]}).status_code == 200


def test_a_key_that_is_nearly_right_is_wrong(app: AppClient, ring: IssuedKeys) -> None:
    right = ring.secrets["reader"]
    wrong = [
        right[:-1],
        right + "x",
        right.upper(),
        right[:-1] + chr(ord(right[-1]) ^ 1),
        right.replace("reader", "nobody"),
    ]
    for key in [*wrong, "pc_reader_", "pc_reader", "reader", read_keys(ring.path)["reader"].sha256, "\u00e9"]:
        refused = app.with_key(None).get("/v1/indexes", {"X-API-Key": key})
        assert (refused.status_code, refused.json["code"]) == (401, "unauthorized"), key


REQUESTS = {
    "read": ("GET", "/v1/indexes/papers/documents/d1", None, 200),
    "compare": ("POST", "/v1/comparisons", {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}, 200),
    "ingest": ("POST", "/v1/indexes/papers/documents", {"documents": [{"id": "new", "text": "The web graph."}]}, 202),
    "admin": ("GET", "/metrics", None, 200),
}


@pytest.mark.parametrize("scope", sorted(SCOPES))
def test_a_key_is_good_for_its_scope_and_no_other(engine_folder: Path, tmp_path: Path, scope: str) -> None:
    shutil.copytree(engine_folder, tmp_path / "engine")
    ring = IssuedKeys(tmp_path / "keys.toml")
    ring.issue("one", (scope,))
    app = make_app_client(tmp_path / "engine", ring)
    for needed, (method, path, body, status) in REQUESTS.items():
        found = app.with_key(ring.secrets["one"]).send(method, path, body)
        assert found.status_code == (status if needed == scope else 403), needed
        if needed != scope:
            assert found.json["code"] == "forbidden" and needed in found.json["detail"]
    app.close()


def test_reasons_in_a_search_are_comparisons(app: AppClient, ring: IssuedKeys) -> None:
    only_read = app.with_key(ring.issue("only-read", ("read",)))
    wait_until(lambda: only_read.get("/v1/indexes").status_code == 200)
    body = {"query": {"match": {"text": "web"}}}
    assert only_read.post("/v1/papers/_search", body).status_code == 403
    assert only_read.post("/v1/papers/_search", body | {"why": False}).status_code == 200


def test_an_index_of_others_does_not_exist(app: AppClient, ring: IssuedKeys) -> None:
    everything = app.with_key(ring.secrets["reader"])
    papers = app.with_key(ring.issue("papers-only", ("read", "compare", "ingest"), ("papers",)))
    wait_until(lambda: papers.get("/v1/indexes").status_code == 200)
    assert [one["name"] for one in papers.get("/v1/indexes").json["indexes"]] == ["papers"]
    assert papers.compare("d1", "d2").status_code == 200
    theirs = everything.compare("n1", "n2", "news")
    assert theirs.status_code == 200
    for path in ("/v1/indexes/{}", "/v1/indexes/{}/documents/n1", "/v1/indexes/{}/suggest?q=web"):
        there, nowhere = (papers.get(path.format(index)) for index in ("news", "nope"))
        assert there.status_code == nowhere.status_code == 404
        assert there.json == json.loads(nowhere.text.replace("nope", "news"))
    for path, body in (
        ("/v1/news/_search", {"query": {"match": {"text": "web"}}}),
        ("/v1/explanations", {"index": "news", "query": "web", "hits": ["n1"]}),
        ("/v1/indexes/news/documents", {"documents": [{"id": "n1"}]}),
    ):
        assert papers.post(path, body).json["code"] == "unknown-index"
    assert papers.compare("n1", "n2", "news").json["code"] == "unknown-index"
    assert papers.get(f"/v1/comparisons/{theirs.json['id']}").json["code"] == "unknown-job"
    assert everything.get(f"/v1/comparisons/{theirs.json['id']}").status_code == 200


def test_keys_come_and_go_without_a_restart(app: AppClient, ring: IssuedKeys) -> None:
    old, new = ring.secrets["reader"], ring.issue("reader-2")
    wait_until(lambda: app.with_key(new).get("/v1/indexes").status_code == 200)
    assert app.with_key(old).get("/v1/indexes").status_code == 200
    ring.revoke("reader")
    wait_until(lambda: app.with_key(old).get("/v1/indexes").status_code == 401)
    assert app.with_key(new).get("/v1/indexes").status_code == 200


def test_a_file_that_cannot_be_read_changes_nothing_and_one_that_is_gone_lets_nobody_in(ring: IssuedKeys) -> None:
    keys = KeyFile(ring.path)
    key = ring.secrets["reader"]
    ring.path.write_text("[reader")
    keys._next_check = 0.0
    assert keys.find_caller(key) is not None
    ring.path.unlink()
    keys._next_check = 0.0
    assert keys.find_caller(key) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "holds no key; make one with: phrasecom keys add NAME"),
        ("[x", "cannot read"),
        ("x = 1", "[x] is not a key"),
        ('[x]\nsha256 = "secret"', "sha256 is not a SHA-256"),
        (f'[x]\nsha256 = "{"0" * 64}"\nscopes = ["write"]\nindexes = ["*"]\ngroups = []', "no scope 'write'"),
        (f'[x]\nsha256 = "{"0" * 64}"\nscopes = ["read"]\nindexes = ["../x"]\ngroups = []', "cannot name an index"),
        (f'[x]\nsha256 = "{"0" * 64}"\nscopes = ["read"]\nindexes = ["*"]', "groups must be a list"),
        (f'[X_Y]\nsha256 = "{"0" * 64}"\nscopes = ["read"]\nindexes = ["*"]\ngroups = []', "cannot name a key"),
    ],
)
def test_a_wrong_keys_file_is_told_in_one_line(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(content)
    with pytest.raises(BadSetting) as caught:
        create_app(load_settings(keys_file=str(path)), config=WorkConfig())
    assert told in str(caught.value) and "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_with_keys_the_server_may_listen_anywhere(ring: IssuedKeys, tmp_path: Path) -> None:
    check_listen_host(load_settings(host="0.0.0.0", keys_file=str(ring.path)))
    with pytest.raises(BadSetting, match="phrasecom keys add"):
        check_listen_host(load_settings(host="0.0.0.0"))
    with pytest.raises(BadSetting, match="no such file"):
        check_listen_host(load_settings(host="0.0.0.0", keys_file=str(tmp_path / "gone")))


def test_serving_another_host_without_keys_is_one_line_that_names_the_fix(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--inline", "--host", "0.0.0.0"]) == 2
    out, err = capfd.readouterr()
    assert not out and err.count("\n") == 1 and "phrasecom keys add" in err


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil", "[::2]:80"]
)
def test_without_keys_a_name_that_is_not_this_machines_is_refused(two_indexes: Path, host: str) -> None:
    app = make_app_client(two_indexes)
    ours = [app.get("/v1/indexes", {"Host": name}).status_code for name in ("localhost:1", "127.0.0.1", "[::1]:8080")]
    assert ours == [200, 200, 200]
    first = app.compare("d1", "d2")
    for path in ("/v1/indexes", f"/v1/comparisons/{first.json['id']}", "/", "/metrics"):
        refused = app.get(path, {"Host": host})
        assert (refused.status_code, refused.json["code"]) == (403, "unknown-host"), path
    again = app.post("/v1/comparisons", {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}, {"Host": host})
    assert again.status_code == 403
    assert app.get("/healthz", {"Host": host}).status_code == 200
    app.close()


def test_further_names_can_be_allowed(two_indexes: Path, ring: IssuedKeys) -> None:
    app = make_app_client(two_indexes, allowed_hosts="why.example other.example")
    statuses = [
        app.get("/v1/indexes", {"Host": name}).status_code for name in ("why.example", "localhost", "evil.example")
    ]
    assert statuses == [200, 200, 403]
    app.close()
    app = make_app_client(two_indexes, ring, allowed_hosts="why.example").with_key(ring.secrets["reader"])
    statuses = [app.get("/v1/indexes", {"Host": name}).status_code for name in ("why.example", "localhost")]
    assert statuses == [200, 403]
    app.close()


def test_every_route_says_what_a_key_must_be_for(app: AppClient) -> None:
    endpoints = {rule.endpoint for rule in app.flask_app.url_map.iter_rules() if not rule.endpoint.startswith("pages.")}
    assert endpoints == set(SCOPE_BY_ENDPOINT)
    assert set(SCOPE_BY_ENDPOINT.values()) == SCOPES | {PUBLIC_SCOPE, ANY_SCOPE}


def test_the_command_makes_lists_and_removes_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "deep" / "keys.toml")
    add = ["keys", "add", "page", "--scope", "read", "--index", "papers", "--group", 'sta"ff', "--keys-file", path]
    assert run(add) == 0
    made = capsys.readouterr().out.strip()
    assert KeyFile(Path(path)).find_caller(made) is not None
    assert made not in Path(path).read_text() and stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert run(["keys", "list", "--json", "--keys-file", path]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"name": "page", "scopes": ["read"], "indexes": ["papers"], "groups": ['sta"ff']}
    ]
    assert run(add) == 2
    assert run(["keys", "add", "all", "--all-groups", "--json", "--keys-file", path]) == 0
    caller = KeyFile(Path(path)).find_caller(json.loads(capsys.readouterr().out)["key"])
    assert caller is not None and caller.groups is None and caller.indexes is None
    assert run(["keys", "remove", "page", "--keys-file", path]) == 0
    assert run(["keys", "remove", "page", "--keys-file", path]) == 2
    assert list(read_keys(Path(path))) == ["all"]
    assert run(["keys", "add", "x", "--scope", "write", "--keys-file", path]) == 2
    assert run(["keys", "list"]) == 2
    assert "PHRASECOM_KEYS_FILE" in capsys.readouterr().err


def test_a_key_is_hidden_in_logs() -> None:
    ring_key = "pc_reader_" + "x" * 43
    assert ring_key not in redact(f"GET /?k={ring_key} failed")


def test_no_key_is_in_a_message_a_store_or_a_log(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig, tmp_path: Path, ring: IssuedKeys
) -> None:
    import redis

    shutil.copytree(work_config.engine, tmp_path / "engine")
    own = replace(work_config, engine=str(tmp_path / "engine"))
    ring.issue("ingest", ("ingest", "read", "compare"), groups=("staff",))
    served = start_server(own, keys_file=str(ring.path), log_level="debug", rate_per_minute=1000)
    secrets = [*ring.secrets.values(), "pc_wrong_" + "w" * 43]
    with served.make_client() as client, redis.Redis.from_url(work_config.redis_url) as valkey:
        for key in secrets:
            client.key = key
            question = {"index": "papers", "a": {"id": "d1"}, "b": {"query": f"plain {key[-4:]}"}}
            client.request("POST", "/v1/comparisons", question, {"Prefer": "respond-async"})
            client.request("POST", "/v1/indexes/papers/documents", {"documents": [{"id": "d1", "text": "graph"}]})
        for line in (secrets[0], f"GET / HTTP/1.1\r\n{secrets[0]}", f"GET /?{secrets[0]} HTTP/1.1\r\nX: \0"):
            assert raw(served.url, line).startswith(b"HTTP/1.1 400")  # the key where it does not belong
        written = everything_in(valkey)  # with the messages that wait for a worker
        start_worker(changed=own)
        client.key = secrets[0]
        client.compare("papers", "d1", {"query": "plain"})
        written += everything_in(valkey)
    assert b"key:reader" in written and b"phrasecom.run" in written
    logs = b"".join(path.read_bytes() for path in tmp_path.glob("*.log"))
    assert logs
    hashes = [key.sha256 for key in read_keys(ring.path).values()]
    for secret in [*(key.split("_", 2)[2] for key in secrets), *hashes]:
        assert secret.encode() not in written + logs


def raw(url: str, line: str) -> bytes:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(line.encode() + b"\r\n\r\n")
        return connection.recv(100)


def everything_in(valkey: object) -> bytes:
    """Every key and value of a Valkey, whatever its type."""
    import redis

    assert isinstance(valkey, redis.Redis)
    out: list[bytes] = []
    read = {
        b"string": lambda name: [valkey.get(name)],
        b"hash": lambda name: [part for pair in valkey.hgetall(name).items() for part in pair],
        b"list": lambda name: valkey.lrange(name, 0, -1),
        b"set": lambda name: valkey.smembers(name),
        b"zset": lambda name: valkey.zrange(name, 0, -1),
    }
    for name in valkey.scan_iter():
        kind = valkey.type(name)
        out += [name, *(read[kind](name) if kind in read else [])]
    return b"\n".join(part for part in out if part)


def test_metrics_name_only_the_indexes_of_the_key(two_indexes: Path, ring: IssuedKeys) -> None:
    everything = ring.issue("watcher", ("admin",))
    limited = ring.issue("guard", ("admin",), ("news",))
    app = make_app_client(two_indexes, ring)
    told = {key: app.with_key(key).get("/metrics").get_data(as_text=True) for key in (everything, limited)}
    app.close()
    assert 'index="papers"' in told[everything] and 'index="news"' in told[everything]
    assert 'index="papers"' not in told[limited] and 'index="news"' in told[limited]
