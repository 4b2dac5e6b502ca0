"""Garbage is collected after a comparison, not during it."""

from __future__ import annotations

import gc

import pytest

from indexer.runtime.memory import gc_paused


def test_collection_is_off_meanwhile_and_on_again_whatever_happens() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()


def test_who_found_it_off_leaves_it_to_whoever_turned_it_off() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
