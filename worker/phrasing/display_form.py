"""How a phrase is written: as usual in the corpus where the documents at hand write it so, else as they do.

Lemmas are the same for "security firms" and "securities firms"; which of the two is meant only a text can say. And a
caller who may not read the whole corpus is shown nothing but what one of their own documents has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from indexer.documents import PAIR
from indexer.engines.base import Groups
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.spans import Spans

_FEW = 2
"""Of more documents the usual spelling is as good as any."""
_ENOUGH = 20
"""Occurrences looked at for the usual spelling, and for the most frequent one."""


def usual_spelling(phrase: str, model: PhraseModel) -> str:
    """In the whole corpus."""
    number = model.phrase_ids.get(phrase)
    return model.displays[number] if number is not None else phrase.replace(PAIR, " + ")


class Speller:
    def __init__(self, documents: Sequence[Spans], model: PhraseModel, groups: Groups) -> None:
        """``groups``: whose eyes it is for; None reads everything."""
        self._documents = documents
        self._model = model
        self._groups = groups

    def display(self, phrase: str) -> str:
        if PAIR in phrase:
            return " + ".join(self.display(member) for member in phrase.split(PAIR))
        usual = usual_spelling(phrase, self._model)
        if self._groups is None and len(self._documents) > _FEW:
            return usual
        seen: Counter[str] = Counter()
        for written in self._written(phrase):
            # capitals may come from documents that a caller may not read
            if written == usual or (self._groups is None and written.casefold() == usual.casefold()):
                return usual
            seen[written] += 1
            if seen.total() == _ENOUGH:
                break
        if seen:
            return seen.most_common(1)[0][0]
        return usual if self._groups is None else phrase

    def _written(self, phrase: str) -> Iterator[str]:
        """Its occurrences as they stand in the texts."""
        for spans in self._documents:
            if phrase not in spans.document.tokens:
                continue
            for field, start, end in spans.of(phrase, _ENOUGH):
                text: str = getattr(spans.document.document, field)
                yield " ".join(text[start:end].split())
