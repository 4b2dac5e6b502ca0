"""Document summaries of a neighbourhood: degree and title in one stored value, decoded only when accessed."""

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

summaries = st.lists(
    st.tuples(st.floats(0, 1e9), st.text(st.characters(exclude_categories=["Cs"]), max_size=MAX_TITLE_LENGTH))
)


@settings(deadline=None)
@given(summaries)
def test_degrees_and_titles_survive_encoding(documents: list[tuple[float, str]]) -> None:
    encoded = [encode_summary(degree, title) for degree, title in documents]
    assert decode_summary_degrees(encoded).tolist() == [degree for degree, _ in documents]
    assert [decode_summary_title(summary) for summary in encoded] == [title for _, title in documents]


def test_a_lazy_sequence_computes_only_the_items_accessed() -> None:
    computed: list[int] = []

    def make_title(position: int) -> str:
        computed.append(position)
        return f"title {position}"

    titles = LazySequence(5, make_title)
    assert len(titles) == 5 and not computed
    assert (titles[1], titles[-1], titles[2:4]) == ("title 1", "title 4", ["title 2", "title 3"])
    assert computed == [1, 4, 2, 3]
    assert list(titles) == [f"title {position}" for position in range(5)]
