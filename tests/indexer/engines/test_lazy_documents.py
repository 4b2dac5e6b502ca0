"""Salient phrases as stored: objects are built when accessed, and equal the originals."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import SalientPhrase
from indexer.engines.lazy_documents import LazySalientPhrases, find_first_spans, get_phrase_salience

spans = st.lists(st.tuples(st.sampled_from(["title", "text"]), st.integers(0, 99), st.integers(0, 99)), max_size=3)
salient_phrases = st.builds(
    SalientPhrase, st.text("ab ", min_size=1), st.floats(0, 1), st.integers(1, 9), spans.map(tuple)
)
phrase_lists = st.lists(salient_phrases, max_size=4, unique_by=lambda phrase: phrase.phrase).map(tuple)


def store_phrases(salient: tuple[SalientPhrase, ...]) -> LazySalientPhrases:
    return LazySalientPhrases(
        [[phrase.phrase, phrase.salience, phrase.count, [list(span) for span in phrase.spans]] for phrase in salient]
    )


@settings(deadline=None)
@given(phrase_lists)
def test_stored_salient_phrases_equal_the_originals(salient: tuple[SalientPhrase, ...]) -> None:
    lazy = store_phrases(salient)
    assert lazy == salient and salient == lazy and list(lazy) == list(salient)
    assert (len(lazy), bool(lazy), lazy[1:3]) == (len(salient), bool(salient), salient[1:3])
    assert [lazy[i] for i in range(len(salient))] == list(salient)
    assert lazy != (*salient, SalientPhrase("c", 1.0, 1)) and lazy != "ab"


@settings(deadline=None)
@given(phrase_lists, st.text("ab ", min_size=1))
def test_salience_and_spans_are_read_without_building_objects(salient: tuple[SalientPhrase, ...], other: str) -> None:
    lazy = store_phrases(salient)
    assert (
        list(get_phrase_salience(lazy))
        == list(get_phrase_salience(salient))
        == [(phrase.phrase, phrase.salience) for phrase in salient]
    )
    for phrase in (other, *[phrase.phrase for phrase in salient]):
        assert find_first_spans(lazy, phrase) == find_first_spans(salient, phrase)
