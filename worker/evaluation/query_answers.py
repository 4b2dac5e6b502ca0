"""Answers to queries as a results page gets them, and the words that each answer tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from indexer.documents import PAIR_SEPARATOR, Document
from indexer.engines.search_types import Hit, Selection
from indexer.errors import BadInput
from indexer.model.evidence_spaces import SpaceName
from indexer.model.phrase_model import PhraseModel
from indexer.text.stopwords import ENGLISH_STOPWORDS, mark_stopwords
from indexer.text.tokenizer import split_words_and_separators
from worker.comparer import Comparer
from worker.explain.side import Side
from worker.index_catalog import get_analyzer_cache
from worker.methods.query_ranking import EVEN_CHANCE

SHOWN_REASONS = 3
"""Reasons that a results page shows."""


@dataclass(frozen=True, slots=True)
class ToldEntry:
    """One reason that a reader is told: a matched word, or an entry of ``common``."""

    text: str
    words: frozenset[str]
    """Its words, folded to lower case, and their lemmas."""


@dataclass(frozen=True, slots=True)
class HitAnswer:
    """What the answer for one hit of a query tells; lists that the answer does not have are empty."""

    query: str
    hit: str
    matched: Sequence[dict[str, Any]]
    common: Sequence[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return what a reader of the results page sees."""
        names = ("display", "kind", "score", "noise")
        return {
            "query": self.query,
            "hit": self.hit,
            "matched": [match["word"] for match in self.matched],
            "common": [{name: entry[name] for name in names if name in entry} for entry in self.common],
        }


class QueryRunner:
    """Searches one index and explains its documents against queries, with the words of the index's language."""

    def __init__(
        self, comparer: Comparer, index: str, encode_query: Callable[[str], Sequence[float]] | None = None
    ) -> None:
        """``encode_query``: returns the vector of a query, for an index whose documents have vectors."""
        self.index = index
        self._encode_query = encode_query
        self.reader = comparer.engine.open_reader(index)
        self._comparer = comparer
        self._analyzer = get_analyzer_cache(comparer.engine).get(self.reader)

    @property
    def space_names(self) -> list[SpaceName]:
        """Spaces that the evidence comes from: of those of the index, the ones that the comparer uses."""
        return [name for name in self.reader.model.evidence_spaces.names if name in self._comparer.space_names]

    def encode_query(self, query: str) -> Sequence[float]:
        """Return the vector that a query is sent with; raise BadInput if there is no encoder."""
        if self._encode_query is None:
            raise BadInput("queries have no vectors", fix="give an encoder")
        return self._encode_query(query)

    def lemmatize_all(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the lemmas of each text, by the analysis that documents and queries go through."""
        documents = (Document(id="", text=text) for text in texts)
        return [analysed.tokens.split() for analysed in self._analyzer.analyse_all(documents)]

    def search(self, query: str, size: int) -> Sequence[Hit]:
        """Return the first hits of the engine's own search for any word of the query."""
        (lemmas,) = self.lemmatize_all([query])
        return self.reader.search(Selection(words=tuple(lemmas)), size=size).hits if lemmas else ()

    def explain(self, query: str, ids: Sequence[str]) -> list[HitAnswer]:
        """Explain documents against the query together, as the service explains the hits of a page."""
        vector = {} if self._encode_query is None else {"vector": list(self._encode_query(query))}
        asked = Side.from_json({"query": query, **vector})
        specs = [self._comparer.make_spec(self.index, Side.from_id(id), asked) for id in ids]
        answers = [reasons.to_dict() for reasons in self._comparer.explain_query_page(specs).reasons] if specs else []
        return [
            HitAnswer(query, id, answer.get("matched") or (), answer["common"])
            for id, answer in zip(ids, answers, strict=True)
        ]

    def list_told_entries(self, answer: HitAnswer) -> list[ToldEntry]:
        """Return what a results page tells, in its order: phrases of both texts that contain a matched word, the
        matched words that are part of none of them, and the other phrases.

        A weak phrase of one word only repeats that word. Phrases merged into an entry (``also``) are not shown there,
        and do not count.
        """
        words = [self._make_entry(match["word"], match.get("as") or match["word"]) for match in answer.matched]
        matched_words = frozenset().union(*(word.words for word in words))
        found: dict[str, ToldEntry] = {}
        others: dict[str, ToldEntry] = {}
        for one in answer.common:
            entry = self._make_entry(one["display"], one["phrase"].replace(PAIR_SEPARATOR, " "))
            if one["kind"] != "shared" or entry.words.isdisjoint(matched_words):
                others[entry.text] = entry
            elif one["score"] >= EVEN_CHANCE or " " in one["display"]:
                found[entry.text] = entry
        for word in words:
            (lemmas,) = self.lemmatize_all([word.text])
            if not any(phrase.words.issuperset(lemmas) for phrase in found.values()):
                found[word.text] = word
        return list((found | others).values())

    def _make_entry(self, *texts: str) -> ToldEntry:
        return ToldEntry(texts[0], frozenset(self._list_words_and_lemmas(texts)))

    def _list_words_and_lemmas(self, texts: Sequence[str]) -> Iterator[str]:
        for text, lemmas in zip(texts, self.lemmatize_all(texts), strict=True):
            yield from fold_words(text)
            yield from lemmas

    def select_content_words(self, words: Sequence[str]) -> list[str]:
        """Return the folded words without function words, unless there are no others."""
        return [word for word in words if word not in self._function_words] or list(words)

    @cached_property
    def _function_words(self) -> frozenset[str]:
        return list_function_words(self.reader.model)


def list_function_words(model: PhraseModel) -> frozenset[str]:
    """Return the function words of an index, as lemmas."""
    language = model.settings.get("language", "en")
    words = list(model.words)
    is_function_word = mark_stopwords(words, model.word_document_frequency, model.document_count, language)
    listed = ENGLISH_STOPWORDS if language == "en" else frozenset()
    return listed.union(word for word, is_listed in zip(words, is_function_word.tolist(), strict=True) if is_listed)


def fold_words(text: str) -> list[str]:
    """Return the words of a text without the difference of upper and lower case."""
    return [word.casefold() for word in split_words_and_separators(text)[0]]
