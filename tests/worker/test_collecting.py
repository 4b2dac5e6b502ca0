"""Garbage is collected after a comparison, not during it."""

from __future__ import annotations

import gc

import pytest

from indexer.runtime.collecting import collecting_later


def test_collection_is_off_meanwhile_and_on_again_whatever_happens() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), collecting_later():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()


def test_who_found_it_off_leaves_it_to_whoever_turned_it_off() -> None:
    with collecting_later():
        with collecting_later():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
