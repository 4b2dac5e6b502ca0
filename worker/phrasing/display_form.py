"""The display form of a phrase: as the corpus usually writes it if the documents at hand do so too, else as they do.

"security firms" and "securities firms" have the same lemmas; only a text shows which of them is meant. Callers who may
not read the whole corpus see only spellings from documents they may read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from indexer.documents import PAIR_SEPARATOR
from indexer.engines.search_types import Groups
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.spans import DocumentSpans

_MAX_DOCUMENTS_READ = 2
"""For more documents the usual form of the corpus is taken without reading them."""
_MAX_OCCURRENCES = 20
"""Maximum occurrences examined for the usual form and for the most frequent one."""


def get_corpus_form(phrase: str, model: PhraseModel) -> str:
    """Return the usual display form of a phrase in the whole corpus."""
    phrase_id = model.phrase_ids.get(phrase)
    return model.display_forms[phrase_id] if phrase_id is not None else phrase.replace(PAIR_SEPARATOR, " + ")


class DisplayForms:
    """Display forms of the phrases of some documents."""

    def __init__(self, documents: Sequence[DocumentSpans], model: PhraseModel, groups: Groups) -> None:
        """``groups``: groups of the caller; None reads everything."""
        self._documents = documents
        self._model = model
        self._groups = groups

    def find(self, phrase: str) -> str:
        """Return the display form of a phrase or phrase pair."""
        if PAIR_SEPARATOR in phrase:
            return " + ".join(self.find(member) for member in phrase.split(PAIR_SEPARATOR))
        corpus_form = get_corpus_form(phrase, self._model)
        if self._groups is None and len(self._documents) > _MAX_DOCUMENTS_READ:
            return corpus_form
        spellings: list[str] = []
        for spelling, is_indexed in self._iter_spellings(phrase):
            # capitals may come from documents that a caller may not read; their own text must not confirm a spelling
            if self._groups is None:
                is_corpus_form = spelling.casefold() == corpus_form.casefold()
            else:
                is_corpus_form = is_indexed and spelling == corpus_form
            if is_corpus_form:
                return corpus_form
            spellings.append(spelling)
            if len(spellings) == _MAX_OCCURRENCES:
                break
        if spellings:
            return Counter(spellings).most_common(1)[0][0]
        return corpus_form if self._groups is None else phrase

    def _iter_spellings(self, phrase: str) -> Iterator[tuple[str, bool]]:
        """Yield the occurrences of a phrase as the texts write them, and whether the text is in the index."""
        for spans in self._documents:
            if phrase not in spans.document.tokens:
                continue
            for field, start, end in spans.find(phrase, _MAX_OCCURRENCES):
                text: str = getattr(spans.document.document, field)
                yield " ".join(text[start:end].split()), bool(spans.document.document.id)
