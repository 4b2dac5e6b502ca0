"""Garbage collection is off inside a block, and on again after it."""

from __future__ import annotations

import gc

import pytest

from indexer.runtime.memory import gc_paused


def test_garbage_collection_is_off_inside_the_block_and_on_again_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()


def test_an_inner_block_leaves_garbage_collection_off() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
