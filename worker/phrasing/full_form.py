"""How a phrase of a comparison is displayed. In order of precedence:

1. the proper name that it is a part of in every text that contains it: "Mark Hughes" for "hughes" (proper_names.py);
2. the compound that it is usually a part of: "gradient descent" for "descent" (compounds.py);
3. its display form: as the corpus or the texts at hand write it (display_form.py).

The first two are its full form. The answer may reject a full form that is an entry of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexer.documents import PAIR_SEPARATOR
from indexer.model.phrase_model import PhraseModel
from indexer.text.stopwords import ENGLISH_STOPWORDS
from worker.explain.resolved_side import ResolvedSide
from worker.phrasing.compounds import find_compound
from worker.phrasing.display_form import DisplayForms, get_corpus_form
from worker.phrasing.proper_names import FullForm, ProperNames, find_shared_form, make_fewest_capitals_key

_MIN_KNOWN_SHARE = 0.01
"""Share of the documents above which a word's quality is known well enough to judge it."""
_MIN_KNOWN_DOCUMENTS = 12
"""Number of documents above which a word's quality is known well enough to judge it."""
_MIN_PART_QUALITY = 0.3
"""A well-known word of lower quality is no part of a compound: "said", "good", "related"."""


class FullForms:
    """Full forms and display forms of the phrases of two sides."""

    def __init__(
        self, sides: Sequence[ResolvedSide], names_by_side: dict[ResolvedSide, ProperNames] | None = None
    ) -> None:
        """``names_by_side``: a cache of the sides' proper names that the answers of a page share."""
        self._sides = sides
        self._names_by_side = {} if names_by_side is None else names_by_side
        self._model: PhraseModel = sides[0].reader.model
        self._unreadable_words = frozenset[str]().union(*(side.unreadable_words for side in sides))
        self._is_english = self._model.settings.get("language", "en") == "en"
        self._texts = [side for side in sides if side.kind != "query"]
        self._text_forms, self._query_forms = (
            DisplayForms([spans for side in chosen for spans in side.spans], self._model, sides[0].groups)
            for chosen in (self._texts, [side for side in sides if side.kind == "query"])
        )
        self._full_forms: dict[str, FullForm | None] = {}

    def find(self, phrase: str) -> FullForm | None:
        """Return the proper name or compound that the phrase is a part of, or None.

        Several words that a text has as a whole phrase are no part.
        """
        if " " in phrase and any(phrase in side.text_phrases for side in self._sides):
            return None
        if phrase not in self._full_forms:
            texts = self._find_texts_with_phrase(phrase)
            name = find_shared_form([names.expand(phrase) for names in texts])
            self._full_forms[phrase] = name or self._find_compound(phrase, texts)
        return self._full_forms[phrase]

    def write_phrase(self, phrase: str, full_form: FullForm | None) -> str:
        """Return the phrase as shown to people: its full form, if it is to have one, else its display form.

        The spelling of a query only counts where no text has the phrase: most people type without capitals.
        """
        if full_form:
            return full_form.display
        is_in_text = any(side.text.contains(phrase) for side in self._texts)
        return (self._text_forms if is_in_text else self._query_forms).find(phrase)

    def _find_compound(self, phrase: str, texts: Sequence[ProperNames]) -> FullForm | None:
        padded_tokens = dict.fromkeys([names.padded_tokens for names in texts])
        lemmas = find_compound(phrase, list(padded_tokens), self._may_be_part) if texts else None
        if lemmas is None:
            return None
        return FullForm(min((names.write_lemmas(lemmas) for names in texts), key=make_fewest_capitals_key), lemmas)

    def _find_texts_with_phrase(self, phrase: str) -> list[ProperNames]:
        """Return the texts that contain the phrase; none if one is a set, whose texts may disagree."""
        if PAIR_SEPARATOR in phrase:
            return []
        sides = [side for side in self._sides if side.text.contains(phrase)]
        return [self._get_names(side) for side in sides] if all(len(side.documents) == 1 for side in sides) else []

    def _get_names(self, side: ResolvedSide) -> ProperNames:
        if side not in self._names_by_side:
            self._names_by_side[side] = make_proper_names(side)
        return self._names_by_side[side]

    def _may_be_part(self, word: str) -> bool:
        """Return whether a word may be a part of a compound."""
        if len(word) < 2 or word.isdigit() or (self._is_english and word in ENGLISH_STOPWORDS):
            return False
        model = self._model
        is_unreadable = word in self._unreadable_words
        if not self._is_english and (is_unreadable or word not in model.phrase_ids):
            return False  # it may be a function word
        if is_unreadable:
            return True
        word_id = model.word_ids.get(word)
        if word_id is None:
            return True
        frequency = int(model.word_document_frequency[word_id])
        if frequency <= max(_MIN_KNOWN_DOCUMENTS, _MIN_KNOWN_SHARE * model.document_count):
            return True
        phrase_id = model.phrase_ids.get(word)
        return phrase_id is not None and float(model.quality[phrase_id]) >= _MIN_PART_QUALITY


def make_proper_names(side: ResolvedSide) -> ProperNames:
    """Return the proper names of a side of one document."""
    model, groups = side.reader.model, side.groups

    def is_name(word: str) -> bool:
        # callers who may not read the whole corpus must not learn how it writes a word
        return groups is None and get_corpus_form(word.lower(), model)[0].isupper()

    return ProperNames(side.spans[0], is_name)
