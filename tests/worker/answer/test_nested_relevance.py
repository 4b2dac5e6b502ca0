"""What a reader sees as the relevance of a phrase that a text holds without an edge to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from indexer.text.phrase_search import find_occurrences
from tests.support.corpora.planted_pairs import SHARED
from tests.worker.conftest import INDEX, ask
from worker.answer.builder import AnswerBuilder, SolvedPair
from worker.answer.comparison import Comparison
from worker.answer.nested_relevance import compute_word_relevance
from worker.comparer import Comparer
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import build_full_graph
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_pair_problem
from worker.explain.resolved_side import ResolvedSide
from worker.explain.resolver import SideLimits, resolve_sides
from worker.explain.side import Side
from worker.methods import METHODS
from worker.methods.base import RankedList


def resolved(comparer: Comparer, a: str, b: str) -> tuple[ResolvedSide, ResolvedSide]:
    reader = comparer.engine.open_reader(INDEX)
    one, other = resolve_sides(reader, [Side.from_text(a), Side.from_text(b)], limits=SideLimits())
    return one, other


def compared(
    comparer: Comparer, a: ResolvedSide, b: ResolvedSide, method: str = "cda", common: Sequence[str] = ()
) -> Comparison:
    """``common``: that list as if the method had found it so."""
    pair = SidePair(a, b, PairCandidates.from_sides(a, b))
    question = comparer.make_spec(INDEX, a.side, b.side, method=method, options={"cap": 0})
    graph = build_full_graph(pair, None)
    problem = build_pair_problem(pair, graph, question.parameters)
    sorting = METHODS[method].sort_phrases(problem)
    if common:
        rows = np.array([problem.phrases.index(phrase) for phrase in common])
        sorting = replace(sorting, common=RankedList(rows, np.linspace(0.9, 0.5, len(rows))))
    found = SolvedPair(pair, graph, problem, sorting)
    return AnswerBuilder(a.reader.model).build_answer(question, found)


def unsegmented(side: ResolvedSide, *gone: str) -> ResolvedSide:
    """The same text, had these phrases stood only within longer ones: the words are there, the edges are not."""
    document = side.documents[0]
    kept = [(p, w) for p, w in zip(document.phrases, document.weights, strict=True) if p not in gone]
    salient = tuple(s for s in document.salient if s.phrase not in gone)
    phrases, weights = zip(*kept, strict=True)
    return ResolvedSide(side.side, (replace(document, phrases=phrases, weights=weights, salient=salient),), side.reader)


def _segmented_where_it_stands(side: ResolvedSide, edges: NDArray[np.float64], phrase: str) -> bool:
    stands = [bool(find_occurrences(phrase, document.tokens)) for document in side.documents]
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
    candidates = PairCandidates.from_sides(a, b)
    answer = ask(local, *pair, cap=0)
    row = {phrase: i for i, phrase in enumerate(candidates.phrases)}
    checked = 0
    for entry in (*answer.common, *answer.distinct_a, *answer.distinct_b):
        for side, edges, shown in (
            (a, candidates.edges_a, entry.relevance_a),
            (b, candidates.edges_b, entry.relevance_b),
        ):
            if entry.phrase in row and _segmented_where_it_stands(side, edges[row[entry.phrase]], entry.phrase):
                by_words = compute_word_relevance(side, edges, candidates, row[entry.phrase])
                assert by_words == pytest.approx(shown, rel=0.05)
                checked += 1
    assert checked > 3


@pytest.mark.parametrize("method", ["cda", "containment"])
def test_a_phrase_that_stands_in_both_texts_is_relevant_to_both(local: Comparer, method: str) -> None:
    a, b = resolved(local, "a1", "text:The waggle dance. The waggle dance of it. A brood nest, a queen cell.")
    before = entry_of(compared(local, a, b, method), SHARED)
    without = unsegmented(b, SHARED, *SHARED.split())
    assert SHARED not in without.salience and without.text.count(SHARED) == 2
    after = entry_of(compared(local, a, without, method), SHARED)
    assert after[0] == pytest.approx(before[0], rel=0.1)
    assert after[1] > 1, "it is what the text speaks of most"


def test_what_both_texts_say_leads_what_only_one_says(comparer: Comparer) -> None:
    a, b = resolved(comparer, "a1", "text:A dance at the nectar source, and again a dance at the brood nest.")
    (entry,) = compared(comparer, a, b, common=["waggle dance", "dance"]).common
    assert (entry.phrase, entry.kind, entry.also) == ("dance", "shared", ("waggle dance",))
    assert entry.score == 0.9, "where the other stood"
