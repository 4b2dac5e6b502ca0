"""Counts the steps that a backtracking matcher takes for a regular expression, as ``re`` does not tell them.

The matcher reads the tree that ``re`` itself parses. It is slow, but deterministic: a step is one element of the
pattern tried at one position, or one character of a repetition.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Continue = Callable[[int], "int | None"]
_CATEGORIES = {
    sre.CATEGORY_DIGIT: re.compile(r"\d"),
    sre.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    sre.CATEGORY_SPACE: re.compile(r"\s"),
    sre.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    sre.CATEGORY_WORD: re.compile(r"\w"),
    sre.CATEGORY_NOT_WORD: re.compile(r"\W"),
}
_POSITIONS = {
    sre.AT_BEGINNING_STRING: re.compile(r"\A"),
    sre.AT_END_STRING: re.compile(r"\Z"),
    sre.AT_BOUNDARY: re.compile(r"\b"),
    sre.AT_NON_BOUNDARY: re.compile(r"\B"),
}
_MAX_RECURSION = 20_000
_SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)


class TooManySteps(Exception):
    """The matcher took more steps than allowed."""


class StepCounter:
    """A regular expression that counts the steps of its matches in ``steps``."""

    def __init__(self, pattern: re.Pattern[str], max_steps: int = 10**7) -> None:
        self.pattern, self.max_steps, self.steps = pattern, max_steps, 0
        self._tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self._is_multiline, self._is_dotall = bool(pattern.flags & re.M), bool(pattern.flags & re.S)
        self._ignores_case = bool(pattern.flags & re.I)
        self._text, self._groups = "", dict[int, tuple[int, int]]()

    def scan(self, text: str, start: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the matches that ``finditer`` finds."""
        self._text = text
        while start <= len(text):
            end = self.match(text, start)
            if end is not None:
                yield start, end
            start = start + 1 if end is None or end == start else end

    def match(self, text: str, start: int = 0, *, is_full: bool = False) -> int | None:
        """Return the end of the match that begins at a position, or None."""
        self._text = text
        self._groups.clear()
        accept = (lambda end: end if end == len(text) else None) if is_full else _return_end
        former = sys.getrecursionlimit()
        sys.setrecursionlimit(_MAX_RECURSION)
        try:
            return self._match(self._tree, 0, start, accept)
        finally:
            sys.setrecursionlimit(former)

    def _match(self, items: Sequence[Any], index: int, position: int, proceed: Continue) -> int | None:
        """Match the items from ``index`` on; ``proceed`` matches what comes after them."""
        if index == len(items):
            return proceed(position)
        self._count()
        op, value = items[index]

        def after(end: int) -> int | None:
            return self._match(items, index + 1, end, proceed)

        if op in _SINGLE:
            return after(position + 1) if self._has_character(op, value, position) else None
        if op is sre.BRANCH:
            ends = (self._match(branch, 0, position, after) for branch in value[1])
            return next((end for end in ends if end is not None), None)
        if op is sre.SUBPATTERN:
            return self._match_group(value[0], value[3], position, after)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self._match_repeat(op, *value, position, after)
        if op is sre.ATOMIC_GROUP:
            end = self._match(value, 0, position, _return_end)
            return after(end) if end is not None else None
        return after(end) if (end := self._find_end(op, value, position)) is not None else None

    def _find_end(self, op: Any, value: Any, position: int) -> int | None:
        """Return the end of a reference, or the position itself if an assertion holds there."""
        if op is sre.GROUPREF:
            start, end = self._groups.get(value, (0, -1))
            text = self._text[start:end]
            return position + len(text) if end >= 0 and self._text.startswith(text, position) else None
        if op is sre.AT:
            holds = self._is_at(value, position)
        else:
            assert op in (sre.ASSERT, sre.ASSERT_NOT), op
            direction, items = value
            start = position if direction > 0 else position - items.getwidth()[0]
            end = self._match(items, 0, start, _return_end) if start >= 0 else None
            holds = (end is not None) == (op is sre.ASSERT)
        return position if holds else None

    def _match_group(self, number: int | None, items: Sequence[Any], position: int, after: Continue) -> int | None:
        def close(end: int) -> int | None:
            if number is None:
                return after(end)
            former = self._groups.get(number)
            self._groups[number] = position, end
            result = after(end)
            if result is None and former is not None:
                self._groups[number] = former
            return result

        return self._match(items, 0, position, close)

    def _match_repeat(
        self, op: Any, least: int, most: Any, items: Any, position: int, after: Continue
    ) -> int | None:  # fmt: skip
        most = len(self._text) + 1 if most is sre.MAXREPEAT else most
        if len(items) == 1 and items[0][0] in _SINGLE:
            return self._repeat_character(op, least, most, items[0], position, after)
        if op is sre.POSSESSIVE_REPEAT:
            count = 0
            while count < most and (end := self._match(items, 0, position, _return_end)) is not None:
                count, is_empty, position = count + 1, end == position, end
                if is_empty:
                    break
            return after(position) if count >= least else None

        def repeat(count: int, start: int) -> int | None:
            def again(end: int) -> int | None:
                return repeat(count + 1, end) if end > start or count < least else None

            if op is sre.MIN_REPEAT and count >= least and (end := after(start)) is not None:
                return end
            if count < most and (end := self._match(items, 0, start, again)) is not None:
                return end
            return after(start) if op is sre.MAX_REPEAT and count >= least else None

        return repeat(0, position)

    def _repeat_character(
        self, op: Any, least: int, most: int, item: Any, position: int, after: Continue
    ) -> int | None:  # fmt: skip
        run = 0
        if op is sre.MIN_REPEAT:
            while True:
                if run >= least and (end := after(position + run)) is not None:
                    return end
                if run >= most or not self._has_character(*item, position + run):
                    return None
                run += 1
                self._count()
        while run < most and self._has_character(*item, position + run):
            run += 1
            self._count()
        if op is sre.POSSESSIVE_REPEAT:
            return after(position + run) if run >= least else None
        ends = (after(position + count) for count in range(run, least - 1, -1))
        return next((end for end in ends if end is not None), None)

    def _has_character(self, op: Any, value: Any, position: int) -> bool:
        if position >= len(self._text):
            return False
        character = self._text[position]
        if op is sre.ANY:
            return self._is_dotall or character != "\n"
        forms = {character, character.lower(), character.upper()} if self._ignores_case else {character}
        if op is not sre.IN:
            return (chr(value) in forms) == (op is sre.LITERAL)
        is_negated = value[0][0] is sre.NEGATE
        return any(_is_in(one, *item) for one in forms for item in value[is_negated:]) != is_negated

    def _is_at(self, place: Any, position: int) -> bool:
        text = self._text
        if place is sre.AT_BEGINNING:
            return position == 0 or (self._is_multiline and text[position - 1] == "\n")
        if place is sre.AT_END:
            is_line_end = text[position : position + 1] == "\n" and (self._is_multiline or position == len(text) - 1)
            return position == len(text) or is_line_end
        return _POSITIONS[place].match(text, position) is not None

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self.max_steps:
            raise TooManySteps(self.pattern.pattern)

    def make_sample(self) -> str:
        """Return a text that the pattern matches in large part: each repetition once, each branch the first."""
        return _make_sample(self._tree)


