"""The whole name that a phrase is a piece of: "Hughes" in a text about Mark Hughes, "bi" of "bi-level".

Told by hyphens and capitals around the first mentions. What never stands by itself is shown as the whole it always
stands in; a word that does, with the words before it at its first mention, where a text gives a name in full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from indexer.documents import PAIR
from indexer.text.tokenizer import FIELD_START, SEPARATORS, Mark, split
from worker.explain.text.spans import Spans
from worker.phrasing.compounds import spaced

_MENTIONS = 3
"""Looked at, in the text: a title is often all in capitals."""
_AROUND = 80
"""Characters on either side of a mention."""
_LONGEST = 5
"""Words of a name; more capitals in a row are a heading."""
_DATES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december""".split()
)
"""Capitals that stand beside names and belong to none ("On Monday IBM said"); "May" may be a person."""
_POSSESSIVE = ("'s", "’s", "'", "’")

Run = tuple[int, int]
"""Where it begins and ends in the text."""


class Called(NamedTuple):
    """The whole that a phrase is a piece of."""

    display: str
    """As a text writes it."""
    lemmas: str
    """What it is, to be compared with phrases."""


class Names:
    """Of the phrases of one document."""

    def __init__(self, spans: Spans, is_name: Callable[[str], bool]) -> None:
        """``is_name``: whether a word is usually written with a capital."""
        self._text = spans.document.document.text
        self._spans = spans
        self._is_name = is_name
        self._wholes: dict[str, Called | None] = {}

    def whole(self, phrase: str) -> Called | None:
        """None where the phrase is no piece of a name. Remembered, as every hit of a page asks for the phrases of the
        query."""
        if phrase not in self._wholes:
            self._wholes[phrase] = self._whole(phrase)
        return self._wholes[phrase]

    @cached_property
    def body(self) -> str:
        """Its tokens as compounds are looked for in them; a title that the text begins with is not counted twice."""
        tokens, title = self._spans.document.tokens, self._spans.document.document.title
        if title and self._text.lstrip().startswith(title):
            tokens = "".join(tokens.split(None, own)[own:]) if (own := len(split(title)[0])) else tokens
        return spaced(tokens)

    def written(self, words: str) -> str:
        """A sequence of its lemmas as the text writes it, or else the title; with as few capitals as there are."""
        found = self._spans.of(words, _MENTIONS)
        title = self._spans.document.document.title
        in_text = [self._written((start, end)) for field, start, end in found if field == "text"]
        return min(in_text or [title[start:end] for _, start, end in found], key=plainness, default=words)

    def _whole(self, phrase: str) -> Called | None:
        if PAIR in phrase or self._text.isupper():
            return None
        found = self._spans.of(phrase, _MENTIONS)
        mentions = [(start, end) for field, start, end in found if field == "text"][:_MENTIONS]
        if not mentions or self._run(*mentions[0]) == mentions[0]:
            return None
        runs = [self._run(*mention) for mention in mentions]
        in_all = all(run != mention for run, mention in zip(runs, mentions, strict=True))
        if in_all and len({self._written(run).casefold() for run in runs}) == 1:
            return self._called(runs[0])
        (begin, _), (start, end) = runs[0], mentions[0]
        named = begin < start and " " not in phrase and self._text[begin:start][-1].isspace()
        return self._called((begin, end)) if named else None

    def _called(self, run: Run) -> Called:
        return Called(self._written(run), self._spans.lemmas(*run))

    def _run(self, start: int, end: int) -> Run:
        """The compound or name around a mention, or the mention itself."""
        if (
            self._text[start:end].islower()
            and (self._text[max(0, start - 1) : start] + self._text[end : end + 1]).isspace()
        ):
            return start, end  # most are told at a glance
        own, separators = split(self._text[start:end])
        begin, before = self._before(start)
        stop, after = self._after(end, own[-1][0].isupper())
        if len(own) > 1 and separators[-2].isspace() and not self._text[end : end + 1].isspace():
            stop, after = end, 0  # "policy learning-based" is no more than policy learning
        return (begin, stop) if before + len(own) + after <= _LONGEST else (start, end)

    def _before(self, start: int) -> tuple[int, int]:
        """Where the whole begins, and how many words that adds."""
        first = max(0, start - _AROUND)
        words, separators = split(self._text[first:start])
        capital, at, taken = self._text[start].isupper(), start, 0
        for n in range(len(words) - 1, 0 if first else -1, -1):  # the first word may have been cut
            if not _joins(separators[n + 1], capital and _of_a_name(words[n])):
                break
            at -= len(separators[n + 1]) + len(words[n])
            taken, capital = taken + 1, words[n][0].isupper()
            begins = FIELD_START if not n and not first else SEPARATORS[separators[n]]
            if begins & Mark.SENTENCE and separators[n + 1].isspace() and not self._is_name(words[n]):
                return at + len(words[n]) + len(separators[n + 1]), taken - 1  # a capital only by its place
        return at, taken

    def _after(self, end: int, capital: bool) -> tuple[int, int]:
        """Where the whole ends, and how many words that adds; ``capital``: of the mention's last word."""
        last = min(len(self._text), end + _AROUND)
        words, separators = split(self._text[end:last])
        at, taken = end, 0
        for n in range(len(words) - (last < len(self._text))):
            if not _joins(separators[n], capital and _of_a_name(words[n])):
                break
            at += len(separators[n]) + len(words[n])
            taken, capital = taken + 1, words[n][0].isupper()
        return at, taken

    def _written(self, run: Run) -> str:
        written = " ".join(self._text[run[0] : run[1]].split())
        return next((written.removesuffix(end) for end in _POSSESSIVE if written.endswith(end)), written)


def plainness(written: str) -> tuple[int, str]:
    """By which the plainest of several spellings comes first: few capitals."""
    return sum(map(str.isupper, written)), written


def _of_a_name(word: str) -> bool:
    return word[0].isupper() and word.lower() not in _DATES


def _joins(separator: str, capitals: bool) -> bool:
    """Whether what stands between two words makes them one name or compound."""
    return bool(SEPARATORS[separator] & Mark.HYPHEN) or (capitals and separator.isspace() and not SEPARATORS[separator])


def shared_name(wholes: Sequence[Called | None]) -> Called | None:
    """What a phrase of several texts is called in all of them."""
    agreed = [whole for whole in wholes if whole]
    if len(agreed) < len(wholes) or len({whole.lemmas for whole in agreed}) != 1:
        return None
    return min(agreed, key=lambda whole: plainness(whole.display))
