"""The metrics of /metrics, and that the alerts in deploy/ use no others."""

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


def read_families(client: Client) -> dict[str, Metric]:
    reply = client.request("GET", "/metrics")
    assert reply.status == 200 and reply.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(reply.body.decode()))
    assert len({family.name for family in families}) == len(families), "Prometheus refuses a name that occurs twice"
    return {family.name: family for family in families}


def read_samples(client: Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {(s.name, frozenset(s.labels.items())): s.value for f in read_families(client).values() for s in f.samples}


def read_value(client: Client, name: str, **labels: str) -> float:
    return read_samples(client)[name, frozenset(labels.items())]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
@pytest.mark.parametrize("server", ["real_server", "elastic_server"])
def test_alerts_use_existing_metrics_and_labels(
    rule: dict[str, str], server: str, request: pytest.FixtureRequest
) -> None:
    running_server: RunningServer = request.getfixturevalue(server)
    with running_server.make_client() as client:
        client.request("GET", "/nowhere")
        client.compare("papers", "d1", "d2")
        samples = read_samples(client)
    labels: dict[str, set[str]] = {}
    for name, given in samples:
        labels.setdefault(name, set()).update(label for label, _ in given)
    selectors = _SELECTOR.findall(rule["expr"])
    assert selectors and rule["labels"] and rule["annotations"]["summary"] and rule["annotations"]["fix"]  # type: ignore[call-overload]
    for name, selector in selectors:
        assert name in labels, f"{rule['alert']}: {name} does not exist"
        assert set(re.findall(r"(\w+)\s*=", selector)) <= labels[name], name


def test_every_metric_has_a_line_in_the_docs(real: Client) -> None:
    page = (ROOT / "docs" / "running.md").read_text()
    ours = {name for name in read_families(real) if name.startswith("phrasecom_") and not name.endswith("_created")}
    documented = {name.removesuffix("_total") for name in re.findall(r"^\| `(phrasecom_\w+)`", page, re.MULTILINE)}
    assert documented == ours


def test_jobs_are_counted_from_queue_to_end(
    start_server: StartServer, start_worker: StartWorker, work_config: WorkConfig
) -> None:
    with start_server(work_config).make_client() as client:
        assert read_value(client, "phrasecom_up", part="store") == 1
        assert read_value(client, "phrasecom_up", part="worker") == 0, "none was started"
        question = {"index": "papers", "a": {"id": "d1"}, "b": {"id": "d2"}}
        bad = {"index": "papers", "a": {"id": "d1"}, "b": {"query": "fail=BadParameter"}}
        for body in (question, bad):
            assert client.request("POST", "/v1/comparisons", body, {"Prefer": "respond-async"}).status == 202
        assert read_value(client, "phrasecom_jobs", queue="interactive", state="queued") == 2
        wait_until(lambda: read_value(client, "phrasecom_queue_age_seconds", queue="interactive") > 0)
        start_worker()
        wait_until(lambda: read_value(client, "phrasecom_up", part="worker") == 1)
        wait_until(lambda: sum_samples(client, "phrasecom_jobs_ended_total") == 2)
        assert read_value(client, "phrasecom_jobs_ended_total", state="done", code="") == 1
        assert read_value(client, "phrasecom_jobs_ended_total", state="failed", code="bad-parameter") == 1
        assert read_value(client, "phrasecom_jobs", queue="interactive", state="queued") == 0
        assert read_value(client, "phrasecom_queue_age_seconds", queue="interactive") == 0


def sum_samples(client: Client, name: str) -> float:
    return sum(number for (found, _), number in read_samples(client).items() if found == name)


def test_requests_to_elasticsearch_are_timed(elastic_server: RunningServer) -> None:
    with elastic_server.make_client() as client:
        before = sum_samples(client, "phrasecom_elasticsearch_seconds_count")
        reply = client.request("POST", "/v1/papers/_search", {"query": {"match": {"text": "web"}}}, WAIT_HEADER)
        assert reply.status == 200
        assert sum_samples(client, "phrasecom_elasticsearch_seconds_count") > before
        assert sum_samples(client, "phrasecom_elasticsearch_seconds_sum") > 0


def test_an_epoch_has_its_age_and_its_size(real: Client) -> None:
    samples = read_samples(real)
    papers = frozenset({("index", "papers")})
    assert 0 <= samples["phrasecom_epoch_age_seconds", papers] < 86400
    assert samples["phrasecom_index_documents", papers] > 0


def test_unreachable_parts_are_reported_as_down(start_server: StartServer, work_config: WorkConfig) -> None:
    away = replace(work_config, engine="http://127.0.0.1:1", redis_url="redis://127.0.0.1:1/0")
    with start_server(away).make_client() as client:
        assert read_value(client, "phrasecom_up", part="store") == 0
        assert read_value(client, "phrasecom_up", part="engine") == 0


def test_several_processes_report_each_gauge_once(start_server: StartServer, work_config: WorkConfig) -> None:
    with start_server(work_config, processes=2).make_client() as client:
        assert read_value(client, "phrasecom_up", part="engine") == 1


def test_neither_a_scrape_nor_the_list_of_indexes_loads_a_model(
    engine_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(data: bytes) -> PhraseModel:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr(PhraseModel, "read", refuse)
    app = make_app_client(engine_folder)
    assert 'phrasecom_index_documents{index="papers"}' in app.get("/metrics").get_data(as_text=True)
    assert [one["name"] for one in app.get("/v1/indexes").get_json()["indexes"]] == ["papers"]
    app.close()
