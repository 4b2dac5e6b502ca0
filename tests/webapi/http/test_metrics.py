"""What /metrics tells, and that the alerts in deploy/ speak of nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from indexer.model.phrase_model import PhraseModel
from tests.support.api_keys import make_app_client
from tests.support.paths import ROOT
from tests.support.polling import wait_until
from tests.support.web_servers import WAIT_HEADER, RunningServer, StartServer
from tests.support.workers import StartWorker
from webapi.client import Client
from worker.jobs.config import WorkConfig

RULES = yaml.safe_load((ROOT / "deploy" / "alerts.yaml").read_text())["groups"][0]["rules"]
_SELECTOR = re.compile(r"(phrasecom_\w+)(?:\{([^}]*)\})?")


def scraped(client: Client) -> dict[str, Metric]:
    reply = client.request("GET", "/metrics")
    assert reply.status == 200 and reply.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(reply.body.decode()))
    assert len({family.name for family in families}) == len(families), "a name that is told twice is refused"
    return {family.name: family for family in families}


def samples(client: Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {(s.name, frozenset(s.labels.items())): s.value for f in scraped(client).values() for s in f.samples}


def value(client: Client, name: str, **labels: str) -> float:
    return samples(client)[name, frozenset(labels.items())]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
@pytest.mark.parametrize("server", ["real_server", "elastic_server"])
def test_an_alert_asks_only_for_what_is_told(rule: dict[str, str], server: str, request: pytest.FixtureRequest) -> None:
    served: RunningServer = request.getfixturevalue(server)
    with served.make_client() as client:
        client.request("GET", "/nowhere")
        client.compare("papers", "d1", "d2")
        told = samples(client)
    labels: dict[str, set[str]] = {}
    for name, given in told:
        labels.setdefault(name, set()).update(label for label, _ in given)
    asked = _SELECTOR.findall(rule["expr"])
    assert asked and rule["labels"] and rule["annotations"]["summary"] and rule["annotations"]["fix"]  # type: ignore[call-overload]
    for name, selector in asked:
        assert name in labels, f"{rule['alert']}: {name} is not told"
        assert set(re.findall(r"(\w+)\s*=", selector)) <= labels[name], name


def test_every_metric_has_a_line_in_the_docs(real: Client) -> None:
    page = (ROOT / "docs" / "running.md").read_text()
    ours = {name for name in scraped(real) if name.startswith("phrasecom_") and not name.endswith("_created")}
    documented = {name.removesuffix("_total") for name in re.findall(r"^\| `(phrasecom_\w+)`", page, re.MULTILINE)}
    assert documented == ours


def test_jobs_are_counted_from_queue_to_end(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    with start_server(work_config).make_client() as client:
        assert value(client, "phrasecom_up", part="store") == 1
        assert value(client, "phrasecom_up", part="worker") == 0, "none was started"
        question = {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}
        bad = {"index": "papers", "a": {"id": "d1"}, "b": {"query": "fail=BadParameter"}}
        for body in (question, bad):
            assert client.request("POST", "/v1/comparisons", body, {"Prefer": "respond-async"}).status == 202
        assert value(client, "phrasecom_jobs", queue="interactive", state="queued") == 2
        wait_until(lambda: value(client, "phrasecom_queue_age_seconds", queue="interactive") > 0)
        start_worker()
        wait_until(lambda: value(client, "phrasecom_up", part="worker") == 1)
        wait_until(lambda: sum_of(client, "phrasecom_jobs_ended_total") == 2)
        assert value(client, "phrasecom_jobs_ended_total", state="done", code="") == 1
        assert value(client, "phrasecom_jobs_ended_total", state="failed", code="bad-parameter") == 1
        assert value(client, "phrasecom_jobs", queue="interactive", state="queued") == 0
        assert value(client, "phrasecom_queue_age_seconds", queue="interactive") == 0


def sum_of(client: Client, name: str) -> float:
    return sum(number for (found, _), number in samples(client).items() if found == name)


def test_requests_to_elasticsearch_are_timed_in_both_rooms(elastic_server: RunningServer) -> None:
    with elastic_server.make_client() as client:
        before = sum_of(client, "phrasecom_elasticsearch_seconds_count")
        reply = client.request("POST", "/v1/papers/_search", {"query": {"match": {"text": "web"}}}, WAIT_HEADER)
        assert reply.status == 200
        assert sum_of(client, "phrasecom_elasticsearch_seconds_count") > before
        assert sum_of(client, "phrasecom_elasticsearch_seconds_sum") > 0


def test_an_epoch_has_its_age_and_its_size(real: Client) -> None:
    told = samples(real)
    papers = frozenset({("index", "papers")})
    assert 0 <= told["phrasecom_epoch_age_seconds", papers] < 86400
    assert told["phrasecom_index_documents", papers] > 0


def test_what_is_away_is_told_as_away(start_server: StartServer, work_config: WorkConfig) -> None:
    away = replace(work_config, engine="http://127.0.0.1:1", redis_url="redis://127.0.0.1:1/0")
    with start_server(away).make_client() as client:
        assert value(client, "phrasecom_up", part="store") == 0
        assert value(client, "phrasecom_up", part="engine") == 0


def test_several_processes_tell_it_once(start_server: StartServer, work_config: WorkConfig) -> None:
    with start_server(work_config, processes=2).make_client() as client:
        assert value(client, "phrasecom_up", part="engine") == 1


def test_neither_a_scrape_nor_the_list_of_indexes_loads_a_model(
    engine_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(data: bytes) -> PhraseModel:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr(PhraseModel, "from_bytes", refuse)
    app = make_app_client(engine_folder)
    assert 'phrasecom_index_documents{index="papers"}' in app.get("/metrics").get_data(as_text=True)
    assert [one["name"] for one in app.get("/v1/indexes").get_json()["indexes"]] == ["papers"]
    app.close()
