"""Documents and epochs change: an answer is made from one epoch and from the documents as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from indexer.analysis.analyzer import Analyzer
from indexer.documents import AnalysedDocument, Document
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import Groups, Neighbourhood, NeighbourhoodRequest, SearchRequest, SearchResult
from indexer.errors import EpochChanged, UnknownDocument, UnknownIndex
from tests.support.answer_shape import check_answer
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, ONLY_B, SHARED
from tests.support.index_copies import copy_index
from worker.comparer import Comparer

pytestmark = pytest.mark.slow


def add_documents(engine: Engine, *documents: Document) -> None:
    engine.add_documents(INDEX, Analyzer(engine.open_reader(INDEX).model).analyse_all(documents))


def rebuild_index(engine: Engine) -> None:
    """Write the same documents as epoch ``2-next``."""
    copy_index(engine.open_reader(INDEX), engine, epoch="2-next")


class InterruptedReader(Reader):
    """A reader that calls a function before its second request."""

    def __init__(self, reader: Reader, interrupt: Callable[[], None]) -> None:
        self._reader, self._interrupt, self._request_count = reader, interrupt, 0
        self.info, self.model = reader.info, reader.model

    def _count_request(self) -> Reader:
        self._request_count += 1
        if self._request_count == 2:
            self._interrupt()
        return self._reader

    def fetch(self, ids, groups: Groups = None) -> list[AnalysedDocument | None]:  # type: ignore[no-untyped-def]
        return self._count_request().fetch(ids, groups)

    def scan(self, groups: Groups = None):  # type: ignore[no-untyped-def]
        return self._count_request().scan(groups)

    def readable_ids(self, groups: Groups, limit: int) -> list[str]:
        return self._count_request().readable_ids(groups, limit)

    def facet_names(self, groups: Groups = None) -> list[str]:
        return self._count_request().facet_names(groups)

    def count_holders(self, phrases, groups: Groups = None) -> list[int]:  # type: ignore[no-untyped-def]
        return self._count_request().count_holders(phrases, groups)

    def search_page(self, request: SearchRequest) -> SearchResult:
        return self._count_request().search_page(request)

    def find_neighbourhood(self, request: NeighbourhoodRequest) -> Neighbourhood:
        return self._count_request().find_neighbourhood(request)


@pytest.mark.parametrize("b", ["b1", "search:nectar", "query:waggle dance", "text:waggle dance"])
def test_an_epoch_that_changes_between_the_requests_gives_an_answer_of_the_new_one(
    writable_engine: Engine, monkeypatch: pytest.MonkeyPatch, b: str
) -> None:
    comparer = Comparer(writable_engine)
    readers: list[Reader] = [
        InterruptedReader(writable_engine.open_reader(INDEX), lambda: rebuild_index(writable_engine))
    ]
    open_reader = type(writable_engine).open_reader
    monkeypatch.setattr(
        type(writable_engine),
        "open_reader",
        lambda engine, index: readers.pop() if readers else open_reader(engine, index),
    )
    answer = compare_sides(comparer, "a1", b)
    assert answer.epoch == "2-next"
    assert answer.common


def test_an_answer_names_the_epoch_it_was_made_from(writable_engine: Engine) -> None:
    comparer = Comparer(writable_engine)
    before = compare_sides(comparer, "a1", "b1")
    rebuild_index(writable_engine)
    after = compare_sides(comparer, "a1", "b1")
    assert (before.epoch != "2-next", after.epoch) == (True, "2-next")
    assert before.id != after.id
    assert before.common == after.common


def test_an_index_that_keeps_changing_is_refused(writable_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(*_: object) -> None:
        raise EpochChanged("index 'papers' was rebuilt", fix="open it again")

    comparer = Comparer(writable_engine)
    monkeypatch.setattr(comparer, "_compare_pair", changed)
    with pytest.raises(EpochChanged):
        compare_sides(comparer, "a1", "b1")


def test_a_deleted_index_is_unknown_even_to_a_comparer_that_had_it_open(writable_engine: Engine) -> None:
    comparer = Comparer(writable_engine)
    compare_sides(comparer, "a1", "b1")
    copy_index(writable_engine.open_reader(INDEX), writable_engine, name="another")
    writable_engine.delete_index(INDEX)
    for sides in (("a1", "b1"), ("text:waggle dance", "text:rye flour")):
        with pytest.raises(UnknownIndex):
            compare_sides(comparer, *sides)
    assert compare_sides(comparer, "a1", "b1", index="another").common


def test_a_document_added_later_is_compared_like_an_earlier_one(
    writable_engine: Engine, documents: dict[str, Document]
) -> None:
    comparer = Comparer(writable_engine)
    late = replace(documents["b1"], id="late")
    add_documents(writable_engine, late)
    answer = compare_sides(comparer, "a1", "late", cap=0)
    check_answer(answer, {**documents, "late": late})
    assert {SHARED, IMPLIED} <= {entry.phrase for entry in answer.common}
    twin = compare_sides(comparer, "late", "b1", cap=0)
    assert not twin.distinct_a and not twin.distinct_b
    entry = next(entry for entry in twin.common if entry.phrase == ONLY_B)
    assert entry.relevance_a == pytest.approx(entry.relevance_b, rel=0.05)


def test_an_added_document_can_be_a_bridge(writable_engine: Engine, documents: dict[str, Document]) -> None:
    bridge = Document("bridge", "A bridge", f"{IMPLIED}. {SHARED}. Nectar source. Brood nest. Queen cell. " * 4)
    add_documents(writable_engine, bridge)
    answer = compare_sides(Comparer(writable_engine), "a1", "b1", cap=0)
    entry = next(entry for entry in answer.common if entry.phrase == IMPLIED)
    assert entry.reasons and entry.reasons.bridges[0].id == "bridge"
    check_answer(answer, {**documents, "bridge": bridge})


def test_a_replaced_document_is_compared_as_it_is_now(writable_engine: Engine, documents: dict[str, Document]) -> None:
    comparer = Comparer(writable_engine)
    before = compare_sides(comparer, "a1", "b1")
    changed = replace(documents["b1"], title="On bread", text="Rye flour. Oven stone. Rye flour again. Oak bark.")
    add_documents(writable_engine, changed)
    answer = compare_sides(comparer, "a1", "b1", cap=0)
    check_answer(answer, {**documents, "b1": changed})
    assert SHARED not in {entry.phrase for entry in answer.common}
    assert {"rye flour", "oven stone"} <= {entry.phrase for entry in answer.distinct_b}
    assert answer.id != before.id


def test_a_deleted_document_is_gone(writable_engine: Engine) -> None:
    comparer = Comparer(writable_engine)
    named = [
        bridge.id
        for entry in compare_sides(comparer, "a1", "b1", cap=0).common
        if entry.reasons
        for bridge in entry.reasons.bridges
    ]
    writable_engine.delete_documents(INDEX, ["b1", *named])
    with pytest.raises(UnknownDocument, match="b1"):
        compare_sides(comparer, "a1", "b1")
    answer = compare_sides(comparer, "a1", "d0000", graph=True, cap=0)
    assert answer.graph
    assert not {"b1", *named} & {node.get("id") for node in answer.graph["nodes"]}


def test_the_full_graph_follows_additions_and_deletions(
    writable_engine: Engine, documents: dict[str, Document]
) -> None:
    comparer = Comparer(writable_engine)
    before = compare_sides(comparer, "a1", "b1", full=True).stats.documents
    add_documents(writable_engine, replace(documents["b1"], id="late"))
    answer = compare_sides(comparer, "a1", "late", full=True)
    assert answer.stats.documents == before + 1
    writable_engine.delete_documents(INDEX, ["late", "b1"])
    assert compare_sides(comparer, "a1", "b2", full=True).stats.documents == before - 1
