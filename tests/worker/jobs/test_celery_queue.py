"""The queues of the Celery app, and the engine that each process opens."""

from __future__ import annotations

from pathlib import Path

import redis

from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.settings import load_settings
from webapi.app import create_app
from webapi.context import EXTENSION
from worker.jobs.celery_queue import announce_job, make_celery_app
from worker.jobs.config import WorkConfig, load_work_config
from worker.jobs.job import QUEUES
from worker.process import celery_worker
from worker.service.container import ServiceContainer


def test_every_queue_has_exactly_one_binding(work_config: WorkConfig) -> None:
    app = make_celery_app(work_config)
    with app.connection_for_write() as connection, connection.channel() as channel:
        for name in QUEUES:
            app.amqp.queues[name](channel).declare()
    with redis.Redis.from_url(work_config.redis_url) as client:
        prefix = work_config.key_prefix + "broker:"
        bound = {name: client.smembers(f"{prefix}_kombu.binding.{name}") for name in QUEUES}
    for name, members in bound.items():
        (member,) = members
        assert member.decode().split("\x06\x16") == [name, "", name]


def test_a_message_goes_to_one_queue_only_and_a_repeated_one_comes_first(work_config: WorkConfig) -> None:
    app = make_celery_app(work_config)
    with app.connection_for_write() as connection, connection.channel() as channel:
        for name in QUEUES:
            app.amqp.queues[name](channel).declare()
    announce_job(app, "one", "interactive")
    announce_job(app, "two", "bulk")
    announce_job(app, "three", "bulk")
    announce_job(app, "once more", "bulk", repeated=True)
    arrived: dict[str, list[str]] = {name: [] for name in QUEUES}
    with app.connection_for_read() as connection, connection.channel() as channel:
        for name in QUEUES:
            while (message := channel.basic_get(name, no_ack=True)) is not None:
                arrived[name].append(message.payload[0][0])
    assert arrived == {"interactive": ["one"], "bulk": ["once more", "two", "three"]}


ENGINE_SETTINGS = {
    "engine": "https://search.example:9200",
    "engine_api_key": "c2VjcmV0OmtleQ==",
    "index_prefix": "ours-",
    "shards": 3,
    "replicas": 2,
    "engine_timeout_seconds": 7.0,
}


def check_engine_options(engine: object) -> None:
    assert isinstance(engine, ElasticsearchEngine)
    assert (engine.address, engine.prefix, engine.shards, engine.replicas) == (ENGINE_SETTINGS["engine"], "ours-", 3, 2)
    client = engine.connection.client
    assert client._request_timeout == 7.0
    assert client._headers["authorization"] == "ApiKey c2VjcmV0OmtleQ=="


def test_the_web_process_opens_the_engine_as_the_settings_say() -> None:
    app = create_app(load_settings(**ENGINE_SETTINGS), inline=True)
    gateway = app.extensions[EXTENSION].gateway
    check_engine_options(gateway.container.engine)
    gateway.close()


def test_the_worker_opens_the_engine_as_the_settings_say() -> None:
    celery_worker.configure_process(load_work_config(load_settings(**ENGINE_SETTINGS), inline=True))
    container = celery_worker.get_container()
    try:
        check_engine_options(container.engine)
    finally:
        container.close()
        celery_worker._reset_after_fork()
        celery_worker.configure_process(WorkConfig())


def test_the_certificate_authority_reaches_the_connection(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.touch()
    container = ServiceContainer(
        load_work_config(load_settings(**ENGINE_SETTINGS, engine_ca=str(authority)), inline=True)
    )
    engine = container.engine
    assert isinstance(engine, ElasticsearchEngine)
    (node,) = engine.connection.client.transport.node_pool.all()
    assert node.config.ca_certs == str(authority)
    container.close()
