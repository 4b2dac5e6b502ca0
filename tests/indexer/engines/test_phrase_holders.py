"""How many documents that a caller may read hold a phrase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexer.engines.base import Engine, Reader
from indexer.engines.elasticsearch import query_builder, reader
from indexer.engines.search_types import Groups, may_read
from tests.support.corpora.engine_corpus import PHRASE_PAIR, PHRASES, AnalysedCorpus, write_index

ALL_PHRASES = [*PHRASES, PHRASE_PAIR, "nothing of the kind", ""]
GROUPS: list[Groups] = [None, frozenset(), frozenset({"board"}), frozenset({"staff"})]


@pytest.mark.parametrize("groups", GROUPS, ids=str)
def test_holders_are_counted_among_readable_documents(
    shared_engine: Engine, papers: Reader, corpus: AnalysedCorpus, groups: Groups
) -> None:
    readable = [document for document in corpus.documents if may_read(document.document.acl, groups)]
    before = shared_engine.request_count
    counts = papers.count_holders(ALL_PHRASES, groups)
    assert shared_engine.request_count == before + 1
    assert counts == [sum(phrase in document.phrases for document in readable) for phrase in ALL_PHRASES]
    assert papers.count_holders([], groups) == []


def test_many_phrases_are_counted_in_several_aggregations_and_requests(
    papers: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = papers.count_holders(ALL_PHRASES, frozenset())
    monkeypatch.setattr(query_builder, "MAX_FILTERS_PER_AGGREGATION", 3)
    monkeypatch.setattr(reader, "PHRASE_BATCH", 7)
    assert papers.count_holders(ALL_PHRASES, frozenset()) == expected


def test_holders_are_counted_as_they_are_after_a_change(engine: Engine, corpus: AnalysedCorpus) -> None:
    papers = write_index(engine, corpus)
    (phrase,) = ("web graph",)
    holders = [document for document in corpus.documents if phrase in document.phrases and not document.document.acl]
    (before,) = papers.count_holders([phrase], frozenset())
    closed = replace(holders[0], document=replace(holders[0].document, acl=("staff",)))
    engine.add_documents(papers.info.name, [closed])
    engine.delete_documents(papers.info.name, [holders[1].document.id])
    now = engine.open_reader(papers.info.name)
    assert before == len(holders) and now.count_holders([phrase], frozenset()) == [before - 2]
    assert now.count_holders([phrase]) == [sum(phrase in d.phrases for d in corpus.documents) - 1]
