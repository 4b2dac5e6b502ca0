"""Whoever writes a text cannot make reading it slow: the work grows with the length of a text, not with its square.

Operations are counted, not timed: steps of regular expressions (``regex_steps``) and executed lines, for a text and for
one twice as long.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from indexer.dates import date_to_millis
from indexer.documents import Document
from indexer.errors import PhraseComError
from indexer.logging_setup import redact
from indexer.readers.jsonl import parse_json_line
from indexer.readers.markup import parse_html, parse_markdown, parse_plain_text
from indexer.records import BadRecord, FieldMap, make_document
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences
from indexer.text.tokenizer import (
    SEPARATOR_MARKS,
    lemmatize_text,
    locate_tokens,
    split_words_and_separators,
)
from tests.support import regex_steps
from tests.support.corpora.engine_corpus import make_draft, weigh_drafts
from tests.support.regex_steps import StepCounter
from tests.test_architecture import MODULES
from webapi.search.query_texts import read_query_texts
from worker.answer.near_duplicates import NearDuplicates
from worker.explain.query_side import MAX_QUERY_PHRASES, analyse_query
from worker.explain.side import Side, split_search_words_and_filters
from worker.phrasing.compounds import find_compound, pad_tokens_for_compounds

MAX_GROWTH = 2.7
"""Operations for a text twice as long, relative to those for the text: 2 if they are proportional, 4 if quadratic."""
DOUBTFUL_GROWTH = 2.1
SIZES = (16, 128)
"""Repetitions in a text."""
WORDS = (
    *"`*_~<>[](){}\"'#!&;:.,-=+/\\|@ \n\ta1Aé\u0301中",
    *("\u0315\u0300", "a ", "a b ", "ab cd\n", "a\n", "\n\n", "\n \n", "a-", "a.", "a'", "aA", "(A", "A) ", '"a" '),
    *("a:", 'a:"', "x:y ", "wait=1 "),
)
MARKUP = (
    *("<a ", "<a=", "<a b='", "<!--", "<![CDATA[", "</", "<p>", "<svg>", "</head>", "<svg></head>", "<title>"),
    *("<script>", "&#1", "&amp", "[a](", "![", "[[a]", "](", "**a", "**a ", "__a", "***", "``a", "` `", "# ", "# a #"),
    *("```\n", "```x\n", "~~~x\n```y\n", "---\n", ">>> ", "::\n", ":a:", ":ref:`"),
)
"""Texts that are hard to read are repetitions of one of these."""
METHODS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")
CALLS = {f"re.{name}" for name in METHODS}


def list_patterns() -> dict[str, tuple[re.Pattern[str], bool]]:
    """Return the regular expressions of the product by module and text, and whether they are searched in texts.

    They are global names, entries of global dicts, or arguments of functions of re.
    """
    patterns: dict[str, tuple[re.Pattern[str], bool]] = {}
    for module, path in MODULES.items():
        source = path.read_text()
        if not re.search("^import re$", source, re.MULTILINE):
            continue
        found = [
            (pattern, not re.search(rf"\b{name}\.(?:full)?match\b", source))
            for _, name, pattern in find_patterns(vars(importlib.import_module(module)))
        ]
        for node in ast.walk(ast.parse(source)):
            call = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and call in CALLS and isinstance(node.args[0], ast.Constant):
                flags = [ast.unparse(option.value) for option in node.keywords if option.arg == "flags"]
                found.append((re.compile(node.args[0].value, eval("|".join(flags) or "0")), not call.endswith("match")))
        patterns |= {f"{module} {p.pattern}"[:80]: (to_text_pattern(p), is_searched) for p, is_searched in found}
    return patterns


def to_text_pattern(pattern: re.Pattern[Any]) -> re.Pattern[str]:
    """Return the expression for text; one for bytes becomes that for the characters of the same numbers."""
    if isinstance(pattern.pattern, str):
        return pattern
    return re.compile(pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII)


def find_patterns(namespace: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, re.Pattern[str]]]:
    """Yield the regular expressions in a namespace and in its dicts, each with the dict and its key there."""
    for name, value in list(namespace.items()):
        if isinstance(value, re.Pattern):
            yield namespace, name, value
        elif isinstance(value, dict) and not name.startswith("__"):
            yield from ((value, key, one) for key, one in value.items() if isinstance(one, re.Pattern))


PATTERNS = list_patterns()


def assert_linear(count: Callable[[str], int], make_text: Callable[[int], str]) -> None:
    """Fail if twice the text takes more than ``MAX_GROWTH`` times the operations.

    Short texts show most that is wrong, but a quadratic part may be small in them: in doubt, longer ones decide.
    """
    for size, max_growth in zip(SIZES, (DOUBTFUL_GROWTH, MAX_GROWTH), strict=True):
        short, long = count(make_text(size)), count(make_text(2 * size))
        if long <= max_growth * short + 20:
            return
    raise AssertionError(f"{make_text(3)!r} ...: {short:,} operations, then {long:,}")


@pytest.mark.parametrize("name", PATTERNS)
def test_a_regular_expression_takes_steps_in_proportion_to_the_text(name: str) -> None:
    pattern, is_searched = PATTERNS[name]

    def count_steps(text: str) -> int:
        counter = StepCounter(pattern)
        if is_searched:
            assert list(counter.scan(text)) == [match.span() for match in pattern.finditer(text)], "as re finds them"
        else:
            counter.match(text, is_full=True)
        return counter.steps

    sample = StepCounter(pattern).make_sample()[:12]
    starts = [sample[:end] for end in range(1, len(sample) + 1)]
    pumps = dict.fromkeys([*starts, *(start[-1] for start in starts), *sample, "a", " ", "\n"])
    for pump in pumps:
        for before in dict.fromkeys(["", *starts[:3], sample[:-1]]):
            assert_linear(count_steps, lambda n, a=before, b=pump: a + b * n + "\0")  # type: ignore[misc]


class CountedPattern:
    """A regular expression that adds its steps to a counter."""

    def __init__(self, pattern: re.Pattern[str], counts: list[int]) -> None:
        self._pattern, self._counts = pattern, counts

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)
        if name not in METHODS:
            return method

        def call_and_count(*arguments: Any, **options: Any) -> Any:
            text, start = (arguments[1], 0) if name == "sub" else (arguments[0], [*arguments, 0][1])
            counter = StepCounter(to_text_pattern(self._pattern))
            text = text.decode("latin-1") if isinstance(text, bytes) else text
            if name in ("match", "fullmatch"):
                counter.match(text, start, is_full=name == "fullmatch")
            else:
                for _ in counter.scan(text, start if name == "search" else 0):
                    if name == "search":
                        break
            self._counts.append(counter.steps)
            return method(*arguments, **options)

        return call_and_count


OperationCounter = Callable[[Callable[[], object]], int]
"""Returns the lines that a function executes and the steps of its regular expressions."""


@pytest.fixture
def count_operations(monkeypatch: pytest.MonkeyPatch) -> OperationCounter:
    """Counts operations, with the regular expressions of the product and of the parsers in the standard library."""
    steps: list[int] = []
    compile = re._compile  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("indexer", "worker", "webapi", "html", "_markupbase"):
            for namespace, key, pattern in list(find_patterns(vars(module))):
                monkeypatch.setitem(namespace, key, CountedPattern(pattern, steps))
    monkeypatch.setattr(re, "_compile", lambda pattern, flags: CountedPattern(compile(pattern, flags), steps))

    def count(function: Callable[[], object]) -> int:
        lines = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal lines
            lines += event == "line"
            return None if frame.f_code.co_filename in (regex_steps.__file__, __file__, re.__file__) else trace

        steps.clear()
        former = sys.gettrace()
        sys.settrace(trace)
        try:
            with suppress(PhraseComError, BadRecord, ValueError):
                function()
        finally:
            sys.settrace(former)
        return lines + sum(steps)

    return count


LEMMATIZER = Lemmatizer("en")


def lemmatize(text: str) -> None:
    SEPARATOR_MARKS.clear()
    LEMMATIZER.clear()
    lemmatize_text(text, LEMMATIZER)


def make_record(text: str) -> None:
    make_document({"text": text, "facets": {"a": text}, "acl": text}, FieldMap(), "x", 10**6)


TEXT_READERS: Mapping[str, Callable[[str], object]] = {
    "html": parse_html,
    "markdown": parse_markdown,
    "plain text": parse_plain_text,
    "json": lambda text: parse_json_line(text.encode()),
    "record": make_record,
    "date": date_to_millis,
    "tokens": lambda text: locate_tokens(Document("x", text=text), LEMMATIZER),
    "lemmas": lemmatize,
    "search side": split_search_words_and_filters,
    "side": Side.from_text,
    "query string": lambda text: read_query_texts({"query": {"query_string": {"query": text}}}),
    "log line": redact,
    "phrase search": lambda text: [find_occurrences(phrase, text) for phrase in ("a", "a b", "a a a", "a@@b", "a@@a")],
    "compound": lambda text: find_compound("a", [pad_tokens_for_compounds(text)], lambda word: True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXT_READERS)
def test_a_text_is_read_in_proportion_to_its_length(name: str, count_operations: OperationCounter) -> None:
    read = TEXT_READERS[name]
    read("Caches are filled by the first words.")
    for unit in [*WORDS, *(MARKUP if name in ("html", "markdown") else ())]:
        assert_linear(lambda text: count_operations(lambda: read(text)), lambda n, u=unit: u * n)  # type: ignore[misc]


@pytest.mark.slow
def test_a_query_of_many_phrases_is_compared_in_bounded_work(count_operations: OperationCounter) -> None:
    def count(size: int) -> int:
        names = [f"w{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(size)]
        model = weigh_drafts([make_draft("x", names, names)]).model
        phrases = [one.phrase for one in analyse_query(Document("", "", " ".join(names)), model).salient]
        return count_operations(lambda: NearDuplicates(model).group_near_duplicates(phrases))

    assert count(2 * MAX_QUERY_PHRASES) <= MAX_GROWTH * count(MAX_QUERY_PHRASES)


@pytest.mark.parametrize("unit", ["a", "é", "\u0315\u0300", "a.", "a'b", "\u00ad", "A1_"])
def test_no_word_is_longer_than_its_limit_and_none_of_it_is_lost(unit: str) -> None:
    """What compares two words, or orders the marks of one, takes time by the square of their length."""
    words, separators = split_words_and_separators(unit * 20_000)
    assert max(map(len, words)) <= 16 * 256
    assert "".join(separators[:1] + [a + b for a, b in zip(words, separators[1:], strict=True)]) == unit * 20_000
