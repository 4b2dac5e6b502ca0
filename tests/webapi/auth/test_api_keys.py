"""API keys: which requests they allow, on which indexes, and how they are added and removed."""

from __future__ import annotations

import hmac
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
from tests.support.api_keys import AppClient, IssuedKeys, make_app_client, read_problem
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
def keys(tmp_path: Path) -> IssuedKeys:
    keys = IssuedKeys(tmp_path / "keys.toml")
    keys.issue("reader")
    return keys


@pytest.fixture
def app(two_indexes: Path, keys: IssuedKeys) -> Iterator[AppClient]:
    app = make_app_client(two_indexes, keys)
    yield app
    app.close()


def test_without_a_key_every_address_of_an_index_is_401(app: AppClient) -> None:
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


def test_addresses_without_data_need_no_key(app: AppClient) -> None:
    for path in ("/healthz", "/readyz", "/docs", "/v1/openapi.json", "/", "/compare"):
        assert app.get(path).status_code == 200, path
    assert app.get("/v1/nowhere/at/all").status_code == 404


@pytest.mark.parametrize(
    "form", ["Authorization: Bearer ", "authorization: bearer ", "Authorization: ApiKey ", "X-API-Key: "]
)
def test_a_key_is_accepted_in_each_header(app: AppClient, keys: IssuedKeys, form: str) -> None:
    name, _, scheme = form.partition(": ")
    assert app.get("/v1/indexes/papers", {name: scheme + keys.secrets["reader"]}).status_code == 200


def test_a_key_that_is_nearly_right_is_wrong(app: AppClient, keys: IssuedKeys) -> None:
    right = keys.secrets["reader"]
    wrong = [
        right[:-1],
        right + "x",
        right.upper(),
        right[:-1] + chr(ord(right[-1]) ^ 1),
        right.replace("reader", "nobody"),
    ]
    for key in [*wrong, "pc_reader_", "pc_reader", "reader", read_keys(keys.path)["reader"].sha256, "\u00e9"]:
        refused = app.with_key(None).get("/v1/indexes", {"X-API-Key": key})
        assert (refused.status_code, refused.json["code"]) == (401, "unauthorized"), key


