"""``phrasecom attach --follow`` as a process: another one writes the source meanwhile, and it is killed."""

from __future__ import annotations

import json
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis

from indexer.cli.main import run
from indexer.engines.attachment import Attachment
from indexer.engines.base import Engine
from indexer.errors import EngineUnavailable
from indexer.indexing.notifications import EVENTS_CHANNEL, KEY_PREFIX
from indexer.indexing.update import refresh_index
from tests.support.attached_sources import AttachedSource, attach_source
from tests.support.command_line import require_one_line
from tests.support.faults.proxy import Proxy
from tests.support.followed_sources import (
    FollowProcess,
    make_many_stories,
    make_numbered_story,
    read_index,
    require_equal_phrases,
    require_equal_to_fresh_attach,
    write_at_random,
)
from tests.support.polling import wait_until

QUICK = ("--interval", "0.2", "--check", "2", "--max-drift", "100")
StartFollowing = Callable[..., FollowProcess]


@pytest.fixture
def source(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[AttachedSource]:
    source = AttachedSource(elasticsearch_url, make_many_stories(300))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
    monkeypatch.setenv("PHRASECOM_ENGINE", source.url)
    attach_source(source)
    yield source
    source.close()


@pytest.fixture
def engine(source: AttachedSource) -> Iterator[Engine]:
    with source.open_engine() as engine:
        yield engine


@pytest.fixture
def start_following(source: AttachedSource, tmp_path: Path) -> Iterator[StartFollowing]:
    """Start ``attach --follow`` in a process that ends with the test."""
    started: list[FollowProcess] = []

    def start(*options: str, arguments: tuple[str, ...] = ()) -> FollowProcess:
        started.append(FollowProcess(source, tmp_path, *options, arguments=arguments))
        return started[-1]

    yield start
    for process in started:
        process.stop()


def start_writing(source: AttachedSource, seconds: float, rounds: int = 20) -> multiprocessing.process.BaseProcess:
    arguments = (source.url, source.index, 7, rounds, seconds)
    writer = multiprocessing.get_context("spawn").Process(target=write_at_random, args=arguments, daemon=True)
    writer.start()
    return writer


def follow_once(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    """Run one pass in this process; return the lines it printed."""
    capsys.readouterr()
    assert run(["attach", "--index", "news", "--follow", "--once", "--json", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_index_follows_a_source_that_is_written_meanwhile(
    source: AttachedSource, engine: Engine, start_following: StartFollowing
) -> None:
    following = start_following(*QUICK)
    wait_until(lambda: following.read_events(), explain=following.read_errors)
    writer = start_writing(source, seconds=8)
    writer.join(120)
    assert writer.exitcode == 0
    ended = len(following.read_events())
    wait_until(lambda: is_at_rest(following, ended), explain=following.read_errors)
    following.process.send_signal(signal.SIGTERM)
    assert following.process.wait(30) == 0 and "ended by SIGTERM" in following.read_errors()
    passes = following.read_events()
    added, deleted = (sum(one[name] for one in passes) for name in ("added", "deleted"))
    assert added >= 240 and deleted >= 40, "12 inserted, 10 changed and 6 deleted in each of 20 rounds"
    assert added <= 20 * 22, "nothing is added twice"
    idle = [one for one in passes if one["by"] == "sequence numbers" and not one["writes"]]
    assert idle and min(one["requests"] for one in idle) <= 6
    assert max(one["lag_seconds"] for one in passes) < 30
    require_equal_to_fresh_attach(source, engine)
    for name in ("news", "fresh"):
        refresh_index(engine, name, processes=1)
    require_equal_phrases(engine)


def is_at_rest(following: FollowProcess, since: int) -> bool:
    """Return whether two passes by ids since then found nothing."""
    last = [one for one in following.read_events()[since:] if one["by"] == "ids"][-2:]
    return len(last) == 2 and not any(one["read"] or one["deleted"] for one in last)


def test_nothing_is_lost_or_written_twice_when_it_is_killed(
    source: AttachedSource, engine: Engine, start_following: StartFollowing, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = start_writing(source, seconds=12)
    kills = 0
    while writer.is_alive():
        following = start_following(*QUICK, "--max-drift", "0.3")
        time.sleep(2.2 + 0.3 * kills)  # a start takes about two seconds: it is killed at any point of a pass
        following.process.kill()
        following.process.wait()
        kills += 1
    assert kills >= 3
    lift_write_block(source)
    follow_once(capsys, "--max-drift", "100")
    again = follow_once(capsys, "--max-drift", "100")[-1]
    assert (again["read"], again["added"], again["deleted"]) == (0, 0, 0)
    require_equal_to_fresh_attach(source, engine)


def lift_write_block(source: AttachedSource) -> None:
    """Let a killed build of an epoch be given up at once; a writer would wait for its lease of two minutes."""
    indices = source.client.indices
    names = [name for name in indices.get(index=f"{source.prefix}*").body if not name.startswith(f"{source.prefix}.")]
    for name in names:
        if not any(
            alias in (f"{source.prefix}news", f"{source.prefix}news.model") for alias in aliases_of(source, name)
        ):
            indices.delete(index=name)
        else:
            indices.put_settings(index=name, settings={"index.blocks.write": None})


def aliases_of(source: AttachedSource, name: str) -> list[str]:
    return list(source.client.indices.get_alias(index=name).body[name]["aliases"])


def test_what_an_index_was_attached_with_is_remembered(
    source: AttachedSource, engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    attach_source(source, "--language", "de", "--force")
    source.put_document("late", make_numbered_story(1, 1))
    monkeypatch.setenv("PHRASECOM_LANGUAGE", "fr")  # a setting is no request
    start, report = follow_once(capsys, "--max-drift", "0.001")[:2]
    assert start["source"] == f"{source.url}/{source.index}" and start["language"] == "de"
    assert start["fields"]["title"] == "headline" and start["fields"]["acl"] == "groups"
    assert (report["added"], report["documents"]) == (1, 301)
    info = engine.get_info("news")
    attachment = Attachment.from_info(info)
    assert info.drift == 0 and info.settings["language"] == "de" and attachment is not None
    assert attachment.address == source.url
    assert run(["attach", f"{source.url}/{source.index}", "--index", "news", "--follow", "--once"]) == 0
    out = capsys.readouterr().out
    assert "language de" in out and "title=headline" in out and "0 documents read" in out


def test_a_new_index_is_attached_first(
    source: AttachedSource, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    maps = ("--map", "title=headline", "--map", "text=body")
    command = ["attach", f"{source.url}/{source.index}", "--index", "other", *maps, "--follow", "--once", "--json"]
    capsys.readouterr()
    assert run(command) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["event"] for one in events] == ["attached", "following", "pass"]
    assert events[0]["documents"] == 300 and events[2]["read"] == 0
    assert len(read_index(engine, "other")) == 300


@pytest.mark.parametrize(
    ("arguments", "problem", "fix"),
    [
        (("--map", "title=body"), "--map title = 'headline', not 'body'", "--force"),
        (("--vectors", "embedding"), "--map vector = '', not 'embedding'", "--force"),
        (("--language", "de"), "--language = 'en', not 'de'", "leave it out"),
        (("--mu", "9"), "--mu = 3.0, not 9.0", "leave it out"),
        (("SERVER/elsewhere",), "the source = 'SOURCE', not 'elsewhere'", "leave it out"),
        (("--interval", "0"), "0.0 is not in the range", "--help"),
        (("--max-drift", "-1"), "-1.0 is not in the range", "--help"),
        (("nowhere",), "'nowhere' does not name an index", "write http://HOST:9200/INDEX"),
        (("http://127.0.0.1:9/SOURCE",), "does not answer", "start it"),
    ],
)
def test_conflicting_options_are_refused_with_their_fix(
    source: AttachedSource, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str, fix: str
) -> None:
    def fill(text: str) -> str:
        return text.replace("SERVER", source.url).replace("SOURCE", source.index)

    capsys.readouterr()
    assert run(["attach", *map(fill, arguments), "--index", "news", "--follow", "--once"]) == 2
    error = require_one_line(capsys.readouterr().err)
    assert fill(problem) in error and fix in error


def test_what_cannot_be_followed_is_refused(
    source: AttachedSource, engine: Engine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "files.jsonl").write_text('{"id": "a", "text": "The web graph is crawled."}\n')
    assert run(["index", "files.jsonl", "--index", "files"]) == 0
    info = engine.get_info("news")
    attachment = Attachment.from_info(info)
    assert attachment is not None
    for index, problem in {"files": "built from files", "nothing": "no index named", "news": "is not known"}.items():
        if index == "news":
            engine.store_attachment(index, info.epoch, Attachment(attachment.index, attachment.cluster, {}, True))
        capsys.readouterr()
        assert run(["attach", "--index", index, "--follow", "--once"]) == 2
        assert problem in require_one_line(capsys.readouterr().err)
    assert run(["attach", "--index", "news", "--once"]) == 2
    assert "--follow" in require_one_line(capsys.readouterr().err)
    assert run(["attach", "--index", "news"]) == 2
    assert "name the source" in require_one_line(capsys.readouterr().err)


def test_a_source_that_is_down_for_a_while_is_waited_for(
    source: AttachedSource, engine: Engine, start_following: StartFollowing
) -> None:
    with Proxy(source.url) as proxy:
        following = start_following(*QUICK, arguments=(f"{proxy.url}/{source.index}",))
        wait_until(lambda: following.read_events(), explain=following.read_errors)
        proxy.is_refusing = True
        source.put_document("late", make_numbered_story(1, 1))
        wait_until(lambda: following.read_events("waiting"), explain=following.read_errors)
        waiting = following.read_events("waiting")[0]
        assert waiting["code"] == "engine-unavailable" and waiting["retry_seconds"] == 1
        assert following.process.poll() is None
        proxy.reset()
        wait_until(lambda: sum(one["added"] for one in following.read_events()) == 1, explain=following.read_errors)
        following.process.send_signal(signal.SIGTERM)
        assert following.process.wait(30) == 0
    require_equal_to_fresh_attach(source, engine)


def test_the_old_epoch_answers_while_a_new_one_is_built(
    source: AttachedSource, engine: Engine, start_following: StartFollowing
) -> None:
    following = start_following("--interval", "0.2", "--max-drift", "0.33")
    wait_until(lambda: following.read_events(), explain=following.read_errors)
    source.put_documents(make_many_stories(100, version=1))  # a third: no epoch begins before all are visible
    counts = set()
    while not following.read_events("epoch"):
        with suppress(EngineUnavailable):  # Elasticsearch may answer 503 while it removes the former epoch
            counts.add(engine.get_info("news").documents)
        assert following.process.poll() is None, following.read_errors()
    assert counts == {300}
    assert engine.get_info("news").drift == 0
    following.stop()
    require_equal_to_fresh_attach(source, engine)
    require_equal_phrases(engine)


def test_sigterm_ends_a_build_and_leaves_nothing_behind(
    source: AttachedSource, engine: Engine, start_following: StartFollowing, capsys: pytest.CaptureFixture[str]
) -> None:
    following = start_following("--interval", "0.2", "--max-drift", "0.2")
    wait_until(lambda: following.read_events(), explain=following.read_errors)
    before = engine.get_info("news").epoch
    source.put_documents(make_many_stories(100, version=1))
    building = f"{source.prefix}news.*.building"
    wait_until(lambda: source.client.indices.get_alias(name=building).body, explain=following.read_errors)
    following.process.send_signal(signal.SIGTERM)
    assert following.process.wait(30) == 0, following.read_errors()
    assert not source.client.indices.get_alias(name=building).body
    assert engine.get_info("news").epoch == before or following.read_events("epoch"), "it was nearly done"
    source.put_document("late", make_numbered_story(1, 1))
    assert follow_once(capsys, "--max-drift", "100")[-1]["added"] == 1, "it is no longer locked"
    require_equal_to_fresh_attach(source, engine)


def test_a_running_service_is_told(
    source: AttachedSource, valkey_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PHRASECOM_REDIS_URL", valkey_url)
    source.put_document("n00001", make_numbered_story(1, 1))
    source.client.delete(index=source.index, id="n00002", refresh=True)
    with redis.Redis.from_url(valkey_url) as client, client.pubsub() as events:
        events.subscribe(KEY_PREFIX + EVENTS_CHANNEL)
        follow_once(capsys)
        messages = [events.get_message(timeout=1) for _ in range(3)]
    assert [message["data"] for message in messages if message and message["type"] == "message"] == [b"index news"] * 2


def test_rejected_documents_give_the_exit_status_of_attach(
    source: AttachedSource, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source.put_document("n00001", make_numbered_story(1, 1) | {"body": ""})
    for _ in range(2):
        capsys.readouterr()
        assert run(["attach", "--index", "news", "--follow", "--once"]) == 1
        output = capsys.readouterr()
        assert "1 rejected" in output.out and "the text is empty" in require_one_line(output.err)
        assert len((tmp_path / "news.rejects.jsonl").read_text().splitlines()) == 1
