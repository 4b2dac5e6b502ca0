"""Select the phrases that a text itself shows to be phrases: noun phrases, names, identifiers.

Mining finds what many documents have. What sets one document apart is rare by nature, so most of it is here only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from indexer.documents import TextPhrase
from indexer.int_arrays import Ints, csr_starts, range_positions
from indexer.model.phrase_model import PhraseModel
from indexer.segmentation.batch import EncodedBatch
from indexer.syntax.noun_phrases import find_noun_phrases
from indexer.syntax.tagger import tag_tokens
from indexer.syntax.word_features import has_shape
from indexer.syntax.word_runs import CAPITALISED_NOUN_LANGUAGES, FUNCTION_WORD_SHARE, find_word_runs
from indexer.syntax.word_shapes import Shape

TAGGED_LANGUAGE = "en"
"""The language that there is a tagger for."""
MAX_TEXT_PHRASES = 16
"""Phrases stored for a document besides its salient ones."""
_MAX_WORDS_WEIGHED = 3
"""Rarest words of a phrase that count: a longer one does not tell more."""
_MIN_HEADLINE_WORDS = 3
"""A shorter title without capitals is a name rather than a sentence."""
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random."""


def finds_all_phrases(model: PhraseModel) -> bool:
    """Return whether what is in no phrase of a text is none: in other languages, one must be repeated to be found."""
    language = _get_language(model)
    return language == TAGGED_LANGUAGE or language in CAPITALISED_NOUN_LANGUAGES


def _get_language(model: PhraseModel) -> str:
    return model.settings.get("language", "en").partition("-")[0]


def select_text_phrases(
    model: PhraseModel, batch: EncodedBatch, salient: Sequence[Sequence[str]], *, by_corpus: bool = True
) -> list[tuple[TextPhrase, ...]]:
    """Return the phrases of each document of a batch, those that tell most about it first.

    Kept are the ``MAX_TEXT_PHRASES`` whose words are rarest and that the document repeats, and those of ``salient``,
    its salient phrases. ``by_corpus`` False: how rare a word is does not count.
    """
    if not len(batch.word_ids):
        return [()] * len(batch.document_lengths)
    starts, lengths, is_certain = _find_phrases(model, batch, by_corpus)
    first, counts = _count_equal_phrases(_hash_phrases(batch, model, starts, lengths))
    is_kept = is_certain[first] | (counts > 1)
    starts, lengths, counts = starts[first[is_kept]], lengths[first[is_kept]], counts[is_kept]
    weights = _weigh_phrases(model, batch, starts, lengths, counts, by_corpus)
    bounds = np.searchsorted(starts, batch.document_starts).tolist()
    selected: list[tuple[TextPhrase, ...]] = []
    for document, (begin, end) in enumerate(pairwise(bounds)):
        ranked = begin + np.argsort(-weights[begin:end], kind="stable")
        document_start = int(batch.document_starts[document])
        columns = (starts[ranked] - document_start, lengths[ranked], counts[ranked])
        phrases = [TextPhrase(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
        words = batch.lemmas[document_start : int(batch.document_starts[document + 1])]
        selected.append(_select_of_document(words, phrases, frozenset(salient[document])))
    return selected


def _select_of_document(
    words: Sequence[str], ranked: Sequence[TextPhrase], salient: Collection[str]
) -> tuple[TextPhrase, ...]:
    """Return the first phrases of a document of these words, and those further down that are salient."""
    rest = ranked[MAX_TEXT_PHRASES:]
    names = [" ".join(words[one.start : one.start + one.length]) for one in rest]
    known = [one for one, name in zip(rest, names, strict=True) if name in salient]
    return (*ranked[:MAX_TEXT_PHRASES], *known)


def _find_phrases(model: PhraseModel, batch: EncodedBatch, by_corpus: bool) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the first token and the length of each phrase of a batch, and whether it is one even if the text has it
    only once, each of shape (phrases,)."""
    language = _get_language(model)
    if language == TAGGED_LANGUAGE:
        tags = tag_tokens(batch.word_features, batch.marks)
        starts, lengths = find_noun_phrases(tags, batch.word_features, batch.marks)
        is_kept = ~_mark_headlines_without_case(batch)[starts]
        return starts[is_kept], lengths[is_kept], np.ones(int(is_kept.sum()), dtype=np.bool_)
    if not by_corpus:  # which words are frequent must not be told
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    is_frequent = model.word_document_share[batch.word_ids] >= FUNCTION_WORD_SHARE
    return find_word_runs(batch.word_features, batch.marks, is_frequent, language)


def _mark_headlines_without_case(batch: EncodedBatch) -> NDArray[np.bool_]:
    """Return which tokens are of a title of some words without any capital, shape (tokens,).

    The tokenizer writes titles in capitals small, too. Nothing tells a name from a verb there: "fda backs upjohn".
    """
    capitals = has_shape(batch.word_features, Shape.CAPITALISED) & batch.is_in_title
    document, size = batch.token_documents, len(batch.document_lengths)
    has_capital = np.bincount(document[capitals], minlength=size) > 0
    is_headline = (np.bincount(document[batch.is_in_title], minlength=size) >= _MIN_HEADLINE_WORDS) & ~has_capital
    return np.asarray(is_headline[document] & batch.is_in_title)


def _hash_phrases(batch: EncodedBatch, model: PhraseModel, starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """Return a number for each phrase that only the same words in a document have, but for chance; shape (phrases,)."""
    ids = batch.word_ids.astype(np.uint64)
    unknown = np.flatnonzero(batch.word_ids == len(model.words))
    new_ids: dict[str, int] = {}
    for position in unknown.tolist():
        ids[position] = len(model.words) + new_ids.setdefault(batch.lemmas[position], len(new_ids))
    # multiplied, as a low number combined with a low id would be that of another document with another word
    hashes = (batch.token_documents[starts].astype(np.uint64) + np.uint64(1)) * _HASH_MULTIPLIER
    for offset in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > offset)
        mixed = (hashes[longer] ^ ids[starts[longer] + offset]) + np.uint64(offset + 1)
        hashes[longer] = (mixed ^ (mixed >> np.uint64(29))) * _HASH_MULTIPLIER
    return hashes


def _count_equal_phrases(hashes: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Return the first of each group of equal phrases, ascending, and the size of the group."""
    _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], counts[order]


def _weigh_phrases(
    model: PhraseModel, batch: EncodedBatch, starts: Ints, lengths: Ints, counts: Ints, by_corpus: bool
) -> NDArray[np.float64]:
    """Return how much each phrase tells about its document, shape (phrases,): rare words, and repeated."""
    owners = np.repeat(np.arange(len(starts)), lengths)
    word_ids = batch.word_ids[range_positions(starts, lengths)]
    rarity = model.word_idf[word_ids] if by_corpus else np.ones(len(word_ids))
    order = np.lexsort((-rarity, owners))
    rank = np.arange(len(owners)) - np.repeat(csr_starts(lengths)[:-1], lengths)
    is_weighed = rank < _MAX_WORDS_WEIGHED
    sums = np.bincount(owners[is_weighed], rarity[order][is_weighed], minlength=len(starts))
    return np.asarray(sums * (1 + np.log(counts)), dtype=np.float64)