def test_every_key_costs_one_comparison_in_constant_time(keys: IssuedKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the place of the first wrong character nor the existence of a name shows in the time of a refusal."""
    key_file, right = KeyFile(keys.path), keys.secrets["reader"]
    compared: list[tuple[str, str]] = []
    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or compare(a, b))
    shown = [right, right[:-1] + "~", right.replace("reader", "nobody"), "x"]
    assert [key_file.find_caller(key) is not None for key in shown] == [True, False, False, False]
    assert [(len(a), len(b)) for a, b in compared] == [(64, 64)] * len(shown)


REQUESTS = {
    "read": ("GET", "/v1/indexes/papers/documents/d1", None, 200),
    "compare": ("POST", "/v1/comparisons", {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}, 200),
    "ingest": ("POST", "/v1/indexes/papers/documents", {"documents": [{"id": "new", "text": "The web graph."}]}, 202),
    "admin": ("GET", "/metrics", None, 200),
}


@pytest.mark.parametrize("scope", sorted(SCOPES))
def test_a_key_is_good_for_its_scope_and_no_other(engine_folder: Path, tmp_path: Path, scope: str) -> None:
    shutil.copytree(engine_folder, tmp_path / "engine")
    keys = IssuedKeys(tmp_path / "keys.toml")
    keys.issue("one", (scope,))
    app = make_app_client(tmp_path / "engine", keys)
    for needed, (method, path, body, status) in REQUESTS.items():
        found = app.with_key(keys.secrets["one"]).send(method, path, body)
        assert found.status_code == (status if needed == scope else 403), needed
        if needed != scope:
            assert found.json["code"] == "forbidden" and needed in found.json["detail"]
    app.close()


@pytest.mark.slow
def test_reasons_in_a_search_need_the_compare_scope(app: AppClient, keys: IssuedKeys) -> None:
    only_read = app.with_key(keys.issue("only-read", ("read",)))
    wait_until(lambda: only_read.get("/v1/indexes").status_code == 200)
    body = {"query": {"match": {"text": "web"}}}
    assert only_read.post("/v1/papers/_search", body).status_code == 403
    assert only_read.post("/v1/papers/_search", body | {"why": False}).status_code == 200


@pytest.mark.slow
def test_an_index_outside_the_key_seems_not_to_exist(app: AppClient, keys: IssuedKeys) -> None:
    everything = app.with_key(keys.secrets["reader"])
    papers = app.with_key(keys.issue("papers-only", ("read", "compare", "ingest"), ("papers",)))
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
        assert read_problem(papers.post(path, body).json)["code"] == "unknown-index"
    assert papers.compare("n1", "n2", "news").json["code"] == "unknown-index"
    assert papers.get(f"/v1/comparisons/{theirs.json['id']}").json["code"] == "unknown-job"
    assert everything.get(f"/v1/comparisons/{theirs.json['id']}").status_code == 200


@pytest.mark.slow
def test_keys_are_added_and_removed_without_a_restart(app: AppClient, keys: IssuedKeys) -> None:
    old, new = keys.secrets["reader"], keys.issue("reader-2")
    wait_until(lambda: app.with_key(new).get("/v1/indexes").status_code == 200)
    assert app.with_key(old).get("/v1/indexes").status_code == 200
    keys.revoke("reader")
    wait_until(lambda: app.with_key(old).get("/v1/indexes").status_code == 401)
    assert app.with_key(new).get("/v1/indexes").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("content", ["[reader", "x = 1", None], ids=["not TOML", "not a key", "missing"])
def test_no_key_is_good_while_the_keys_file_cannot_be_read(
    app: AppClient, keys: IssuedKeys, caplog: pytest.LogCaptureFixture, content: str | None
) -> None:
    """The keys read before may be those that were removed by the change with the mistake."""
    reader = app.with_key(keys.secrets["reader"])
    cached = reader.compare("d1", "d2")
    assert cached.status_code == 200 and app.get("/readyz").json["checks"]["keys"] == "ok"
    valid = keys.path.read_text()
    keys.path.unlink() if content is None else keys.path.write_text(content)
    wait_until(lambda: reader.get("/v1/indexes").status_code == 503)
    for refused in (
        reader.get("/v1/indexes"),
        reader.get(f"/v1/comparisons/{cached.json['id']}"),
        reader.get("/metrics"),
    ):
        assert (refused.status_code, refused.json["code"]) == (503, "unavailable")
        assert refused.headers["Retry-After"] and str(keys.path) not in refused.text
    ready = app.get("/readyz")
    assert (ready.status_code, ready.json["checks"]["keys"]) == (503, "bad-setting")
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 1 and errors[0].startswith("every API key is refused") and str(keys.path) in errors[0]
    keys.path.write_text(valid)
    wait_until(lambda: reader.get("/v1/indexes").status_code == 200)
    assert app.get("/readyz").status_code == 200


def test_an_unrestricted_key_gets_no_cached_answer_while_the_keys_file_cannot_be_read(
    two_indexes: Path, tmp_path: Path
) -> None:
    keys = IssuedKeys(tmp_path / "keys.toml")
    everything = keys.issue("everything", groups=("*",))
    app = make_app_client(two_indexes, keys).with_key(everything)
    path = f"/v1/comparisons/{app.compare('d1', 'd2').json['id']}"
    assert app.get(path).headers["X-Cache"] == "local"
    keys.path.write_text("[everything")
    wait_until(lambda: app.get(path).status_code == 503)
    app.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "contains no key; create one with: phrasecom keys add NAME"),
        ("[x", "cannot read"),
        ("x = 1", "[x] is not a valid key"),
        ('[x]\nsha256 = "secret"', "sha256 is not a SHA-256 hash"),
        (f'[x]\nsha256 = "{"0" * 64}"\nscopes = ["write"]\nindexes = ["*"]\ngroups = []', "unknown scope 'write'"),
        (f'[x]\nsha256 = "{"0" * 64}"\nscopes = ["read"]\nindexes = ["../x"]\ngroups = []', "not a valid index name"),
        (f'[x]\nsha256 = "{"0" * 64}"\nscopes = ["read"]\nindexes = ["*"]', "groups must be a list"),
        (f'[X_Y]\nsha256 = "{"0" * 64}"\nscopes = ["read"]\nindexes = ["*"]\ngroups = []', "is not a valid key name"),
    ],
)
def test_a_bad_keys_file_is_reported_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(content)
    with pytest.raises(BadSetting) as caught:
        create_app(load_settings(keys_file=str(path)), config=WorkConfig())
    assert message in str(caught.value) and "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_with_keys_the_server_may_listen_anywhere(keys: IssuedKeys, tmp_path: Path) -> None:
    check_listen_host(load_settings(host="0.0.0.0", keys_file=str(keys.path)))
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
def test_without_keys_other_host_names_are_refused(two_indexes: Path, host: str) -> None:
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


def test_further_host_names_can_be_allowed(two_indexes: Path, keys: IssuedKeys) -> None:
    app = make_app_client(two_indexes, allowed_hosts="why.example other.example")
    statuses = [
        app.get("/v1/indexes", {"Host": name}).status_code for name in ("why.example", "localhost", "evil.example")
    ]
    assert statuses == [200, 200, 403]
    app.close()
    app = make_app_client(two_indexes, keys, allowed_hosts="why.example").with_key(keys.secrets["reader"])
    statuses = [app.get("/v1/indexes", {"Host": name}).status_code for name in ("why.example", "localhost")]
    assert statuses == [200, 403]
    app.close()


def test_every_route_has_a_scope(app: AppClient) -> None:
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
    key = "pc_reader_" + "x" * 43
    assert key not in redact(f"GET /?k={key} failed")


def test_no_key_is_in_a_message_a_store_or_a_log(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig, tmp_path: Path, keys: IssuedKeys
) -> None:
    import redis

    shutil.copytree(work_config.engine, tmp_path / "engine")
    own = replace(work_config, engine=str(tmp_path / "engine"))
    keys.issue("ingest", ("ingest", "read", "compare"), groups=("staff",))
    served = start_server(own, keys_file=str(keys.path), log_level="debug", rate_per_minute=1000)
    secrets = [*keys.secrets.values(), "pc_wrong_" + "w" * 43]
    with served.make_client() as client, redis.Redis.from_url(work_config.redis_url) as valkey:
        for key in secrets:
            client.key = key
            question = {"index": "papers", "a": {"id": "d1"}, "b": {"query": f"plain {key[-4:]}"}}
            client.request("POST", "/v1/comparisons", question, {"Prefer": "respond-async"})
            client.request("POST", "/v1/indexes/papers/documents", {"documents": [{"id": "d1", "text": "graph"}]})
        for line in (secrets[0], f"GET / HTTP/1.1\r\n{secrets[0]}", f"GET /?{secrets[0]} HTTP/1.1\r\nX: \0"):
            assert send_raw(served.url, line).startswith(b"HTTP/1.1 400")  # the key outside its header
        written = read_whole_store(valkey)  # with the messages that wait for a worker
        start_worker(changed=own)
        client.key = secrets[0]
        client.compare("papers", "d1", {"query": "plain"})
        written += read_whole_store(valkey)
    assert b"key:reader" in written and b"phrasecom.run" in written
    logs = b"".join(path.read_bytes() for path in tmp_path.glob("*.log"))
    assert logs
    hashes = [key.sha256 for key in read_keys(keys.path).values()]
    for secret in [*(key.split("_", 2)[2] for key in secrets), *hashes]:
        assert secret.encode() not in written + logs


def send_raw(url: str, line: str) -> bytes:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(line.encode() + b"\r\n\r\n")
        return connection.recv(100)


def read_whole_store(valkey: object) -> bytes:
    """Return every key and value of a Valkey, whatever its type."""
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


def test_metrics_name_only_the_indexes_of_the_key(two_indexes: Path, keys: IssuedKeys) -> None:
    everything = keys.issue("watcher", ("admin",))
    limited = keys.issue("guard", ("admin",), ("news",))
    app = make_app_client(two_indexes, keys)
    message = {key: app.with_key(key).get("/metrics").get_data(as_text=True) for key in (everything, limited)}
    app.close()
    assert 'index="papers"' in message[everything] and 'index="news"' in message[everything]
    assert 'index="papers"' not in message[limited] and 'index="news"' in message[limited]
