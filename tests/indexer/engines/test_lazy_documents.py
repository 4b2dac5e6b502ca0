"""Salient phrases as they are stored: objects when looked at, and the same ones."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import SalientPhrase
from indexer.engines.lazy_documents import LazySalientPhrases, find_first_spans, get_phrase_salience

places = st.lists(st.tuples(st.sampled_from(["title", "text"]), st.integers(0, 99), st.integers(0, 99)), max_size=3)
found = st.builds(SalientPhrase, st.text("ab ", min_size=1), st.floats(0, 1), st.integers(1, 9), places.map(tuple))
some = st.lists(found, max_size=4, unique_by=lambda one: one.phrase).map(tuple)


def stored(salient: tuple[SalientPhrase, ...]) -> LazySalientPhrases:
    return LazySalientPhrases(
        [[one.phrase, one.salience, one.count, [list(place) for place in one.spans]] for one in salient]
    )


@settings(deadline=None)
@given(some)
def test_stored_ones_are_what_was_stored(salient: tuple[SalientPhrase, ...]) -> None:
    read = stored(salient)
    assert read == salient and salient == read and list(read) == list(salient)
    assert (len(read), bool(read), read[1:3]) == (len(salient), bool(salient), salient[1:3])
    assert [read[i] for i in range(len(salient))] == list(salient)
    assert read != (*salient, SalientPhrase("c", 1.0, 1)) and read != "ab"


@settings(deadline=None)
@given(some, st.text("ab ", min_size=1))
def test_phrases_and_places_are_told_without_making_objects(salient: tuple[SalientPhrase, ...], other: str) -> None:
    read = stored(salient)
    assert (
        list(get_phrase_salience(read))
        == list(get_phrase_salience(salient))
        == [(one.phrase, one.salience) for one in salient]
    )
    for phrase in (other, *[one.phrase for one in salient]):
        assert find_first_spans(read, phrase) == find_first_spans(salient, phrase)
