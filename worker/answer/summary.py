"""One plain sentence from the phrases, without any language model.

Phrases are quoted: they may be nouns, verbs or scraps of a sentence, and hold an "and" of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from worker.answer.comparison import Entry, SideInfo

_SHOWN = 3


def summarise(
    a: SideInfo, b: SideInfo, common: Sequence[Entry], distinct_a: Sequence[Entry], distinct_b: Sequence[Entry]
) -> str:
    """``Both are about …; only A is about …; only B is about …``, the first few of each list.

    What one of the texts lacks, and only its context implies, is told apart. Without a common phrase it says so
    first; a side of which there is nothing to say is named only then.
    """
    if not (common or distinct_a or distinct_b):
        return "Nothing stands out that they share or that sets them apart."
    name_a, name_b = _names(a, b)
    own = ((name_a, distinct_a), (name_b, distinct_b))
    if common:
        parts = [_both(common[:_SHOWN])]
        parts += [f"only {name} is about {_listing(entries)}" for name, entries in own if entries]
        if not (distinct_a or distinct_b):
            parts.append("nothing was found that sets them apart")
    else:
        parts = ["they share nothing that stands out"]
        parts += [f"{name} is about {_listing(entries)}" for name, entries in own if entries]
        parts += [f"nothing was found in {name}" for name, entries in own if not entries]
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _names(a: SideInfo, b: SideInfo) -> tuple[str, str]:
    """What the sides are called: by what they are, where that tells them apart."""
    if a.kind == b.kind:
        return "A", "B"
    named = {"query": "the query", "text": "the text"}
    return named.get(a.kind, "A"), named.get(b.kind, "B")


def _both(entries: Sequence[Entry]) -> str:
    held = [entry for entry in entries if entry.kind != "implied"]
    implied = [entry for entry in entries if entry.kind == "implied"]
    if not implied:
        return f"both are about {_listing(held)}"
    if not held:
        return f"both are, by context, about {_listing(implied)}"
    return f"both are about {_listing(held)} and, by context, {_listing(implied)}"


def _listing(entries: Sequence[Entry]) -> str:
    names = [f"“{entry.display}”" for entry in entries[:_SHOWN]]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
