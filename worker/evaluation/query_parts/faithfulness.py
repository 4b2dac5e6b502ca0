"""Whether reasons say what brought a hit near to its query: does the similarity fall when they are cut out?

The text of a hit is encoded again without the sentences that contain one of its first reasons, and without as many
other sentences, drawn at random. The reasons are faithful if the similarity to the query falls more without theirs.
The title is left out of all of these texts, and so is what the encoder does not read of a long text.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from indexer.documents import AnalysedDocument, Document
from indexer.progress import Progress
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences
from indexer.text.tokenizer import Mark, locate_tokens, tokenize_document
from worker.evaluation.query_answers import SHOWN_REASONS, HitAnswer, QueryRunner
from worker.evaluation.query_parts.query_shares import pool_shares
from worker.evaluation.sentence_encoder.text_vectors import TextEncoder


class LeftOut(Exception):
    """A hit whose reasons cannot be tested; the message is the cause."""


class TextSentence(NamedTuple):
    """A sentence of the text of a document."""

    tokens: range
    """Numbers of its tokens among those of title and text."""
    text: str
    """As written, with the characters up to the next sentence."""


class CutTexts(NamedTuple):
    """The text of a hit, whole and cut."""

    whole: str
    without_reasons: str
    without_others: str


def measure_faithfulness(
    runner: QueryRunner, encoder: TextEncoder, answers: Sequence[HitAnswer], seed: int, progress: Progress
) -> dict[str, Any]:
    """Return the share of hits with faithful reasons, and the mean loss of similarity without these and without others.

    Hits that cannot be tested are counted by cause as ``left_out``.
    """
    losses_by_query: dict[str, list[tuple[float, float]]] = {answer.query: [] for answer in answers}
    left_out: Counter[str] = Counter()
    misses = []
    lemmatizer = runner.reader.model.lemmatizer
    for done, answer in enumerate(answers):
        phrases = [entry["phrase"] for entry in answer.common[:SHOWN_REASONS]]
        (document,) = runner.reader.fetch([answer.hit])
        assert document is not None  # it was explained
        progress("faithful", done + 1, len(answers))
        try:
            texts = cut_text(
                document, phrases, lemmatizer, encoder, random.Random(f"{seed}:{answer.query}:{answer.hit}")
            )
        except LeftOut as cause:
            left_out[str(cause)] += 1
            continue
        vector = np.asarray(runner.encode_query(answer.query), dtype=np.float32)
        whole, without_reasons, without_others = (encoder.encode(texts) @ vector).tolist()
        reason_loss, other_loss = whole - without_reasons, whole - without_others
        losses_by_query[answer.query].append((reason_loss, other_loss))
        if reason_loss <= other_loss:
            misses.append(
                {
                    "query": answer.query,
                    "hit": answer.hit,
                    "reasons": [entry["display"] for entry in answer.common[:SHOWN_REASONS]],
                    "losses": [round(reason_loss, 4), round(other_loss, 4)],
                    "rest": texts.without_reasons,
                    "others_cut": texts.without_others,
                }
            )
    return {"queries": len(losses_by_query), **_pool_losses(list(losses_by_query.values()), seed)} | {
        "left_out": dict(sorted(left_out.items())),
        "misses": misses,
    }


def _pool_losses(losses: Sequence[Sequence[tuple[float, float]]], seed: int) -> dict[str, Any]:
    """``losses``: of each hit of each query, without its reasons and without other sentences."""
    counts: dict[str, list[tuple[float, int]]] = {
        "faithful": [(sum(reason > other for reason, other in own), len(own)) for own in losses],
        "reason_loss": [(sum(reason for reason, _ in own), len(own)) for own in losses],
        "other_loss": [(sum(other for _, other in own), len(own)) for own in losses],
    }
    return pool_shares(counts, seed)


def cut_text(
    document: AnalysedDocument, phrases: Sequence[str], lemmatizer: Lemmatizer, encoder: TextEncoder, rng: random.Random
) -> CutTexts:
    """Return the text without the sentences that contain a phrase, and without as many others; raise LeftOut if there
    are none of either.

    Where most sentences contain a phrase, as many of them are cut as there are others: those of the first phrases.
    """
    if not phrases:
        raise LeftOut("no reason")
    source = document.document
    sentences = split_sentences(source, lemmatizer, encoder.find_read_end(source.text))
    positions = chain.from_iterable(find_occurrences(phrase, document.tokens) for phrase in phrases)
    holding = list(
        dict.fromkeys(
            number for position in positions for number, one in enumerate(sentences) if position in one.tokens
        )
    )
    others = [number for number in range(len(sentences)) if number not in holding]
    if not holding:
        raise LeftOut("reasons in the title only")
    if not others:
        raise LeftOut("reasons in every sentence")
    count = min(len(holding), len(others))
    cuts: tuple[Sequence[int], ...] = ([], holding[:count], rng.sample(others, count))
    return CutTexts(*(_join_sentences(sentences, cut) for cut in cuts))


def split_sentences(document: Document, lemmatizer: Lemmatizer, end: int) -> list[TextSentence]:
    """Return the sentences of the first ``end`` characters of the text; they begin where a token is marked so."""
    marks = tokenize_document(document, lemmatizer).marks
    starts = {
        number: start
        for number, (field, start, _) in enumerate(locate_tokens(document, lemmatizer))
        if field == "text" and start < end
    }
    begins = [number for number in starts if marks[number] & Mark.SENTENCE]
    ends = [*begins[1:], max(starts, default=-1) + 1]
    return [
        TextSentence(range(first, last), document.text[starts[first] : starts.get(last, end)])
        for first, last in zip(begins, ends, strict=False)
    ]


def _join_sentences(sentences: Sequence[TextSentence], cut: Sequence[int]) -> str:
    return "".join(sentence.text for number, sentence in enumerate(sentences) if number not in cut).strip()
