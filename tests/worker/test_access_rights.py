"""Callers see what their groups may read, and nothing of other documents."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from indexer.analysis.analyzer import Analyzer
from indexer.engines.base import Engine
from indexer.errors import BadSide, UnknownDocument
from tests.support.comparisons import INDEX, compare_sides
from tests.support.corpora.planted_pairs import IMPLIED, STAFF, make_pair_documents
from worker.comparer import Comparer
from worker.explain.side import Side

NO_GROUPS: frozenset[str] = frozenset()
STAFF_GROUPS = frozenset({STAFF})


@pytest.fixture
def restricted_comparer(writable_engine: Engine) -> Iterator[Comparer]:
    """A comparer on an index where a2 and most documents that imply the phrase are for staff only."""
    from dataclasses import replace

    documents = {document.id: document for document in make_pair_documents()}
    reader = writable_engine.open_reader(INDEX)
    holders = [d.document for d in reader.scan() if IMPLIED in d.phrases and d.document.id not in documents]
    hidden = [replace(document, acl=(STAFF,)) for document in (*holders[5:], documents["a2"])]
    writable_engine.add_documents(INDEX, Analyzer(reader.model).analyse_all(hidden))
    yield Comparer(writable_engine)


def collect_named_documents(comparer: Comparer, groups: frozenset[str] | None, full: bool = False) -> set[str]:
    """Return the ids of all documents that a complete answer names."""
    answer = compare_sides(comparer, "a1", "b1", groups=groups, cap=0, graph=True, candidates=True, full=full).to_dict()
    ids: set[str] = set()
    for entry in (*answer["common"], *answer["distinct_a"], *answer["distinct_b"]):
        ids.update(place["id"] for place in entry["evidence"])
        ids.update(bridge["id"] for bridge in entry.get("via", ()))
    ids.update(node["id"] for node in answer["graph"]["nodes"] if node["kind"] == "document")
    return ids


@pytest.mark.parametrize("full", [False, True])
def test_hidden_documents_appear_nowhere_in_an_answer(restricted_comparer: Comparer, full: bool) -> None:
    hidden = {d.document.id for d in restricted_comparer.engine.open_reader(INDEX).scan() if d.document.acl}
    assert collect_named_documents(restricted_comparer, STAFF_GROUPS, full) & hidden
    assert collect_named_documents(restricted_comparer, None, full) & hidden
    assert not collect_named_documents(restricted_comparer, NO_GROUPS, full) & hidden
    answer = compare_sides(restricted_comparer, "a1", "b1", groups=NO_GROUPS, cap=0, graph=True, full=full).to_dict()
    written = orjson.dumps(answer).decode()
    assert not any(f'"{id}"' in written for id in hidden)


def test_an_unreadable_side_is_unknown(restricted_comparer: Comparer) -> None:
    assert compare_sides(restricted_comparer, "a2", "b2", groups=STAFF_GROUPS).a.ids == ("a2",)
    for side in ("a2", "ids:b1,a2"):
        with pytest.raises(UnknownDocument, match="a2"):
            compare_sides(restricted_comparer, side, "b2", groups=NO_GROUPS)


def test_a_search_selects_only_readable_documents(restricted_comparer: Comparer) -> None:
    all_ids = compare_sides(restricted_comparer, "search:honey bee", "b2", groups=STAFF_GROUPS).a.ids
    readable = compare_sides(restricted_comparer, "search:honey bee", "b2", groups=NO_GROUPS).a.ids
    assert set(readable) < set(all_ids)
    with pytest.raises(BadSide, match="matches no document"):
        compare_sides(restricted_comparer, "search:source:planted date:2011-03-12", "b2", groups=NO_GROUPS)


def test_the_answer_id_depends_on_the_groups(restricted_comparer: Comparer) -> None:
    ids = {
        compare_sides(restricted_comparer, Side.from_id("a1"), Side.from_id("b1"), groups=groups).id
        for groups in (None, NO_GROUPS, STAFF_GROUPS)
    }
    assert len(ids) == 3
