"""Suggestions: phrases that complete what a user is typing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from indexer.documents import PAIR_SEPARATOR
from indexer.engines.search_types import Groups
from indexer.model.phrase_model import PhraseModel
from worker.explain.phrase_holders import find_holders
from worker.explain.text.spans import DocumentSpans
from worker.index_catalog import IndexCatalog
from worker.phrasing.display_form import DisplayForms, get_corpus_form

_MAX_CONTINUATIONS = 2000
"""Maximum word starts examined, in alphabetical order."""
_PHRASES_PER_REQUEST = 100


def find_suggestions(
    catalog: IndexCatalog, index: str, typed: str, size: int, groups: Groups = None
) -> list[dict[str, Any]]:
    """Return the most frequent phrases in which a word begins with ``typed``.

    A caller with limited groups gets only phrases of documents they may read, as spelled there and with the number of
    those documents.
    """
    model = catalog.open_reader(index).model
    prefix = " ".join(typed.lower().split())
    phrases = [model.phrases[id] for id in _find_phrase_ids_by_prefix(model, prefix)]
    if groups is None:
        counts = [int(model.document_frequency[model.phrase_ids[phrase]]) for phrase in phrases]
    else:
        counts = catalog.run_on_reader(index, lambda reader: reader.count_holders(phrases, groups))
    documents = {phrase: count for phrase, count in zip(phrases, counts, strict=True) if count or groups is None}
    ranked = sorted(documents, key=lambda phrase: (-documents[phrase], phrase))
    if groups is None:
        forms = {phrase: get_corpus_form(phrase, model) for phrase in ranked[:size]}
    else:
        forms = _find_readable_forms(catalog, index, ranked, prefix, size, groups)
    return [{"phrase": phrase, "display": form, "documents": documents[phrase]} for phrase, form in forms.items()]


def _find_phrase_ids_by_prefix(model: PhraseModel, prefix: str) -> list[int]:
    """Return the ids of phrases in which a word begins with the prefix."""
    starts, phrase_ids = _list_suffixes_with_phrase_ids(_ModelIdentity(model))
    first = bisect_left(starts, prefix)
    matches: dict[int, None] = {}
    for row in range(first, min(first + _MAX_CONTINUATIONS, len(starts))):
        if not starts[row].startswith(prefix):
            break
        matches[phrase_ids[row]] = None
    return list(matches)


class _ModelIdentity:
    """A model as the key of a cache: equal only to the same object."""

    def __init__(self, model: PhraseModel) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ModelIdentity) and other.model is self.model


@lru_cache(maxsize=8)
def _list_suffixes_with_phrase_ids(model_identity: _ModelIdentity) -> tuple[list[str], list[int]]:
    """Return every phrase and display form from each of its words on, sorted, and the id of the phrase of each."""
    model = model_identity.model
    rows: set[tuple[str, int]] = set()
    for phrase_id, phrase in enumerate(model.phrases):
        if PAIR_SEPARATOR in phrase:
            continue
        for form in (phrase, model.display_forms[phrase_id].lower()):
            words = form.split()
            rows.update((" ".join(words[n:]), phrase_id) for n in range(len(words)))
    ordered = sorted(rows)
    return [row[0] for row in ordered], [row[1] for row in ordered]


def _find_readable_forms(
    catalog: IndexCatalog, index: str, phrases: Sequence[str], prefix: str, size: int, groups: Groups
) -> dict[str, str]:
    """Return the first ``size`` phrases that occur in a document these groups may read, and their spelling there."""
    forms: dict[str, str] = {}
    for start in range(0, len(phrases), _PHRASES_PER_REQUEST):
        batch = phrases[start : start + _PHRASES_PER_REQUEST]
        document_ids = catalog.run_on_reader(index, lambda reader, b=batch: find_holders(reader, b, groups))  # type: ignore[misc]
        documents = catalog.fetch_documents(index, sorted(set(document_ids.values())), groups)
        model = catalog.open_reader(index).model
        for phrase in batch:
            document = documents.get(document_ids.get(phrase, ""))
            form = (
                DisplayForms([DocumentSpans(document, model.lemmatizer)], model, groups).find(phrase)
                if document is not None
                else ""
            )
            if form and _has_word_with_prefix(prefix, phrase, form):
                forms[phrase] = form
            if len(forms) == size:
                return forms
    return forms


def _has_word_with_prefix(prefix: str, phrase: str, form: str) -> bool:
    """Return whether a word of the phrase, or of its spelling, begins with the prefix."""
    return any(f" {words}".find(f" {prefix}") >= 0 for words in (phrase, form.lower()))