def _return_end(end: int) -> int | None:
    return end


def _is_in(character: str, kind: Any, value: Any) -> bool:
    if kind is sre.CATEGORY:
        return _CATEGORIES[value].match(character) is not None
    low, high = value if kind is sre.RANGE else (value, value)
    return bool(low <= ord(character) <= high)


def _make_sample(items: Any) -> str:
    text = ""
    for op, value in items:
        if op is sre.LITERAL:
            text += chr(value)
        elif op is sre.IN:
            text += _choose_character(value)
        elif op in (sre.ANY, sre.NOT_LITERAL):
            text += "a"
        elif op is sre.BRANCH:
            text += _make_sample(value[1][0])
        elif op is sre.SUBPATTERN:
            text += _make_sample(value[3])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            text += _make_sample(value[2]) * max(1, min(value[0], 3))
        elif op is sre.ATOMIC_GROUP:
            text += _make_sample(value)
    return text


def _choose_character(items: Sequence[Any]) -> str:
    """Return a character of a set, a letter if it has one."""
    is_negated = items[0][0] is sre.NEGATE
    first = [chr(value[0] if kind is sre.RANGE else value) for kind, value in items if kind in (sre.LITERAL, sre.RANGE)]
    return next(
        one for one in [*"ab1 -", *first] if any(_is_in(one, *item) for item in items[is_negated:]) != is_negated
    )
