"""Sequence numbers: whatever the order in which writes arrive, the newest write of a document stays."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.documents import AnalysedDocument
from indexer.engines.base import Engine
from indexer.engines.elasticsearch.engine import ElasticsearchEngine
from indexer.engines.embedded import updates
from indexer.engines.search_types import NeighbourhoodRequest, Selection
from indexer.engines.write_order import GENERATION_SIZE, MARK_SECONDS, get_first_sequence_of_generation
from indexer.indexing.update import refresh_index
from tests.support.corpora.engine_corpus import AnalysedCorpus, write_index
from tests.support.damaged_files import remove_checksums
from tests.support.engines import reopen_engine
from tests.support.index_processes import make_added_document


@pytest.fixture
def papers(engine: Engine, corpus: AnalysedCorpus) -> Engine:
    """An engine with the index ``papers``."""
    write_index(engine, corpus)
    return engine


def make_version(id: str, title: str) -> AnalysedDocument:
    document = make_added_document(id)
    return replace(document, document=replace(document.document, title=title))


def get_title(engine: Engine, id: str) -> str | None:
    document = engine.open_reader("papers").fetch([id])[0]
    return None if document is None else document.document.title


def test_an_older_write_that_comes_later_is_left_out(papers: Engine) -> None:
    for id in ("doc-0001", "brand new"):
        assert papers.add_documents("papers", [make_version(id, "second")], sequence=GENERATION_SIZE + 2).count == 1
        late = papers.add_documents("papers", [make_version(id, "first")], sequence=GENERATION_SIZE + 1)
        assert (late.count, late.superseded) == (0, {id})
        assert get_title(papers, id) == "second"
        assert papers.add_documents("papers", [make_version(id, "third")], sequence=GENERATION_SIZE + 3).count == 1
        assert get_title(papers, id) == "third"


def test_only_the_documents_with_a_newer_write_are_left_out(papers: Engine) -> None:
    papers.add_documents("papers", [make_version("a", "new")], sequence=GENERATION_SIZE + 2)
    result = papers.add_documents(
        "papers", [make_version("a", "old"), make_version("b", "old")], sequence=GENERATION_SIZE + 1
    )
    assert (result.count, result.superseded) == (1, {"a"})
    assert (get_title(papers, "a"), get_title(papers, "b")) == ("new", "old")


def test_a_write_may_be_repeated(papers: Engine) -> None:
    for _ in range(2):
        assert papers.add_documents("papers", [make_version("a", "again")], sequence=GENERATION_SIZE + 1).count == 1
    assert get_title(papers, "a") == "again"


def test_an_older_write_does_not_bring_a_deleted_document_back(papers: Engine) -> None:
    count = papers.open_reader("papers").info.documents
    for id in ("doc-0001", "never there"):
        papers.delete_documents("papers", [id], sequence=GENERATION_SIZE + 2)
        late = papers.add_documents("papers", [make_version(id, "first")], sequence=GENERATION_SIZE + 1)
        assert (late.count, late.superseded, get_title(papers, id)) == (0, {id}, None)
    assert papers.open_reader("papers").info.documents == count - 1


def test_an_older_deletion_leaves_a_newer_document(papers: Engine) -> None:
    papers.add_documents("papers", [make_version("a", "second")], sequence=GENERATION_SIZE + 2)
    late = papers.delete_documents("papers", ["a"], sequence=GENERATION_SIZE + 1)
    assert (late.count, late.superseded, get_title(papers, "a")) == (0, {"a"}, "second")


def test_a_deletion_mark_is_found_by_no_read(papers: Engine, corpus: AnalysedCorpus) -> None:
    gone = ["doc-0001", "never there", "added"]
    papers.add_documents("papers", [make_added_document("added")])
    assert papers.delete_documents("papers", gone).count == 2
    reader = papers.open_reader("papers")
    live = sorted(document.document.id for document in corpus.documents if document.document.id not in gone)
    assert [document.document.id for document in reader.scan()] == live
    assert reader.readable_ids(None, 9999) == live
    assert reader.search(Selection(), size=9999).total == len(live) == reader.info.documents
    assert reader.fetch(gone) == [None] * 3
    everything = dict.fromkeys(reader.model.phrases, 1.0)
    for boosts in (everything, {}):
        found = reader.find_neighbourhood(NeighbourhoodRequest(everything, boosts, tuple(gone), 9999))
        assert not set(found.ids) & set(gone)


def test_drift_counts_a_document_that_was_deleted_and_added_again_once(papers: Engine, corpus: AnalysedCorpus) -> None:
    count = len(corpus.documents)
    for id, live in (("doc-0001", count), ("brand new", count + 1)):
        papers.add_documents("papers", [make_version(id, "one")])
        papers.delete_documents("papers", [id])
        papers.add_documents("papers", [make_version(id, "two")])
        info = papers.open_reader("papers").info
        assert info.documents == live
    assert info.drift == pytest.approx(2 / count)


def test_a_write_without_a_number_is_newer_than_all_of_earlier_terms(papers: Engine) -> None:
    given_out = get_first_sequence_of_generation(papers.start_write_generation("papers")) + 1000
    own = papers.add_documents("papers", [make_version("a", "of a command")])
    assert own.sequence > given_out
    assert papers.add_documents("papers", [make_version("a", "submitted before")], sequence=given_out).count == 0
    assert papers.delete_documents("papers", ["a"]).sequence > own.sequence
    assert get_title(papers, "a") is None


def test_generations_increase_whoever_starts_them(papers: Engine, corpus: AnalysedCorpus) -> None:
    assert papers.get_write_generation("papers") == 0
    generations = [engine.start_write_generation("papers") for engine in (papers, reopen_engine(papers), papers)]
    assert generations == sorted(set(generations)) and papers.get_write_generation("papers") == generations[-1]
    write_index(papers, corpus)
    papers.delete_index("papers")
    write_index(papers, corpus)
    assert papers.start_write_generation("papers") > generations[-1]


def test_a_generation_is_started_during_a_build(papers: Engine) -> None:
    with papers.start_build("papers"):
        assert papers.start_write_generation("papers") == papers.get_write_generation("papers") > 0


def test_a_lost_count_of_generations_continues_above_the_marks(papers: Engine) -> None:
    papers.add_documents("papers", [make_version("a", "one")], sequence=get_first_sequence_of_generation(40))
    _lose_generations(papers)
    assert papers.get_write_generation("papers") == 0
    assert papers.start_write_generation("papers") > 40
    papers.add_documents("papers", [make_version("a", "two")])
    assert get_title(papers, "a") == "two"


def _lose_generations(engine: Engine) -> None:
    if isinstance(engine, ElasticsearchEngine):
        engine.connection.client.indices.delete(index=f"{engine.prefix}.generations", ignore_unavailable=True)
    else:
        (Path(engine.address) / ".generations" / "papers").unlink(missing_ok=True)


def test_the_order_holds_across_a_new_epoch(papers: Engine) -> None:
    papers.add_documents("papers", [make_version("doc-0001", "second")], sequence=GENERATION_SIZE + 2)
    papers.delete_documents("papers", ["doc-0002"], sequence=GENERATION_SIZE + 2)
    for _ in range(2):
        refresh_index(papers, "papers", processes=1)
        late = papers.add_documents(
            "papers",
            [make_version(id, "first") for id in ("doc-0001", "doc-0002", "doc-0003")],
            sequence=GENERATION_SIZE + 1,
        )
        assert late.superseded == {"doc-0001", "doc-0002"}
    assert (get_title(papers, "doc-0001"), get_title(papers, "doc-0003")) == ("second", "first")
    assert get_title(papers, "doc-0002") is None


def test_marks_older_than_a_day_are_not_handed_on(
    papers: Engine, corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - MARK_SECONDS - 60)
    papers.delete_documents("papers", ["doc-0001", "never there"], sequence=GENERATION_SIZE + 2)
    monkeypatch.setattr(time, "time", lambda: now)
    write_index(papers, corpus)
    result = papers.add_documents("papers", [make_version("never there", "x")], sequence=GENERATION_SIZE + 1)
    assert result.count == 1 and papers.open_reader("papers").info.documents == len(corpus.documents) + 1


def test_a_void_claim_stops_a_write_before_it_takes_effect(papers: Engine) -> None:
    def refuse() -> None:
        raise RuntimeError("the job belongs to another worker")

    with pytest.raises(RuntimeError):
        papers.add_documents("papers", [make_version("doc-0001", "of a lost worker")], check_claim=refuse)
    assert get_title(papers, "doc-0001") != "of a lost worker"
    assert papers.add_documents("papers", [make_version("doc-0001", "next")]).count == 1


def test_any_order_of_arrival_ends_in_the_newest_write(papers: Engine) -> None:
    dice = random.Random(7)
    numbers = [GENERATION_SIZE + n for n in range(1, 13)]
    for trial in range(3):
        id = f"shuffled-{trial}"
        is_deletion = {number: dice.random() < 0.4 for number in numbers}
        for number in dice.sample(numbers, len(numbers)):
            if is_deletion[number]:
                papers.delete_documents("papers", [id], sequence=number)
            else:
                papers.add_documents("papers", [make_version(id, str(number))], sequence=number)
            if dice.random() < 0.1:
                refresh_index(papers, "papers", processes=1)
        assert get_title(papers, id) == (None if is_deletion[numbers[-1]] else str(numbers[-1]))


def test_a_crash_after_the_commit_of_tantivy_keeps_documents_and_marks(
    tantivy_engine: Engine, corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise SystemExit("killed")

    write_index(tantivy_engine, corpus)
    for write in (
        lambda engine: engine.add_documents("papers", [make_version("a", "new")], sequence=GENERATION_SIZE + 2),
        lambda engine: engine.delete_documents("papers", ["doc-0001"], sequence=GENERATION_SIZE + 2),
    ):
        with monkeypatch.context() as patch, pytest.raises(SystemExit):
            patch.setattr(updates, "_publish_delta", die)
            write(reopen_engine(tantivy_engine))
        engine = reopen_engine(tantivy_engine)
        reader = engine.open_reader("papers")
        ids = ["a", "doc-0001", "doc-0002"]
        assert reader.fetch_lazy(ids) == reader.fetch(ids), "until the next write, what tantivy has"
        engine.add_documents("papers", [])
    late = reopen_engine(tantivy_engine).add_documents(
        "papers", [make_version(id, "old") for id in ("a", "doc-0001")], sequence=GENERATION_SIZE + 1
    )
    assert late.superseded == {"a", "doc-0001"}
    assert (get_title(tantivy_engine, "a"), get_title(tantivy_engine, "doc-0001")) == ("new", None)


def test_an_embedded_index_of_a_former_version_gets_numbers_with_its_first_write(
    tantivy_engine: Engine, corpus: AnalysedCorpus, tmp_path: Path
) -> None:
    write_index(tantivy_engine, corpus)
    delta = next(Path(tantivy_engine.address).glob("papers/*/delta"))
    with np.load(delta) as arrays:
        former = {name: values for name, values in arrays.items() if "mark" not in name}
    with delta.open("wb") as file:
        np.savez(file, **former)
    remove_checksums(delta.parent)
    _require_order(reopen_engine(tantivy_engine))


def test_an_elasticsearch_index_of_a_former_version_gets_numbers_with_its_first_write(
    elasticsearch_engine: Engine, corpus: AnalysedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indexer.engines.elasticsearch import epoch_builder, mappings

    assert isinstance(elasticsearch_engine, ElasticsearchEngine)
    client = elasticsearch_engine.connection.client

    def build_former_index(shards: int, replicas: int) -> mappings.Body:
        definition = mappings.build_document_index_body(shards, replicas)
        for name in mappings.SEQUENCE_FIELDS:
            del definition["mappings"]["properties"][name]
        return definition

    monkeypatch.setattr(epoch_builder, "build_document_index_body", build_former_index)
    write_index(elasticsearch_engine, corpus)
    alias = elasticsearch_engine.documents_alias("papers")
    meta = next(iter(client.indices.get_mapping(index=alias).body.values()))["mappings"]["_meta"]
    client.indices.put_mapping(
        index=alias, meta={name: value for name, value in meta.items() if name != "has_sequences"}
    )
    _require_order(reopen_engine(elasticsearch_engine))


def _require_order(engine: Engine) -> None:
    """Write and delete a document of the epoch out of order."""
    engine.add_documents("papers", [make_version("doc-0001", "second")], sequence=GENERATION_SIZE + 2)
    engine.add_documents("papers", [make_version("doc-0001", "first")], sequence=GENERATION_SIZE + 1)
    assert get_title(engine, "doc-0001") == "second"
    engine.delete_documents("papers", ["doc-0001"])
    engine.add_documents("papers", [make_version("doc-0001", "late")], sequence=GENERATION_SIZE + 3)
    assert get_title(engine, "doc-0001") is None
