"""What a phrase of a comparison is called: the whole name or compound that it is a piece of, wherever it stands."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.documents import PAIR
from indexer.model.phrase_model import PhraseModel
from indexer.text.stopwords import ENGLISH
from worker.explain.resolver import Resolved
from worker.phrasing.compounds import compound
from worker.phrasing.proper_names import Called, Names, plainness, shared_name

_KNOWN = 0.01
"""From this share of the documents on ..."""
_FEW = 12
"""... and this many, a word's quality is known well enough ..."""
_PART = 0.3
"""... to say that one below this is no part of a compound: "said", "good", "related"."""


class Namer:
    """Of two sides. Of a set nothing is asked, as its texts differ."""

    def __init__(self, sides: Sequence[Resolved]) -> None:
        self._sides = sides
        self._model: PhraseModel = sides[0].reader.model
        self._english = self._model.settings.get("language", "en") == "en"
        self._called: dict[str, Called | None] = {}

    def called(self, phrase: str) -> Called | None:
        """The name or compound; None where it is called what it is."""
        if phrase not in self._called:
            held = self._held(phrase)
            name = shared_name([names.whole(phrase) for names in held])
            self._called[phrase] = name or self._compound(phrase, held)
        return self._called[phrase]

    def _compound(self, phrase: str, held: Sequence[Names]) -> Called | None:
        bodies = dict.fromkeys([names.body for names in held])
        whole = compound(phrase, list(bodies), self._fits) if held else None
        return Called(min((names.written(whole) for names in held), key=plainness), whole) if whole else None

    def _held(self, phrase: str) -> list[Names]:
        """By which texts, if what it is a piece of can be asked of all of them."""
        if PAIR in phrase:
            return []
        held = [side.names for side in self._sides if side.wording.holds(phrase)]
        return [names for names in held if names] if all(held) else []

    def _fits(self, word: str) -> bool:
        if len(word) < 2 or word.isdigit() or (self._english and word in ENGLISH):
            return False
        model = self._model
        if not self._english and word not in model.phrase_ids:
            return False  # it may be a function word
        number = model.word_ids.get(word)
        if number is None or int(model.word_frequency[number]) <= max(_FEW, _KNOWN * model.documents):
            return True
        phrase = model.phrase_ids.get(word)
        return phrase is not None and float(model.quality[phrase]) >= _PART
