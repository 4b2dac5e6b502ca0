"""What a neighbourhood shows of a document travels in one value, and is read only as far as it is wanted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.engines.elasticsearch.mappings import (
    MAX_TITLE_LENGTH,
    decode_summary_degrees,
    decode_summary_title,
    encode_summary,
)
from indexer.lazy_sequences import LazySequence

cards = st.lists(
    st.tuples(st.floats(0, 1e9), st.text(st.characters(exclude_categories=["Cs"]), max_size=MAX_TITLE_LENGTH))
)


@settings(deadline=None)
@given(cards)
def test_degrees_and_titles_come_back_as_they_were(documents: list[tuple[float, str]]) -> None:
    packed = [encode_summary(degree, title) for degree, title in documents]
    assert decode_summary_degrees(packed).tolist() == [degree for degree, _ in documents]
    assert [decode_summary_title(card) for card in packed] == [title for _, title in documents]


def test_only_what_is_looked_at_is_read() -> None:
    read: list[int] = []

    def name(place: int) -> str:
        read.append(place)
        return f"title {place}"

    titles = LazySequence(5, name)
    assert len(titles) == 5 and not read
    assert (titles[1], titles[-1], titles[2:4]) == ("title 1", "title 4", ["title 2", "title 3"])
    assert read == [1, 4, 2, 3]
    assert list(titles) == [f"title {place}" for place in range(5)]
