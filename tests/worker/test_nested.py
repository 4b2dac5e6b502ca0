"""What a reader sees as the relevance of a phrase that a text holds without an edge to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.text.tokenizer import occurrences
from tests.worker.conftest import INDEX, ask
from tests.worker.planted import SHARED
from worker.answer.builder import Found, present
from worker.answer.comparison import Comparison
from worker.answer.near_duplicates import Folder
from worker.answer.nested_relevance import relevance_by_words
from worker.comparer import Comparer
from worker.explain.candidates import Candidates
from worker.explain.full_graph import full_graph
from worker.explain.neighbourhood import Pair
from worker.explain.pair_features import pose
from worker.explain.resolver import Limits, Resolved, resolve
from worker.explain.side import Side
from worker.methods import METHODS
from worker.methods.base import Ranked


def resolved(comparer: Comparer, a: str, b: str) -> tuple[Resolved, Resolved]:
    reader = comparer.engine.open(INDEX)
    one, other = resolve(reader, [Side.from_text(a), Side.from_text(b)], limits=Limits())
    return one, other


def compared(
    comparer: Comparer, a: Resolved, b: Resolved, method: str = "cda", common: Sequence[str] = ()
) -> Comparison:
    """``common``: that list as if the method had found it so."""
    pair = Pair(a, b, Candidates.of(a, b))
    question = comparer.question(INDEX, a.side, b.side, method=method, options={"cap": 0})
    graph = full_graph(pair, None)
    problem = pose(pair, graph, question.parameters)
    sorting = METHODS[method].sort(problem)
    if common:
        rows = np.array([problem.phrases.index(phrase) for phrase in common])
        sorting = replace(sorting, common=Ranked(rows, np.linspace(0.9, 0.5, len(rows))))
    found = Found(pair, graph, problem, sorting)
    return present(question, found, Folder(a.reader.model))


def unsegmented(side: Resolved, *gone: str) -> Resolved:
    """The same text, had these phrases stood only within longer ones: the words are there, the edges are not."""
    document = side.documents[0]
    kept = [(p, w) for p, w in zip(document.phrases, document.weights, strict=True) if p not in gone]
    salient = tuple(s for s in document.salient if s.phrase not in gone)
    phrases, weights = zip(*kept, strict=True)
    return Resolved(side.side, (replace(document, phrases=phrases, weights=weights, salient=salient),), side.reader)


def _segmented_where_it_stands(side: Resolved, edges: NDArray[np.float64], phrase: str) -> bool:
    stands = [bool(occurrences(phrase, document.tokens)) for document in side.documents]
    return any(stands) and stands == (edges > 0).tolist()


def entry_of(answer: Comparison, phrase: str) -> tuple[float, float]:
    found = next(entry for entry in answer.common if entry.phrase == phrase)
    assert found.kind == "shared" and found.count_a and found.count_b
    return found.relevance_a, found.relevance_b


@pytest.mark.parametrize("pair", [("a1", "b1"), ("a2", "b2"), ("search:honey", "search:oven")])
def test_by_words_and_by_the_graph_a_phrase_with_an_edge_has_the_same_relevance(
    local: Comparer, pair: tuple[str, str]
) -> None:
    a, b = resolved(local, *pair)
    candidates = Candidates.of(a, b)
    answer = ask(local, *pair, cap=0)
    row = {phrase: i for i, phrase in enumerate(candidates.phrases)}
    checked = 0
    for entry in (*answer.common, *answer.distinct_a, *answer.distinct_b):
        for side, edges, shown in (
            (a, candidates.edges_a, entry.relevance_a),
            (b, candidates.edges_b, entry.relevance_b),
        ):
            if entry.phrase in row and _segmented_where_it_stands(side, edges[row[entry.phrase]], entry.phrase):
                by_words = relevance_by_words(side, edges, candidates, row[entry.phrase])
                assert by_words == pytest.approx(shown, rel=0.05)
                checked += 1
    assert checked > 3


@pytest.mark.parametrize("method", ["cda", "containment"])
def test_a_phrase_that_stands_in_both_texts_is_relevant_to_both(local: Comparer, method: str) -> None:
    a, b = resolved(local, "a1", "text:The waggle dance. The waggle dance of it. A brood nest, a queen cell.")
    before = entry_of(compared(local, a, b, method), SHARED)
    without = unsegmented(b, SHARED, *SHARED.split())
    assert SHARED not in without.salience and without.wording.count(SHARED) == 2
    after = entry_of(compared(local, a, without, method), SHARED)
    assert after[0] == pytest.approx(before[0], rel=0.1)
    assert after[1] > 1, "it is what the text speaks of most"


def test_what_both_texts_say_leads_what_only_one_says(comparer: Comparer) -> None:
    a, b = resolved(comparer, "a1", "text:A dance at the nectar source, and again a dance at the brood nest.")
    (entry,) = compared(comparer, a, b, common=["waggle dance", "dance"]).common
    assert (entry.phrase, entry.kind, entry.also) == ("dance", "shared", ("waggle dance",))
    assert entry.score == 0.9, "where the other stood"
