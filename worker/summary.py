"""One plain sentence from the phrases, without any language model."""

from __future__ import annotations

from collections.abc import Sequence

from worker.answer import Entry, SideInfo

_SHOWN = 3
_NAMES = {"document": "{}", "set": "{}", "query": "the query", "text": "the text"}


def summarise(
    a: SideInfo, b: SideInfo, common: Sequence[Entry], distinct_a: Sequence[Entry], distinct_b: Sequence[Entry]
) -> str:
    """``Both are about …; only A …; only B …``; a part without phrases is left out."""
    parts = []
    if common:
        parts.append(f"Both are about {_listing(common)}")
    for side, letter, entries in ((a, "A", distinct_a), (b, "B", distinct_b)):
        if entries:
            parts.append(f"only {_NAMES[side.kind].format(letter)} is about {_listing(entries)}")
    if not parts:
        return "Nothing was found that they share or that sets them apart."
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _listing(entries: Sequence[Entry]) -> str:
    names = [entry.display for entry in entries[:_SHOWN]]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
