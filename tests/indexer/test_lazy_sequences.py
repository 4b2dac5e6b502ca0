"""Tables of strings packed into one piece of memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.lazy_sequences import NewlineStringTable, pack_strings, unpack_strings

lines = st.text(st.characters(exclude_characters="\n"), max_size=5)


@given(st.lists(lines, max_size=6))
def test_a_string_table_equals_the_list_it_was_packed_from(strings: list[str]) -> None:
    packed = NewlineStringTable(pack_strings(strings))
    assert list(packed) == unpack_strings(pack_strings(strings)) == strings and len(packed) == len(strings)
    assert [packed[i] for i in range(len(strings))] == strings == packed[:]
    assert [packed[i - len(strings)] for i in range(len(strings))] == strings
    assert packed[1:4] == strings[1:4] and packed[::-2] == strings[::-2]
    with pytest.raises(IndexError):
        packed[len(strings)]
