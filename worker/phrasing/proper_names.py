"""The proper name or hyphenated word that a phrase is a part of: "Mark Hughes" for "Hughes", "bi-level" for "bi".

It is recognised by hyphens and capitals around the first mentions. A phrase that is never mentioned alone expands to
what always surrounds it; a word that is also mentioned alone, to the name before its first mention, where a text
gives names in full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from indexer.documents import PAIR_SEPARATOR
from indexer.text.tokenizer import FIELD_START_MARKS, SEPARATOR_MARKS, Mark, split_words_and_separators
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.compounds import pad_tokens_for_compounds

_MAX_MENTIONS = 3
"""Maximum mentions that are examined, in the text only: titles are often all in capitals."""
_CONTEXT_CHARACTERS = 80
"""Characters examined on either side of a mention."""
_MAX_NAME_WORDS = 5
"""Longest name in words; more capitalised words in a row are a heading."""
_DATES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december""".split()
)
"""Capitalised words that are no part of an adjacent name ("On Monday IBM said"); "May" may be a person."""
_HYPHEN_CHARACTERS = frozenset("-\u2010\u2011\u2013\n")
"""Characters of separators that join two words without capitals."""
_POSSESSIVE_ENDINGS = ("'s", "’s", "'S", "’S", "'", "’")

TextRange = tuple[int, int]
"""Start and end in the text, in characters."""


class FullForm(NamedTuple):
    """The name or compound that a phrase is a part of."""

    display: str
    """Its spelling in a text."""
    lemmas: str
    """Its lemmas, to be compared with phrases."""


