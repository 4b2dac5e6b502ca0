"""The summary of an answer: one plain sentence made from its phrases, without any language model.

Phrases are quoted, as they may be nouns, verbs or fragments, and may contain an "and".
"""

from __future__ import annotations

from collections.abc import Sequence

from worker.answer.comparison import Entry
from worker.explain.query_match import MatchedWord
from worker.explain.side import SideInfo

_MAX_PHRASES = 3


def write_summary(
    a: SideInfo,
    b: SideInfo,
    common: Sequence[Entry],
    distinct_a: Sequence[Entry],
    distinct_b: Sequence[Entry],
    matched: Sequence[MatchedWord] = (),
) -> str:
    """Write ``Both are about …; only A is about …; only B is about …`` with the first few phrases of each list.

    Implied phrases are listed as "by context". Without a common phrase the sentence names the words of the query that
    both contain; without any, it says so first, and names a side without distinct phrases, too.
    """
    if not (matched or common or distinct_a or distinct_b):
        return "Nothing stands out that they share or that sets them apart."
    name_a, name_b = _name_sides(a, b)
    distinct = ((name_a, distinct_a), (name_b, distinct_b))
    if common or matched:
        words = [word.word for word in matched]
        parts = [_describe_common(common[:_MAX_PHRASES]) if common else f"both contain {_join_quoted(words)}"]
        parts += [f"only {name} is about {_join_phrases(entries)}" for name, entries in distinct if entries]
        if not (distinct_a or distinct_b):
            parts.append("nothing was found that sets them apart")
    else:
        parts = ["they share nothing that stands out"]
        parts += [f"{name} is about {_join_phrases(entries)}" for name, entries in distinct if entries]
        parts += [f"nothing was found in {name}" for name, entries in distinct if not entries]
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _name_sides(a: SideInfo, b: SideInfo) -> tuple[str, str]:
    """Return names for both sides: their kinds, if these differ and are a query or a text, else A and B."""
    if a.kind == b.kind:
        return "A", "B"
    name_by_kind = {"query": "the query", "text": "the text"}
    return name_by_kind.get(a.kind, "A"), name_by_kind.get(b.kind, "B")


def _describe_common(entries: Sequence[Entry]) -> str:
    shared = [entry for entry in entries if entry.kind != "implied"]
    implied = [entry for entry in entries if entry.kind == "implied"]
    if not implied:
        return f"both are about {_join_phrases(shared)}"
    if not shared:
        return f"both are, by context, about {_join_phrases(implied)}"
    return f"both are about {_join_phrases(shared)} and, by context, {_join_phrases(implied)}"


def _join_phrases(entries: Sequence[Entry]) -> str:
    return _join_quoted([entry.display for entry in entries])


def _join_quoted(texts: Sequence[str]) -> str:
    names = [f"“{text}”" for text in texts[:_MAX_PHRASES]]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
