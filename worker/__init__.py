"""Comparison of two sides of an index, and the jobs and services around it. The public names are in ``__all__``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worker.answer.comparison import Comparison
    from worker.comparer import Comparer, compare
    from worker.explain.side import Side

_MODULE_BY_NAME = {
    "Comparer": "worker.comparer",
    "Comparison": "worker.answer.comparison",
    "Side": "worker.explain.side",
    "compare": "worker.comparer",
}
__all__ = ["Comparer", "Comparison", "Side", "compare"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: numpy and the engines take time that other commands do not need."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'worker' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULE_BY_NAME[name]), name)
