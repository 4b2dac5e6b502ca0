"""The phrases that texts show by themselves, as tests read them."""

from __future__ import annotations

from indexer.analysis.text_phrases import MAX_TEXT_PHRASES
from indexer.documents import AnalysedDocument
from indexer.syntax.noun_phrases import MAX_PHRASE_WORDS
from indexer.text.phrase_search import find_occurrences


def name_text_phrases(analysed: AnalysedDocument) -> list[str]:
    """Return the stored phrases of a document as lemmas."""
    words = analysed.tokens.split()
    return [" ".join(words[p.start : p.start + p.length]) for p in analysed.text_phrases]


def check_text_phrases(analysed: AnalysedDocument) -> list[str]:
    """Check what holds for the phrases of any text; return them."""
    names = name_text_phrases(analysed)
    ends, end = [], 0
    for line in analysed.tokens.split("\n"):
        end += len(line.split())
        ends += [end] * len(line.split())
    salient = {s.phrase for s in analysed.salient}
    assert len(set(names)) == len(names), "a phrase is stored once"
    assert set(names[MAX_TEXT_PHRASES:]) <= salient, "further ones are salient"
    for phrase, name in zip(analysed.text_phrases, names, strict=True):
        assert 0 < phrase.length <= MAX_PHRASE_WORDS
        assert 0 <= phrase.start < len(ends), "it is in the text"
        assert phrase.start + phrase.length <= ends[phrase.start], f"{name!r} crosses a boundary"
        occurrences = find_occurrences(name, analysed.tokens)
        assert 0 < phrase.occurrences <= len(occurrences)
    return names
