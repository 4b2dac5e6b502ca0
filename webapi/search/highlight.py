"""Fragments of a text with the words of the query marked."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.documents import AnalysedDocument
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences, locate_token_sequences
from webapi.search.body import Highlight
from worker.answer.snippets import find_snippet_bounds

CharSpan = tuple[int, int]
"""Start and end, in characters."""


def build_highlights(
    analysed: AnalysedDocument, lemmas: Sequence[str], highlight: Highlight, lemmatizer: Lemmatizer
) -> dict[str, list[str]]:
    """Return the first fragments of each field that contains one of the words (lemmas).

    ``lemmatizer`` is that of the document's index.
    """
    positions = sorted({position for word in set(lemmas) for position in find_occurrences(word, analysed.tokens)})
    spans: dict[str, list[CharSpan]] = {}
    for name, start, end in locate_token_sequences(analysed.document, positions, 1, lemmatizer):
        spans.setdefault(name, []).append((start, end))
    return {
        name: _cut_fragments(getattr(analysed.document, name), spans[name], highlight, max_fragments)
        for name, max_fragments in highlight.fields.items()
        if name in spans
    }


def _cut_fragments(text: str, spans: Sequence[CharSpan], highlight: Highlight, max_fragments: int) -> list[str]:
    fragments: list[str] = []
    end_of_last = 0
    for start, end in spans:
        if start < end_of_last:
            continue
        if len(fragments) == max_fragments:
            break
        left, end_of_last = find_snippet_bounds(text, start, end, end_of_last)
        inside = [span for span in spans if left <= span[0] and span[1] <= end_of_last]
        fragments.append(_mark_words(text, left, end_of_last, inside, highlight))
    return fragments


def _mark_words(text: str, left: int, right: int, spans: Sequence[CharSpan], highlight: Highlight) -> str:
    parts, position = [], left
    for start, end in spans:
        if start >= position:
            parts += [text[position:start], highlight.pre_tag, text[start:end], highlight.post_tag]
            position = end
    return " ".join("".join([*parts, text[position:right]]).split())
