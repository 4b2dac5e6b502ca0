"""The passage of a hit: the sentence of its text that lies nearest to the query.

A sentence and a query are compared in the spaces of words of the index, where each is the sum of the vectors of its
words by their rarity. So a sentence is found that tells in other words what the query asks for; words that both contain
count like others, but lie nearest. A passage is told if the hit lacks a word of the query, as its words do not explain
it then, and if the sentence stands out: near to the query, and nearer than the other sentences.

The weights and limits were chosen with a sentence encoder as the judge, on hits of 120 queries over three corpora
(docs/method.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from indexer.model.evidence_spaces import Ints, Scores, SpaceName
from worker.explain.phrase_evidence import describe_query
from worker.explain.query_match import QueryMatch
from worker.explain.resolved_side import ResolvedSide
from worker.explain.text.sentences import Sentence, split_sentences

_SPACE_WEIGHTS: Mapping[SpaceName, float] = {"words": 1.0, "topics": 0.5}
"""What words mean in general counts more than the topics of the corpus: those are learned from whole documents, and
blurred in a sentence."""
_MIN_NEARNESS = 0.25
"""One in twenty random documents has a sentence that stands out above this."""
_MIN_LEAD, _MIN_LEAD_OF_MEAN = 0.03, 0.1
"""How much nearer the passage must be than the next sentence, and than the others on average."""
_FIRST_SENTENCE_BONUS = 0.03
"""The first sentence often says what a text is about: another one must be clearly nearer."""
_MAX_CHARACTERS = 200_000
"""Characters of a text that are searched for sentences."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a document: offsets into the original field, and what is there."""

    field: str
    start: int
    end: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"field": self.field, "start": self.start, "end": self.end, "text": self.text}


def find_passage(query: ResolvedSide, hit: ResolvedSide, match: QueryMatch | None) -> Passage | None:
    """Return the passage of a hit; None if it contains every word of the query, or no sentence stands out.

    Parameters
    ----------
    query
        The query as a side; one that is only a vector has no passages, as sentences have no place in its space.
    hit
        A document of the index or a text; a set has no passage.
    match
        The words of the query that the hit contains and lacks.
    """
    (passage,) = find_passages(query, [hit], [match])
    return passage


def find_passages(
    query: ResolvedSide, hits: Sequence[ResolvedSide], matches: Sequence[QueryMatch | None]
) -> list[Passage | None]:
    """Return what ``find_passage`` does for each hit of a page; the sentences of all are measured at once."""
    needed = [n for n, match in enumerate(matches) if match and match.lacks and len(hits[n].documents) == 1]
    texts = {n: text for n in needed if (text := _split_text(hits[n])).sentences}
    nearness = _measure_sentences(query, list(texts.values())) if texts else None
    passages: list[Passage | None] = [None] * len(hits)
    if nearness is not None:
        for (n, text), own in zip(texts.items(), nearness, strict=True):
            chosen = _choose_sentence(own)
            passages[n] = None if chosen is None else _cut_passage(hits[n], text.sentences[chosen])
    return passages


class _SplitText(NamedTuple):
    sentences: list[Sentence]
    word_ids: Ints
    """Of the words of all its sentences, one sentence after another."""


def _split_text(hit: ResolvedSide) -> _SplitText:
    """Split the text of a hit, without its title, into sentences."""
    spans = hit.spans[0]
    ends = spans.find_text_ends(_MAX_CHARACTERS)
    word_ids = hit.known_word_ids[spans.title_length :]
    if 2 * len(word_ids) < len(ends) - 1:  # the stored tokens are not those of the text
        return _SplitText([], word_ids[:0])
    sentences = split_sentences(spans.document.document.text, ends)
    parts = [word_ids[one.first : one.last] for one in sentences]
    return _SplitText(sentences, np.concatenate(parts) if parts else word_ids[:0])


def _measure_sentences(query: ResolvedSide, texts: Sequence[_SplitText]) -> list[Scores] | None:
    """Return how near the sentences of each text are to the query, from -1 to 1; None if it has no place."""
    sizes = [one.last - one.first for text in texts for one in text.sentences]
    owners = np.repeat(np.arange(len(sizes)), sizes)
    word_ids = np.concatenate([text.word_ids for text in texts])
    spaces = query.reader.model.evidence_spaces
    cosines = spaces.measure_texts(describe_query(query), word_ids, owners, len(sizes))
    if not cosines:
        return None
    weights = {name: _SPACE_WEIGHTS[name] for name in cosines}
    total = sum(weight * cosines[name] for name, weight in weights.items()) / sum(weights.values())
    # rounded, as the last digits depend on how many sentences are measured together
    return np.split(np.round(total, 5), np.cumsum([len(text.sentences) for text in texts])[:-1])


def _choose_sentence(nearness: Scores) -> int | None:
    """Return the sentence that stands out, by the nearness of each to the query; None if none does."""
    if len(nearness) < 2:
        return None  # the text is no longer than its passage
    ranked = nearness.copy()
    ranked[0] += _FIRST_SENTENCE_BONUS
    best = int(np.argmax(ranked))
    if nearness[best] < _MIN_NEARNESS:
        return None
    others, ranked_others = np.delete(nearness, best), np.delete(ranked, best)
    leads = ranked[best] - ranked_others.max() >= _MIN_LEAD and nearness[best] - others.mean() >= _MIN_LEAD_OF_MEAN
    return best if leads else None


def _cut_passage(hit: ResolvedSide, sentence: Sentence) -> Passage:
    text = hit.documents[0].document.text
    return Passage("text", sentence.start, sentence.end, text[sentence.start : sentence.end])
