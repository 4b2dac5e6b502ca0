"""Phrases that continue what somebody is typing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from indexer.documents import PAIR
from indexer.engines.base import Groups, NeighbourhoodRequest
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.spans import Spans
from worker.index_catalog import Library
from worker.phrasing.display_form import Speller, usual_spelling

_CONSIDERED = 2000
_LOOKED_FOR = 500
"""Phrases looked for in documents, for a caller who may not read all of them ..."""
_AT_ONCE = 100
"""... and in one request."""
_HOLDERS = 200
"""Documents such a request brings."""


def suggestions(library: Library, index: str, typed: str, size: int, groups: Groups = None) -> list[dict[str, Any]]:
    """The most frequent phrases in which a word begins where ``typed`` does.

    A caller with limited rights is offered phrases of documents they may read, in their spelling, nothing else.
    """
    model = library.current(index).model
    prefix = " ".join(typed.lower().split())
    numbers = _continuing(model, prefix)
    numbers.sort(key=lambda number: (-int(model.frequency[number]), model.phrases[number]))
    if groups is None:
        shown = {model.phrases[number]: usual_spelling(model.phrases[number], model) for number in numbers[:size]}
    else:
        shown = _readable(
            library, index, [model.phrases[number] for number in numbers[:_LOOKED_FOR]], prefix, size, groups
        )
    return [
        {"phrase": phrase, "display": written, "documents": int(model.frequency[model.phrase_ids[phrase]])}
        for phrase, written in shown.items()
    ]


def _continuing(model: PhraseModel, prefix: str) -> list[int]:
    starts, numbers = _word_starts(_ByIdentity(model))
    at = bisect_left(starts, prefix)
    found: dict[int, None] = {}
    for place in range(at, min(at + _CONSIDERED, len(starts))):
        if not starts[place].startswith(prefix):
            break
        found[numbers[place]] = None
    return list(found)


class _ByIdentity:
    """A model as a key: two are the same only if they are one object."""

    def __init__(self, model: PhraseModel) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.model is self.model


@lru_cache(maxsize=8)
def _word_starts(key: _ByIdentity) -> tuple[list[str], list[int]]:
    """Every phrase (and its usual spelling) from each of its words on, sorted; and whose it is."""
    model = key.model
    rows: set[tuple[str, int]] = set()
    for number, phrase in enumerate(model.phrases):
        if PAIR in phrase:
            continue
        for written in (phrase, model.displays[number].lower()):
            words = written.split()
            rows.update((" ".join(words[at:]), number) for at in range(len(words)))
    ordered = sorted(rows)
    return [row[0] for row in ordered], [row[1] for row in ordered]


def _readable(
    library: Library, index: str, phrases: Sequence[str], prefix: str, size: int, groups: Groups
) -> dict[str, str]:
    """The first ``size`` phrases that stand in a document these groups may read, and how they stand there."""
    shown: dict[str, str] = {}
    for start in range(0, len(phrases), _AT_ONCE):
        some = phrases[start : start + _AT_ONCE]
        holders = _holders(library, index, some, groups)
        documents = library.fetch(index, sorted(set(holders.values())), groups)
        model = library.current(index).model
        for phrase in some:
            holder = documents.get(holders.get(phrase, ""))
            written = Speller([Spans(holder)], model, groups).display(phrase) if holder is not None else ""
            if written and _continues(prefix, phrase, written):
                shown[phrase] = written
            if len(shown) == size:
                return shown
    return shown


def _holders(library: Library, index: str, phrases: Sequence[str], groups: Groups) -> dict[str, str]:
    """A readable document for each phrase that has one. Each request leaves out the phrases found before."""
    found: dict[str, str] = {}
    wanted = dict.fromkeys(phrases, 1.0)
    while wanted:
        request = NeighbourhoodRequest(wanted, wanted, (), _HOLDERS, groups)
        reached = library.read(index, lambda reader, asked=request: reader.neighbourhood(asked))  # type: ignore[misc]
        for row, column in zip(reached.rows.tolist(), reached.columns.tolist(), strict=True):
            found.setdefault(reached.phrases[row], reached.ids[column])
        if len(reached.ids) < _HOLDERS:
            break
        wanted = {phrase: 1.0 for phrase in wanted if phrase not in found}
    return found


def _continues(prefix: str, phrase: str, written: str) -> bool:
    """Whether a word of the phrase, or of its spelling, begins where the prefix does."""
    return any(f" {words}".find(f" {prefix}") >= 0 for words in (phrase, written.lower()))
