"""Features of a phrase by its places in a text: whether it is whole there, in the title, how early, and how often its
words are; and how specific these are in general."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexer.analysis.salience import EARLINESS_HALVED_AFTER
from indexer.engines.base import Engine
from tests.support.comparisons import INDEX, resolve_texts
from worker.explain.candidates import PairCandidates
from worker.explain.full_graph import build_full_graph
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_problem, measure_phrase_specificity
from worker.explain.phrase_places import PhrasePlaces, measure_places
from worker.explain.resolved_side import ResolvedSide
from worker.explain.split_phrases import SplitPhrases
from worker.solver.parameters import DEFAULT

TEXT = "The waggle dance tells of it. We saw a waggle dance arena. A queen cell was there."


def measure(side: ResolvedSide, *phrases: str) -> PhrasePlaces:
    return measure_places(side, SplitPhrases(phrases), np.array([side.text.count(phrase) for phrase in phrases]))


def resolve_text(engine: Engine, text: str) -> ResolvedSide:
    (side,) = resolve_texts(engine, f"text:{text}")
    return side


def test_the_share_of_whole_occurrences_is_that_outside_of_longer_phrases(indexed_embedded_engine: Engine) -> None:
    side = resolve_text(indexed_embedded_engine, TEXT)
    places = measure(side, "waggle dance", "waggle dance arena", "waggle", "zzyzx")
    assert places.whole_share.tolist() == [0.5, 1.0, 0.0, 0.0]


def test_earliness_is_that_of_the_first_whole_occurrence(indexed_embedded_engine: Engine) -> None:
    side = resolve_text(indexed_embedded_engine, f"{TEXT} {'It was so. ' * 60} A brood nest.")
    first, second, far = measure(side, "waggle dance", "queen cell", "brood nest").earliness
    words = side.encoded_text.words
    for phrase, earliness in (("waggle", first), ("queen", second), ("brood", far)):
        assert earliness == pytest.approx(EARLINESS_HALVED_AFTER / (EARLINESS_HALVED_AFTER + words.index(phrase)))
    assert 1 > first > second > 0.5 > far


def test_a_phrase_that_is_nowhere_whole_is_as_early_as_one_in_the_middle(indexed_embedded_engine: Engine) -> None:
    side = resolve_text(indexed_embedded_engine, TEXT)
    assert measure(side, "waggle", "zzyzx").earliness.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("other", ["ids:d0006,d0012", "text:It was so."])
def test_places_say_nothing_of_a_set_or_of_a_text_without_phrases(indexed_embedded_engine: Engine, other: str) -> None:
    (side,) = resolve_texts(indexed_embedded_engine, other)
    places = measure(side, "waggle dance", "queen cell")
    assert places.whole_share.tolist() == places.earliness.tolist() == [0.5, 0.5]
    assert places.never_whole.tolist() == places.title_share.tolist() == [0.0, 0.0]


def test_several_words_that_are_nowhere_a_phrase_are_told_from_those_that_are(indexed_embedded_engine: Engine) -> None:
    side = resolve_text(indexed_embedded_engine, TEXT)
    assert measure(side, "tell of", "waggle dance", "waggle", "zzyzx horn").never_whole.tolist() == [1, 0, 0, 0]


def test_the_most_frequent_word_that_is_no_function_word_counts(indexed_embedded_engine: Engine) -> None:
    side = resolve_text(indexed_embedded_engine, TEXT)
    assert measure(side, "dance of the queen", "queen cell@@arena", "zzyzx", "of").word_count.tolist() == [2, 1, 0, 0]


def test_the_words_of_a_title_count_by_their_share(indexed_embedded_engine: Engine) -> None:
    (side,) = resolve_texts(indexed_embedded_engine, "d0000")
    word = sorted(side.title_words)[0]
    assert measure(side, word, f"{word} zzyzx", "zzyzx").title_share.tolist() == [1.0, 0.5, 0.0]


def test_words_of_general_meaning_are_less_specific(indexed_embedded_engine: Engine) -> None:
    model = indexed_embedded_engine.open_reader(INDEX).model
    general, mixed, specific, unknown = measure_phrase_specificity(
        model, SplitPhrases(["main number", "main gelatin", "asparagus gelatin", "zzyzx"])
    )
    assert general < mixed < specific and general < unknown == 0.0
    german = replace(model, settings={**model.settings, "language": "de"})
    assert not measure_phrase_specificity(german, SplitPhrases(["main number"])).any()
    assert not len(measure_phrase_specificity(model, SplitPhrases([])))


def test_the_candidates_of_a_pair_have_the_places_of_their_side(indexed_embedded_engine: Engine) -> None:
    a, b = resolve_texts(indexed_embedded_engine, "d0000", f"text:{TEXT}")
    pair = SidePair(a, b, PairCandidates.from_sides(a, b))
    problem = build_problem([pair], build_full_graph(pair, None), DEFAULT)
    for side, features in ((a, problem.a), (b, problem.b)):
        expected = measure(side, *problem.phrases)
        assert (features.whole_share == expected.whole_share)[problem.is_candidate].all()
        assert (features.earliness == expected.earliness)[problem.is_candidate].all()
    assert not (problem.a.earliness == problem.b.earliness)[problem.is_candidate].all()


def test_a_set_of_one_document_has_the_places_of_its_text(indexed_embedded_engine: Engine) -> None:
    one, document = resolve_texts(indexed_embedded_engine, "ids:d0000", "d0000")
    phrases = list(document.text_phrases)[:3]
    assert phrases and list(one.text_phrases)[:3] == phrases
    assert (measure(one, *phrases).earliness == measure(document, *phrases).earliness).all()
