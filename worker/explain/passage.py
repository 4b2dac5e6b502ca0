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
_MIN_NEARNESS = 0.3
"""One in forty random documents has a sentence that is as near and stands out."""
_MIN_LEAD = 0.1
"""How much nearer the passage must be than the other sentences are on average."""
_MIN_LEAD_OVER_FIRST = 0.15
"""How much nearer than the first sentence, which says best what many texts are about."""
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
    needed = {n: match for n, match in enumerate(matches) if match and match.lacks and len(hits[n].documents) == 1}
    texts = {n: text for n in needed if len((text := _split_text(hits[n])).sentences) > 1}
    measured = _measure_sentences(query, list(texts.values())) if texts else None
    passages: list[Passage | None] = [None] * len(hits)
    if measured is not None:
        for (n, text), nearness in zip(texts.items(), measured.nearness, strict=True):
            chosen = _choose_sentence(nearness) if measured.is_by_words or needed[n].matched else None
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


class _MeasuredSentences(NamedTuple):
    nearness: list[Scores]
    """Of the sentences of each text to the query, from -1 to 1."""
    is_by_words: bool
    """Whether word vectors took part. Topics alone find the sentence with a word of the query, but not one that tells
    the same in other words: by the judge no better than the first sentence."""


def _measure_sentences(query: ResolvedSide, texts: Sequence[_SplitText]) -> _MeasuredSentences | None:
    """Measure how near the sentences of texts are to the query; None if it has no place in any space of words."""
    sizes = [one.last - one.first for text in texts for one in text.sentences]
    owners = np.repeat(np.arange(len(sizes)), sizes)
    word_ids = np.concatenate([text.word_ids for text in texts])
    spaces = query.reader.model.evidence_spaces
    cosines = spaces.measure_texts(describe_query(query), word_ids, owners, len(sizes))
    if not cosines:
        return None
    total = sum(_SPACE_WEIGHTS[name] * own for name, own in cosines.items())
    # rounded, as the last digits depend on how many sentences are measured together
    nearness = np.round(total / sum(_SPACE_WEIGHTS[name] for name in cosines), 5)
    ends = np.cumsum([len(text.sentences) for text in texts])
    return _MeasuredSentences(np.split(nearness, ends[:-1]), "words" in cosines)


def _choose_sentence(nearness: Scores) -> int | None:
    """Return the sentence that stands out, by the nearness of each of several to the query; None if none does."""
    best = int(np.argmax(nearness))
    stands_out = (
        nearness[best] >= _MIN_NEARNESS
        and nearness[best] - (nearness.sum() - nearness[best]) / (len(nearness) - 1) >= _MIN_LEAD
        and (best == 0 or nearness[best] - nearness[0] >= _MIN_LEAD_OVER_FIRST)
    )
    return best if stands_out else None


def _cut_passage(hit: ResolvedSide, sentence: Sentence) -> Passage:
    text = hit.documents[0].document.text
    return Passage("text", sentence.start, sentence.end, text[sentence.start : sentence.end])
