"""Fragments of a text with the words of the query marked."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.documents import AnalysedDocument
from indexer.text.tokenizer import locate, occurrences
from webapi.search.body import Highlight

_AROUND = 60
"""Characters of a fragment on either side of its first word."""
Span = tuple[int, int]


def highlights(analysed: AnalysedDocument, words: Sequence[str], how: Highlight) -> dict[str, list[str]]:
    """The first fragments of each field; a field in which nothing is found is left out."""
    spots = sorted({spot for word in set(words) for spot in occurrences(word, analysed.tokens)})
    found: dict[str, list[Span]] = {}
    for name, start, end in locate(analysed.document, spots, 1):
        found.setdefault(name, []).append((start, end))
    out = {}
    for name, most in how.fields.items():
        if name in found:
            out[name] = _fragments(getattr(analysed.document, name), found[name], how, most)
    return out


def _fragments(text: str, spans: Sequence[Span], how: Highlight, most: int) -> list[str]:
    out: list[str] = []
    shown = 0
    for start, end in spans:
        if start < shown:
            continue
        if len(out) == most:
            break
        left, shown = _cut(text, start, end, shown)
        inside = [span for span in spans if left <= span[0] and span[1] <= shown]
        out.append(_marked(text, left, shown, inside, how))
    return out


def _cut(text: str, start: int, end: int, earlier: int) -> Span:
    """Where a fragment begins and ends: at white space, and not within the one before it."""
    left, right = max(earlier, start - _AROUND), min(len(text), end + _AROUND)
    if left > earlier:
        space = text.find(" ", left, start)
        left = space + 1 if space >= 0 else start
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = space if space >= 0 else end
    return left, right


def _marked(text: str, left: int, right: int, spans: Sequence[Span], how: Highlight) -> str:
    parts, at = [], left
    for start, end in spans:
        if start >= at:
            parts += [text[at:start], how.before, text[start:end], how.after]
            at = end
    return " ".join("".join([*parts, text[at:right]]).split())
