"""An attached index follows its source, by sequence numbers and by ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.engines.attachment import Attachment
from indexer.engines.base import Engine
from indexer.errors import BadInput, BadParameter, IndexBusy, Unavailable
from indexer.indexing import follow
from indexer.indexing.follow import PassReport
from indexer.indexing.update import add_documents, refresh_index
from indexer.readers.elasticsearch_changes import SourceChanges
from tests.support.attached_sources import MAPPINGS, AttachedSource, attach_source
from tests.support.followed_sources import (
    make_many_stories,
    make_numbered_story,
    open_follower,
    read_index,
    require_equal_phrases,
    require_equal_to_fresh_attach,
)


@pytest.fixture
def source(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[AttachedSource]:
    source = AttachedSource(elasticsearch_url, make_many_stories(60))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
    attach_source(source)
    yield source
    source.close()


@pytest.fixture
def engine(source: AttachedSource) -> Iterator[Engine]:
    with source.open_engine() as engine:
        yield engine


def count(report: PassReport) -> tuple[int, int, int, int]:
    """Return how many documents were read, added, deleted and rejected."""
    return report.read, report.added, report.deleted, report.rejected


def write_some(source: AttachedSource) -> None:
    """Add two documents, change one and delete one."""
    source.put_documents({f"late-{number}": make_numbered_story(number, 1) for number in range(2)})
    source.put_document("n00001", make_numbered_story(1, 1))
    source.client.options(ignore_status=404).delete(index=source.index, id="n00002", refresh=True)


def test_a_pass_reads_only_what_was_written_in_few_requests(source: AttachedSource, engine: Engine) -> None:
    with open_follower(source, engine) as follower:
        first = follower.run_pass()
        assert (first.by, count(first), first.writes) == ("ids", (0, 0, 0, 0), None)
        idle = follower.run_pass()
        assert (idle.by, count(idle), idle.writes) == ("sequence numbers", (0, 0, 0, 0), 0)
        assert idle.requests == 2
        source.put_document("n00001", make_numbered_story(1, 1))
        one = follower.run_pass()
        assert (one.by, count(one), one.writes) == ("sequence numbers", (1, 1, 0, 0), 1)
        assert one.requests <= 30 and one.lag_seconds < 10
        assert count(follower.run_pass()) == (0, 0, 0, 0)
    require_equal_to_fresh_attach(source, engine)


def test_deletions_are_noticed_by_the_number_of_documents(source: AttachedSource, engine: Engine) -> None:
    with open_follower(source, engine) as follower:
        follower.run_pass()
        follower._earliest_id_pass = 0
        write_some(source)
        report = follower.run_pass()
        assert (report.by, count(report)) == ("ids", (3, 3, 1, 0))
        assert count(follower.run_pass()) == (0, 0, 0, 0)
    require_equal_to_fresh_attach(source, engine)


def test_a_new_process_finds_everything_that_changed_meanwhile(source: AttachedSource, engine: Engine) -> None:
    write_some(source)
    with open_follower(source, engine) as follower:
        assert count(follower.run_pass()) == (3, 3, 1, 0)
    with open_follower(source, engine) as follower:
        assert count(follower.run_pass()) == (0, 0, 0, 0)
    require_equal_to_fresh_attach(source, engine)


def test_a_write_that_becomes_visible_late_is_found_by_its_id(
    source: AttachedSource, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.client.indices.put_settings(index=source.index, settings={"refresh_interval": "-1"})
    with open_follower(source, engine) as follower:
        follower.run_pass()
        source.client.index(index=source.index, id="late", document=make_numbered_story(1, 1))
        assert count(follower.run_pass()) == (0, 0, 0, 0)
        source.client.indices.refresh(index=source.index)
        assert count(follower.run_pass()) == (1, 1, 0, 0), "nothing counts as seen before it is settled"
        monkeypatch.setattr(follow, "SETTLE_SECONDS", 0.0)
        source.client.index(index=source.index, id="later", document=make_numbered_story(2, 1))
        follower.run_pass()
        follower.run_pass()
        source.client.indices.refresh(index=source.index)
        assert count(follower.run_pass()) == (0, 0, 0, 0), "its number counts as seen"
        follower._next_id_pass = 0
        assert count(follower.run_pass()) == (1, 1, 0, 0)
    require_equal_to_fresh_attach(source, engine)


def test_shards_aliases_with_filters_and_further_indices_are_followed(source: AttachedSource, engine: Engine) -> None:
    other, alias = f"{source.index}-2", f"{source.index}-all"
    source.client.indices.create(index=other, mappings=MAPPINGS, settings={"number_of_shards": 3})
    shown = {"range": {"views": {"lt": 50}}}
    for name in (source.index, other):
        source.client.indices.put_alias(index=name, name=alias, filter=shown)
    attach_source(source, index=alias)
    source.index, first = alias, source.index
    with open_follower(source, engine) as follower:
        follower.run_pass()
        for number in range(30):
            source.client.index(index=other, id=f"o{number}", document=make_numbered_story(number, number * 3))
        source.client.indices.refresh(index=other)
        assert count(follower.run_pass()) == (17, 17, 0, 0)
        source.client.index(index=other, id="o1", document=make_numbered_story(1, 99), refresh=True)
        follower._earliest_id_pass = 0
        assert follower.run_pass().deleted == 1, "the filter hides it"
    source.index = first
    attach_source(source, index=alias, name="fresh")
    assert read_index(engine, "news") == read_index(engine, "fresh")


def test_rejected_documents_are_listed_once_and_leave_the_index(
    source: AttachedSource, engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "rejects.jsonl"
    with open_follower(source, engine, path) as follower:
        follower.run_pass()
        source.put_documents({id: make_numbered_story(1, 1) | {"body": ""} for id in ("n00001", "empty")})
        report = follower.run_pass()
        assert count(report) == (2, 0, 1, 2)
        follower._next_id_pass = 0
        assert count(follower.run_pass()) == (0, 0, 0, 0), "they are not read again"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["reason"] for line in lines] == ["the text is empty"] * 2
        source.put_document("n00001", make_numbered_story(1, 2))
        assert count(follower.run_pass()) == (1, 1, 0, 0)
    source.client.delete(index=source.index, id="empty", refresh=True)
    require_equal_to_fresh_attach(source, engine)


def test_an_index_written_by_others_becomes_like_its_source_again(source: AttachedSource, engine: Engine) -> None:
    document = next(engine.open_reader("news").scan()).document
    ours = [replace(document, id="ours", revision=None), replace(document, title="Ours", revision=None)]
    add_documents(ours, engine, "news")
    with open_follower(source, engine) as follower:
        assert count(follower.run_pass()) == (1, 1, 1, 0)
    require_equal_to_fresh_attach(source, engine)


def test_a_source_that_is_gone_or_empty_deletes_nothing(source: AttachedSource, engine: Engine) -> None:
    before = read_index(engine, "news")
    with open_follower(source, engine) as follower:
        follower.run_pass()
        source.client.indices.delete(index=source.index)
        for _ in range(2):
            with pytest.raises(Unavailable, match="has no index"):
                follower.run_pass()
        source.client.indices.create(index=source.index, mappings=MAPPINGS)
        follower._next_id_pass = 0
        with pytest.raises(Unavailable, match="no documents now"):
            follower.run_pass()
        assert read_index(engine, "news") == before
        source.put_documents(make_many_stories(50, version=1))
        assert count(follower.run_pass()) == (50, 50, 10, 0)
    require_equal_to_fresh_attach(source, engine)


def test_a_source_recreated_without_its_groups_is_refused(source: AttachedSource, engine: Engine) -> None:
    with open_follower(source, engine) as follower:
        follower.run_pass()
        source.client.indices.delete(index=source.index)
        properties = {name: value for name, value in MAPPINGS["properties"].items() if name != "groups"}
        source.client.indices.create(index=source.index, mappings={"properties": properties})
        source.put_document("n00003", make_numbered_story(1, 1))  # a story without groups
        with pytest.raises(BadParameter, match="'groups'"):
            follower.run_pass()


def test_a_build_of_another_process_is_waited_for(source: AttachedSource, engine: Engine) -> None:
    write_some(source)
    with open_follower(source, engine) as follower:
        with source.open_engine() as other, other.start_build("news"), pytest.raises(IndexBusy):
            follower.run_pass()
        assert count(follower.run_pass()) == (3, 3, 1, 0)
    require_equal_to_fresh_attach(source, engine)


def test_a_new_epoch_has_the_phrases_of_a_fresh_attach(source: AttachedSource, engine: Engine) -> None:
    source.put_documents(make_many_stories(120, version=2))
    with open_follower(source, engine) as follower:
        report = follower.run_pass()
        assert report.drift > 0.9 and report.documents == 120
        old = engine.open_reader("news")
        assert follower.renew_epoch(processes=1).documents == 120
        assert engine.get_info("news").drift == 0 and engine.get_info("news").epoch != old.info.epoch
        assert count(follower.run_pass()) == (0, 0, 0, 0)
    require_equal_to_fresh_attach(source, engine)
    require_equal_phrases(engine)


def test_the_writes_behind_are_counted_from_the_last_pass(source: AttachedSource, engine: Engine) -> None:
    with source.open_engine() as service:  # another process

        def count_writes() -> int | None:
            attached = service.attached_source(service.get_info("news"))
            assert attached is not None
            return attached.count_writes()

        with open_follower(source, engine) as follower:
            write_some(source)
            assert count_writes() == 4
            follower.run_pass()
            assert count_writes() == 0
            write_some(source)
            assert count_writes() == 4
            follower.run_pass()
            refresh_index(engine, "news")
            assert count_writes() == 0, "a new epoch keeps them"


def test_without_statistics_every_pass_is_one_by_ids_and_rests_in_between(
    source: AttachedSource, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SourceChanges, "fetch_shards", lambda self: None)  # as if the key lacked ``monitor``
    with open_follower(source, engine) as follower:
        assert count(follower.run_pass()) == (0, 0, 0, 0)
        write_some(source)
        second = follower.run_pass()
        assert (second.by, second.writes, count(second)) == ("ids", None, (3, 3, 1, 0))
        assert follower.get_pause() > 0
    require_equal_to_fresh_attach(source, engine)


def test_an_epoch_built_by_another_process_is_compared_by_ids(source: AttachedSource, engine: Engine) -> None:
    with open_follower(source, engine) as follower:
        follower.run_pass()
        with source.open_engine() as other:
            refresh_index(other, "news", processes=1)
        assert follower.run_pass().by == "ids"
        assert follower.run_pass().by == "sequence numbers"


def test_an_index_attached_otherwise_meanwhile_is_not_written(source: AttachedSource, engine: Engine) -> None:
    with open_follower(source, engine) as follower:
        follower.run_pass()
        attach_source(source, "--map", "url=headline")
        source.put_document("n00001", make_numbered_story(1, 1))
        with pytest.raises(BadInput, match="other options"):
            follower.run_pass()
    info = engine.get_info("news")
    assert Attachment.from_info(info) is not None and info.drift == 0
