"""Callers see what their groups may read, and nothing of the rest shows through."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from indexer.analysis.analyzer import Analyzer
from indexer.engines.base import Engine
from indexer.errors import BadSide, UnknownDocument
from tests.support.corpora.planted_pairs import IMPLIED, STAFF, planted
from tests.worker.conftest import INDEX, ask
from worker.comparer import Comparer
from worker.explain.side import Side

NOBODY: frozenset[str] = frozenset()
OURS = frozenset({STAFF})


@pytest.fixture
def guarded(copied: Engine) -> Iterator[Comparer]:
    """All of the field's documents that imply the phrase, but a few, are for staff only; so is a2."""
    from dataclasses import replace

    documents = {document.id: document for document in planted()}
    reader = copied.open_reader(INDEX)
    holders = [d.document for d in reader.scan() if IMPLIED in d.phrases and d.document.id not in documents]
    hidden = [replace(document, acl=(STAFF,)) for document in (*holders[5:], documents["a2"])]
    copied.add_documents(INDEX, Analyzer(reader.model).analyse_all(hidden))
    yield Comparer(copied)


def named(comparer: Comparer, groups: frozenset[str] | None, full: bool = False) -> set[str]:
    """Every document that an answer with everything in it names."""
    answer = ask(comparer, "a1", "b1", groups=groups, cap=0, graph=True, candidates=True, full=full).to_dict()
    found: set[str] = set()
    for entry in (*answer["common"], *answer["distinct_a"], *answer["distinct_b"]):
        found.update(place["id"] for place in entry["evidence"])
        found.update(bridge["id"] for bridge in entry.get("via", ()))
    found.update(node["id"] for node in answer["graph"]["nodes"] if node["kind"] == "document")
    return found


@pytest.mark.parametrize("full", [False, True])
def test_hidden_documents_appear_nowhere_in_an_answer(guarded: Comparer, full: bool) -> None:
    hidden = {d.document.id for d in guarded.engine.open_reader(INDEX).scan() if d.document.acl}
    assert named(guarded, OURS, full) & hidden
    assert named(guarded, None, full) & hidden
    assert not named(guarded, NOBODY, full) & hidden
    answer = ask(guarded, "a1", "b1", groups=NOBODY, cap=0, graph=True, full=full).to_dict()
    written = orjson.dumps(answer).decode()
    assert not any(f'"{id}"' in written for id in hidden)


def test_a_hidden_side_is_like_one_that_is_not_there(guarded: Comparer) -> None:
    assert ask(guarded, "a2", "b2", groups=OURS).a.ids == ("a2",)
    for side in ("a2", "ids:b1,a2"):
        with pytest.raises(UnknownDocument, match="a2"):
            ask(guarded, side, "b2", groups=NOBODY)


def test_a_search_selects_only_what_may_be_read(guarded: Comparer) -> None:
    everything = ask(guarded, "search:honey bee", "b2", groups=OURS).a.ids
    some = ask(guarded, "search:honey bee", "b2", groups=NOBODY).a.ids
    assert set(some) < set(everything)
    with pytest.raises(BadSide, match="selects no document"):
        ask(guarded, "search:source:planted date:2011-03-12", "b2", groups=NOBODY)


def test_an_answer_for_some_groups_has_another_id(guarded: Comparer) -> None:
    ids = {ask(guarded, Side.from_id("a1"), Side.from_id("b1"), groups=groups).id for groups in (None, NOBODY, OURS)}
    assert len(ids) == 3