class ProperNames:
    """Expands the phrases of one document to the names they are a part of."""

    def __init__(self, spans: DocumentSpans, is_name: Callable[[str], bool]) -> None:
        """``is_name``: returns whether a word is usually capitalised."""
        self._text = spans.document.document.text
        self._spans = spans
        self._is_name = is_name
        self._full_forms: dict[str, FullForm | None] = {}

    def expand(self, phrase: str) -> FullForm | None:
        """Return the name that the phrase is a part of, or None.

        Results are cached, as every hit of a page asks for the phrases of the query.
        """
        if phrase not in self._full_forms:
            self._full_forms[phrase] = self._find_full_form(phrase)
        return self._full_forms[phrase]

    @cached_property
    def padded_tokens(self) -> str:
        """The tokens for ``find_compound``; a title that the text repeats at its beginning counts once."""
        tokens, title = self._spans.document.tokens, self._spans.document.document.title
        if title and self._text.lstrip().startswith(title):
            length = self._spans.title_length
            tokens = "".join(tokens.split(None, length)[length:]) if length else tokens
        return pad_tokens_for_compounds(tokens)

    def write_lemmas(self, lemmas: str) -> str:
        """Return a sequence of lemmas as the text writes it, or else the title, with as few capitals as possible."""
        mentions = self._spans.find(lemmas, _MAX_MENTIONS)
        title = self._spans.document.document.title
        in_text = [self._read_range((start, end)) for field, start, end in mentions if field == "text"]
        in_title = [title[start:end] for _, start, end in mentions]
        return min(in_text or in_title, key=make_fewest_capitals_key, default=lemmas)

    def _find_full_form(self, phrase: str) -> FullForm | None:
        if PAIR_SEPARATOR in phrase or self._text.isupper():
            return None
        spans = self._spans.find(phrase, _MAX_MENTIONS)
        mentions = [(start, end) for field, start, end in spans if field == "text"][:_MAX_MENTIONS]
        if not mentions or self._expand_mention(*mentions[0]) == mentions[0]:
            return None
        expanded = [self._expand_mention(*mention) for mention in mentions]
        is_never_alone = all(name != mention for name, mention in zip(expanded, mentions, strict=True))
        if is_never_alone and len({self._read_range(name).casefold() for name in expanded}) == 1:
            return self._make_full_form(expanded[0])
        (name_start, _), (start, end) = expanded[0], mentions[0]
        has_name_before = name_start < start and " " not in phrase and self._text[name_start:start][-1].isspace()
        return self._make_full_form((name_start, end)) if has_name_before else None

    def _make_full_form(self, text_range: TextRange) -> FullForm:
        return FullForm(self._read_range(text_range), self._spans.lemmas_between(*text_range))

    def _expand_mention(self, start: int, end: int) -> TextRange:
        """Return the range of the name or hyphenated word around a mention, or of the mention itself."""
        around = self._text[max(0, start - 1) : start] + self._text[end : end + 1]
        if self._text[start:end].islower() and (around.isspace() or _HYPHEN_CHARACTERS.isdisjoint(around)):
            return start, end  # the fast way out for most mentions
        words, separators = split_words_and_separators(self._text[start:end])
        name_start, words_before = self._extend_left_and_count_words(start)
        name_end, words_after = self._extend_right_and_count_words(end, words[-1][0].isupper())
        if len(words) > 1 and separators[-2].isspace() and not self._text[end : end + 1].isspace():
            name_end, words_after = end, 0  # "policy learning-based" is no more than policy learning
        is_short = words_before + len(words) + words_after <= _MAX_NAME_WORDS
        return (name_start, name_end) if is_short else (start, end)

    def _extend_left_and_count_words(self, start: int) -> tuple[int, int]:
        """Return where the name around a mention starts, and how many words that adds."""
        first = max(0, start - _CONTEXT_CHARACTERS)
        words, separators = split_words_and_separators(self._text[first:start])
        is_capital, name_start, count = self._text[start].isupper(), start, 0
        for n in range(len(words) - 1, 0 if first else -1, -1):  # the first word may have been cut
            if not _is_joined(separators[n + 1], is_capital and _may_be_name_part(words[n])):
                break
            name_start -= len(separators[n + 1]) + len(words[n])
            count, is_capital = count + 1, words[n][0].isupper()
            marks = FIELD_START_MARKS if not n and not first else SEPARATOR_MARKS[separators[n]]
            if marks & Mark.SENTENCE and separators[n + 1].isspace() and not self._is_name(words[n]):
                # capitalised only because it starts a sentence
                return name_start + len(words[n]) + len(separators[n + 1]), count - 1
        return name_start, count

    def _extend_right_and_count_words(self, end: int, is_capital: bool) -> tuple[int, int]:
        """Return where the name around a mention ends, and how many words that adds.

        ``is_capital``: whether the mention's last word is capitalised.
        """
        last = min(len(self._text), end + _CONTEXT_CHARACTERS)
        words, separators = split_words_and_separators(self._text[end:last])
        name_end, count = end, 0
        for n in range(len(words) - (last < len(self._text))):
            if not _is_joined(separators[n], is_capital and _may_be_name_part(words[n])):
                break
            name_end += len(separators[n]) + len(words[n])
            count, is_capital = count + 1, words[n][0].isupper()
        return name_end, count

    def _read_range(self, text_range: TextRange) -> str:
        """Return the text of a range on one line, without a possessive ending."""
        start, end = text_range
        text = " ".join(self._text[start:end].split())
        return strip_possessive(text)


def strip_possessive(text: str) -> str:
    """Return a spelling without its possessive ending."""
    return next((text.removesuffix(ending) for ending in _POSSESSIVE_ENDINGS if text.endswith(ending)), text)


def make_fewest_capitals_key(text: str) -> tuple[int, str]:
    """Return a sort key that puts the spelling with the fewest capitals first."""
    return sum(map(str.isupper, text)), text


def _may_be_name_part(word: str) -> bool:
    return word[0].isupper() and word.lower() not in _DATES


def _is_joined(separator: str, are_capitals: bool) -> bool:
    """Return whether two words belong together: by a hyphen, or by a space if both are capitalised."""
    marks = SEPARATOR_MARKS[separator]
    return bool(marks & Mark.HYPHEN) or (are_capitals and separator.isspace() and not marks)


def find_shared_form(forms: Sequence[FullForm | None]) -> FullForm | None:
    """Return the full form on which all texts agree, or None."""
    known = [form for form in forms if form]
    if len(known) < len(forms) or len({form.lemmas for form in known}) != 1:
        return None
    return min(known, key=lambda form: make_fewest_capitals_key(form.display))
