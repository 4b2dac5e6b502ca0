"""How a phrase is written, told from documents that may be read.

The model knows the usual spelling of each phrase, taken from the whole corpus. A caller who may not read
all of it is shown that spelling only where one of their own documents has it, and another of theirs otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from indexer.documents import PAIR, AnalysedDocument
from indexer.engines.base import Groups
from indexer.phrases.model import PhraseModel
from worker.spans import Spans

_ENOUGH = 20
"""Occurrences looked at for the most frequent spelling."""


def usual_spelling(phrase: str, model: PhraseModel) -> str:
    """In the whole corpus."""
    number = model.phrase_ids.get(phrase)
    return model.displays[number] if number is not None else phrase.replace(PAIR, " + ")


class Speller:
    def __init__(self, documents: Sequence[AnalysedDocument], model: PhraseModel, groups: Groups) -> None:
        """``groups``: whose eyes it is for; None reads everything."""
        self._documents = documents
        self._model = model
        self._groups = groups
        self._spans = Spans(documents)

    def display(self, phrase: str) -> str:
        usual = usual_spelling(phrase, self._model)
        if self._groups is None:
            return usual
        if PAIR in phrase:
            return " + ".join(self.display(member) for member in phrase.split(PAIR))
        seen: Counter[str] = Counter()
        for written in self._written(phrase):
            if written == usual:
                return usual
            seen[written] += 1
            if seen.total() == _ENOUGH:
                break
        return seen.most_common(1)[0][0] if seen else phrase

    def _written(self, phrase: str) -> Iterator[str]:
        """Its occurrences as they stand in the texts."""
        for number, document in enumerate(self._documents):
            if phrase not in document.tokens:
                continue
            for field, start, end in self._spans.of(number, phrase, _ENOUGH):
                text: str = getattr(document.document, field)
                yield " ".join(text[start:end].split())
