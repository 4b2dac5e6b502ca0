"""A pair in, an explanation out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worker.answer.comparison import Comparison
    from worker.comparer import Comparer, compare
    from worker.explain.side import Side

_HOMES = {
    "Comparer": "worker.comparer",
    "Comparison": "worker.answer.comparison",
    "Side": "worker.explain.side",
    "compare": "worker.comparer",
}
__all__ = ["Comparer", "Comparison", "Side", "compare"]


def __getattr__(name: str) -> Any:
    """Public names are loaded when first used: numpy and the engines cost time that other commands do not need."""
    if name not in _HOMES:
        raise AttributeError(f"module 'worker' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
