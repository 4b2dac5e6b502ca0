"""Snippets of the texts, as evidence of a phrase."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from tests.support.analysed_documents import LEMMATIZER, make_analysed_document
from worker.answer.snippets import SnippetFinder, cut_snippet
from worker.explain.resolved_side import ResolvedSide
from worker.explain.text.spans import DocumentSpans


def test_the_snippets_of_a_phrase_pair_are_those_of_its_members() -> None:
    text = "Web graphs here; the random walk there."
    document = make_analysed_document(text, "web graph here\nthe random walk there")
    side = cast("ResolvedSide", SimpleNamespace(spans=(DocumentSpans(document, LEMMATIZER),)))
    snippets = SnippetFinder(side, "a").find("web graph@@random walk")
    assert [text[snippet.start : snippet.end] for snippet in snippets] == ["Web graphs", "random walk"]


@given(st.text(alphabet="ab \n", max_size=300), st.integers(0, 300), st.integers(1, 30))
def test_a_snippet_contains_its_occurrence_and_little_more(text: str, start: int, size: int) -> None:
    start = min(start, len(text))
    end = min(start + size, len(text))
    snippet = cut_snippet(text, start, end)
    assert " ".join(text[start:end].split()) in snippet
    assert len(snippet) <= (end - start) + 122
