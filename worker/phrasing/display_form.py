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
from worker.phrasing.proper_names import make_fewest_capitals_key, strip_possessive

_MAX_DOCUMENTS_READ = 2
"""For more documents the usual form of the corpus is taken without reading them."""
_MAX_OCCURRENCES = 20
"""Maximum occurrences examined for the usual form and for the most frequent one."""


def get_corpus_form(phrase: str, model: PhraseModel) -> str:
    """Return the usual display form of a phrase in the whole corpus."""
    return _find_corpus_form(phrase, model) or phrase.replace(PAIR_SEPARATOR, " + ")


def _find_corpus_form(phrase: str, model: PhraseModel) -> str | None:
    phrase_id = model.phrase_ids.get(phrase)
    return None if phrase_id is None else model.display_forms[phrase_id]


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
        corpus_form = _find_corpus_form(phrase, self._model)
        if corpus_form is not None and self._groups is None and len(self._documents) > _MAX_DOCUMENTS_READ:
            return corpus_form
        spellings: list[str] = []
        for spelling, is_indexed in self._iter_spellings(phrase):
            if corpus_form is not None and self._confirms(spelling, is_indexed, corpus_form):
                return corpus_form
            spellings.append(spelling)
            if len(spellings) == _MAX_OCCURRENCES:
                break
        if spellings:
            return _choose_spelling(spellings)
        return corpus_form if corpus_form is not None and self._groups is None else phrase

    def _confirms(self, spelling: str, is_indexed: bool, corpus_form: str) -> bool:
        """Return whether a spelling in the texts confirms the usual one of the corpus.

        Capitals may come from documents that a caller may not read; their own text must not confirm a spelling.
        """
        if self._groups is None:
            return spelling.casefold() == corpus_form.casefold()
        return is_indexed and spelling == corpus_form

    def _iter_spellings(self, phrase: str) -> Iterator[tuple[str, bool]]:
        """Yield the occurrences of a phrase as the texts write them, and whether the text is in the index."""
        for spans in self._documents:
            if phrase not in spans.document.tokens:
                continue
            for field, start, end in spans.find(phrase, _MAX_OCCURRENCES):
                text: str = getattr(spans.document.document, field)
                yield strip_possessive(" ".join(text[start:end].split())), bool(spans.document.document.id)


def _choose_spelling(spellings: Sequence[str]) -> str:
    """Return the most frequent spelling, of equally frequent ones that with the fewest capitals: it is no heading."""
    counts = Counter(spellings)
    return min(counts, key=lambda spelling: (-counts[spelling], *make_fewest_capitals_key(spelling)))
