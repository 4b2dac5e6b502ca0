"""The summary of an answer: one plain sentence made from its phrases, without any language model.

Phrases are quoted, as they may be nouns, verbs or fragments, and may contain an "and".
"""

from __future__ import annotations

from collections.abc import Sequence

from worker.answer.comparison import NOT_IN_BOTH, Entry
from worker.explain.query_match import QueryMatch
from worker.explain.side import SideInfo

_MAX_PHRASES, _MAX_WORDS = 3, 8


def write_summary(
    a: SideInfo,
    b: SideInfo,
    common: Sequence[Entry],
    distinct_a: Sequence[Entry],
    distinct_b: Sequence[Entry],
    match: QueryMatch | None = None,
) -> str:
    """Write ``Both are about …; only A is about …; only B is about …`` with the first few phrases of each list.

    Implied phrases are listed as "by context". Without a common phrase the sentence says so first, and names a side
    without distinct phrases, too. If one side is a query, ``match`` says which of its words the other contains; that
    the query alone is about something is never said, as the other side may say it in other words.
    """
    if match is not None:
        return _write_query_summary(match, *((b, common, distinct_b) if a.kind == "query" else (a, common, distinct_a)))
    if not (common or distinct_a or distinct_b):
        return "Nothing stands out that they share or that sets them apart."
    name_a, name_b = _name_sides(a, b)
    distinct = ((name_a, distinct_a), (name_b, distinct_b))
    if common:
        parts = [_describe_common(common[:_MAX_PHRASES])]
        parts += [f"only {name} is about {_join_phrases(entries)}" for name, entries in distinct if entries]
        if not (distinct_a or distinct_b):
            parts.append("nothing was found that sets them apart")
    else:
        parts = ["they share nothing that stands out"]
        parts += [f"{name} is about {_join_phrases(entries)}" for name, entries in distinct if entries]
        parts += [f"nothing was found in {name}" for name, entries in distinct if not entries]
    return _write_sentence(parts)


def _write_query_summary(match: QueryMatch, side: SideInfo, common: Sequence[Entry], distinct: Sequence[Entry]) -> str:
    """Write what a query and another side, which has the ``distinct`` phrases, have to do with each other."""
    name = {"document": "the document", "text": "the text"}.get(side.kind, "the set")
    implied = [entry for entry in common if entry.kind in NOT_IN_BOTH]
    parts = []
    if match.matched:
        parts.append(f"both contain {_join_quoted([word.word for word in match.matched], _MAX_WORDS)}")
    if implied:
        verb = "is" if len(implied) == 1 else "are"
        parts.append(f"close to the query {verb} {_join_phrases(implied)} in {name}")
    if not parts:
        parts.append(f"nothing stands out that {name} shares with the query")
    if distinct:
        parts.append(f"{name} is{' also' if match.matched or implied else ''} about {_join_phrases(distinct)}")
    if match.lacks and (match.matched or implied):
        parts.append(f"{name} does not contain {_join_quoted(match.lacks, _MAX_WORDS)}")
    return _write_sentence(parts)


def _write_sentence(parts: Sequence[str]) -> str:
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def _name_sides(a: SideInfo, b: SideInfo) -> tuple[str, str]:
    """Return names for both sides: their kinds, if these differ and are a query or a text, else A and B."""
    if a.kind == b.kind:
        return "A", "B"
    name_by_kind = {"query": "the query", "text": "the text"}
    return name_by_kind.get(a.kind, "A"), name_by_kind.get(b.kind, "B")


def _describe_common(entries: Sequence[Entry]) -> str:
    shared = [entry for entry in entries if entry.kind not in NOT_IN_BOTH]
    implied = [entry for entry in entries if entry.kind in NOT_IN_BOTH]
    if not implied:
        return f"both are about {_join_phrases(shared)}"
    if not shared:
        return f"both are, by context, about {_join_phrases(implied)}"
    return f"both are about {_join_phrases(shared)} and, by context, {_join_phrases(implied)}"


def _join_phrases(entries: Sequence[Entry]) -> str:
    return _join_quoted([entry.display for entry in entries])


def _join_quoted(texts: Sequence[str], max_count: int = _MAX_PHRASES) -> str:
    names = [f"“{text}”" for text in texts[:max_count]]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
