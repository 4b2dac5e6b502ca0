"""A corpus as integer arrays: the input of mining.

Documents are read once, as a stream. Of each token remain the id of its surface form (four bytes) and the marks before
it (one byte); lemmas and word shapes are tables over distinct surface forms. Lemmas are chosen at the end, when all
spellings of each word are counted.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.documents import Document
from indexer.int_arrays import LOW_32_BITS, csr_starts, unique_keys
from indexer.mining.hyphenation import (
    HyphenCounts,
    TokenArrays,
    TokenRewriter,
    WordPair,
    choose_hyphenated_words,
    find_hyphenated_pairs,
)
from indexer.mining.lemma_table import build_lemma_table
from indexer.progress import Progress, no_progress
from indexer.runtime.array_spill import ArraySpill
from indexer.runtime.document_spool import split_into_parts_and_reader
from indexer.runtime.process_pool import map_in_order
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.tokenizer import FIELD_START_MARKS, Mark, tokenize_document

_PART_SIZE = 256
"""Documents encoded together."""
_BATCH_TOKENS = 1 << 18
"""Tokens of a batch of documents."""


@dataclass(frozen=True)
class EncodedCorpus:
    """Tokens of all documents, one after the other; ``offsets`` says where each document begins."""

    surfaces: list[str]
    """Distinct surface forms: words as they are written."""
    lemmas: list[str]
    """Distinct lemmas."""
    lemma_table: dict[str, str]
    """Case-folded word -> lemma, where the corpus decides it."""
    surface_ids: ArraySpill
    """Surface form of each token, shape (tokens,); on disk."""
    lemma_ids: NDArray[np.int32]
    """Lemma of each token, shape (tokens,)."""
    marks: NDArray[np.uint8]
    """Marks before each token and after the last, shape (tokens + 1,)."""
    offsets: NDArray[np.int64]
    """Document d is tokens offsets[d] to offsets[d + 1], shape (documents + 1,)."""
    piece_lengths: ArraySpill | None = None
    """Characters of the separators and words of each field in turn, shape (2 * (tokens + documents),); on disk. None
    if the corpus was encoded without them."""

    @property
    def token_count(self) -> int:
        return len(self.lemma_ids)

    @property
    def document_count(self) -> int:
        return len(self.offsets) - 1


class _IdTable(dict[str, int]):
    """Maps strings to ids; a new string gets the next one."""

    def __missing__(self, key: str) -> int:
        self[key] = number = len(self)
        return number


class _EncodedPart(NamedTuple):
    """Some documents with the surface ids of the process that read them."""

    process: int
    new_surfaces: list[str]
    """Surface forms that are new to this process; they have its next ids."""
    surface_ids: NDArray[np.int32]
    marks: bytes
    lengths: list[int]
    """Tokens of each document."""
    capital_ranges: list[tuple[int, int]]
    """First token and last (exclusive) of each field in capitals, where no case carries meaning."""
    piece_lengths: NDArray[np.int32] | None


class _PartEncoder:
    """Splits documents into words with ids; each process has its own ids."""

    def __init__(self, with_piece_lengths: bool) -> None:
        self.surfaces = _IdTable()
        self.with_piece_lengths = with_piece_lengths

    def encode(self, documents: list[Document]) -> _EncodedPart:
        words: list[str] = []
        marks = bytearray()
        lengths: list[int] = []
        capital_ranges: list[tuple[int, int]] = []
        pieces: list[str] = []
        for document in documents:
            tokenized = tokenize_document(document)
            capital_ranges += [(start + len(words), end + len(words)) for start, end in tokenized.capital_ranges]
            words += tokenized.words
            marks += bytes(tokenized.marks[:-1])
            lengths.append(len(tokenized.words))
            if self.with_piece_lengths:
                pieces += tokenized.pieces[0]
                pieces += tokenized.pieces[1]
        known = len(self.surfaces)
        surface_ids = np.fromiter(map(self.surfaces.__getitem__, words), dtype=np.int32, count=len(words))
        new_surfaces = list(islice(reversed(self.surfaces), len(self.surfaces) - known))[::-1]
        piece_lengths = None
        if self.with_piece_lengths:
            piece_lengths = np.fromiter(map(len, pieces), dtype=np.int32, count=len(pieces))
        return _EncodedPart(
            os.getpid(), new_surfaces, surface_ids, bytes(marks), lengths, capital_ranges, piece_lengths
        )


class _CorpusAssembler:
    """Puts the parts together; surface ids are in the order of the corpus, whichever process read them first."""

    def __init__(self, language: str, with_piece_lengths: bool) -> None:
        self.lemmatizer = Lemmatizer(language)
        self.piece_lengths = ArraySpill() if with_piece_lengths else None
        self.surfaces = _IdTable()
        self.id_maps: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        """Process -> the corpus's surface id of each of its own."""
        self.surface_ids = ArraySpill()
        self.marks = bytearray()
        self.lengths = array("q")
        self.capital_ranges: list[tuple[int, int]] = []

    def add(self, part: _EncodedPart) -> None:
        id_map, start = self.id_maps[part.process], len(self.marks)
        id_map.extend([self.surfaces[surface] for surface in part.new_surfaces])
        for surface in part.new_surfaces:
            self.lemmatizer[surface]  # cached, while other processes are at work
        self.surface_ids.append(np.frombuffer(id_map, dtype=np.int32)[part.surface_ids])
        self.marks += part.marks
        self.lengths.extend(part.lengths)
        self.capital_ranges += [(start + first, start + last) for first, last in part.capital_ranges]
        if self.piece_lengths is not None and part.piece_lengths is not None:
            self.piece_lengths.append(part.piece_lengths)

    def build_corpus(self) -> EncodedCorpus:
        self.marks.append(FIELD_START_MARKS)
        offsets = csr_starts(np.frombuffer(self.lengths, dtype=np.int64))
        raw = _RawTokens(self.surface_ids, np.frombuffer(self.marks, dtype=np.uint8), offsets, self.piece_lengths)
        spelling_counts = self._count_spellings(raw)
        pair_counts = _count_hyphenated_pairs(raw)
        table = self._build_table(raw, spelling_counts, pair_counts)
        tokens = _rewrite_tokens(raw, self._plan_rewriting(pair_counts))
        lemmas, lemma_ids = self._lemmatize(tokens.surface_ids)
        return EncodedCorpus(
            surfaces=list(self.surfaces),
            lemmas=lemmas,
            lemma_table=table,
            surface_ids=tokens.surface_ids,
            lemma_ids=lemma_ids,
            marks=tokens.marks,
            offsets=tokens.offsets,
            piece_lengths=tokens.piece_lengths,
        )

    def _count_spellings(self, tokens: _RawTokens) -> NDArray[np.int64]:
        """Count the occurrences of each surface form where case carries meaning and where only a capital does not.

        The shape is (surfaces, 2), see ``build_lemma_table``.
        """
        is_capitalised = np.fromiter(map(_is_capitalised, self.surfaces), np.bool_, len(self.surfaces))
        is_in_capitals = np.zeros(len(tokens.surface_ids), dtype=np.bool_)
        for first, last in self.capital_ranges:
            is_in_capitals[first:last] = True
        counts = np.zeros((len(self.surfaces), 2), dtype=np.int64)
        for start, surface_ids in _iterate_batches(tokens.surface_ids):
            end = start + len(surface_ids)
            is_initial = (tokens.marks[start:end] & (Mark.SENTENCE | Mark.TITLE)) != 0
            is_initial &= is_capitalised[surface_ids]
            for column, is_counted in enumerate((~is_initial, is_initial)):
                counted = surface_ids[is_counted & ~is_in_capitals[start:end]]
                counts[:, column] += np.bincount(counted, minlength=len(counts))
        return counts

    def _build_table(
        self, tokens: _RawTokens, spelling_counts: NDArray[np.int64], pair_counts: Mapping[int, HyphenCounts]
    ) -> dict[str, str]:
        """Return the table of the corpus and use it; counts are of surface forms and of pairs of them."""
        rows = zip(self.surfaces, *spelling_counts.T.tolist(), strict=True)
        table = build_lemma_table(rows, self.lemmatizer)
        folded, word_counts = list(map(str.casefold, self.surfaces)), Counter[str]()
        for word, count in zip(folded, spelling_counts.sum(axis=1).tolist(), strict=True):
            word_counts[word] += count
        pairs = (((folded[pair >> 32], folded[pair & LOW_32_BITS]), counts) for pair, counts in pair_counts.items())
        self.lemmatizer.use_table(table)
        table |= choose_hyphenated_words(
            pairs, word_counts, partial(_count_spaced_pairs, tokens, folded), self.lemmatizer
        )
        self.lemmatizer.use_table(table)
        return dict(sorted(table.items()))

    def _plan_rewriting(self, pair_counts: Iterable[int]) -> TokenRewriter:
        """Return what joins and splits tokens as the lemmatizer's table says, with ids for their new surface forms."""
        surfaces = list(self.surfaces)
        joined = {pair: f"{surfaces[pair >> 32]}-{surfaces[pair & LOW_32_BITS]}" for pair in pair_counts}
        joined_pairs = {
            pair: self.surfaces[word]
            for pair, word in joined.items()
            if word.casefold() in self.lemmatizer.joined_words
        }
        first_parts, second_parts, first_lengths = np.full((3, len(surfaces)), -1, dtype=np.int32)
        for i, word in enumerate(surfaces):
            if length := self.lemmatizer.get_split(word):
                first_parts[i], second_parts[i] = self.surfaces[word[:length]], self.surfaces[word[length:]]
                first_lengths[i] = length
        return TokenRewriter(joined_pairs, first_parts, second_parts, first_lengths)

    def _lemmatize(self, surface_ids: ArraySpill) -> tuple[list[str], NDArray[np.int32]]:
        """Return the distinct lemmas, and that of each token as its number."""
        is_used = np.zeros(len(self.surfaces), dtype=np.bool_)
        for _, batch in _iterate_batches(surface_ids):
            is_used[batch] = True
        lemmas = _IdTable()
        lemma_of_surface = np.array(
            [
                lemmas[self.lemmatizer[word]] if used else -1
                for word, used in zip(self.surfaces, is_used.tolist(), strict=True)
            ],
            dtype=np.int32,
        )
        lemma_ids = np.empty(len(surface_ids), dtype=np.int32)
        for start, batch in _iterate_batches(surface_ids):
            lemma_ids[start : start + len(batch)] = lemma_of_surface[batch]
        return list(lemmas), lemma_ids


class _RawTokens(NamedTuple):
    """Arrays of an ``EncodedCorpus`` that need no lemmas."""

    surface_ids: ArraySpill
    marks: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    piece_lengths: ArraySpill | None


def _iterate_batches(surface_ids: ArraySpill) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield the first token of each batch, and the surface ids of the batch."""
    for start in range(0, len(surface_ids), _BATCH_TOKENS):
        yield start, surface_ids[start : start + _BATCH_TOKENS]


def _count_hyphenated_pairs(tokens: _RawTokens) -> dict[int, HyphenCounts]:
    """Count the pairs of surface forms around a hyphen, see ``find_hyphenated_pairs``.

    A pair within a longer chain is counted apart: "vis-a-vis" says nothing about "Avis".
    """
    alone, in_chains = Counter[int](), Counter[int]()
    for first, last in _iterate_ranges(tokens.offsets, _BATCH_TOKENS):
        start, end = tokens.offsets[[first, last]].tolist()
        positions, pairs = find_hyphenated_pairs(tokens.surface_ids[start:end], tokens.marks[start:end])
        is_chain = np.diff(positions, prepend=-2, append=end - start + 2) == 1
        is_single = ~(is_chain[:-1] | is_chain[1:])
        alone.update(pairs[is_single].tolist())
        in_chains.update(pairs[~is_single].tolist())
    return {pair: HyphenCounts(alone[pair], in_chains[pair]) for pair in alone | in_chains}


def _count_spaced_pairs(tokens: _RawTokens, words: Sequence[str], wanted: set[WordPair]) -> dict[WordPair, int]:
    """Count how often each wanted pair of words has nothing but white space between them.

    ``words``: the word of each surface form.
    """
    ids = _IdTable()
    for pair in wanted:
        for word in pair:
            ids[word]  # gets the next id
    id_of_surface = np.array([ids.get(word, -1) for word in words], dtype=np.int64)
    pairs = {ids[first] << 32 | ids[second]: (first, second) for first, second in wanted}
    counts = Counter[int]()
    for first, last in _iterate_ranges(tokens.offsets, _BATCH_TOKENS):
        start, end = tokens.offsets[[first, last]].tolist()
        word_ids = id_of_surface[tokens.surface_ids[start:end]]
        is_spaced = (tokens.marks[start + 1 : end] & (Mark.BOUNDARY | Mark.HYPHEN)) == 0
        is_spaced &= (word_ids[:-1] >= 0) & (word_ids[1:] >= 0)
        positions = np.flatnonzero(is_spaced)
        counts.update((word_ids[positions] << 32 | word_ids[positions + 1]).tolist())
    return {pair: counts[key] for key, pair in pairs.items()}


def _rewrite_tokens(tokens: _RawTokens, rewriter: TokenRewriter) -> _RawTokens:
    """Return the tokens after joining and splitting, documents in the same order."""
    surface_ids, piece_lengths = ArraySpill(), None if tokens.piece_lengths is None else ArraySpill()
    marks, lengths = list[NDArray[np.uint8]](), list[NDArray[np.int64]]()
    for first, last in _iterate_ranges(tokens.offsets, _BATCH_TOKENS):
        start, end = tokens.offsets[[first, last]].tolist()
        pieces = None if tokens.piece_lengths is None else tokens.piece_lengths[2 * (start + first) : 2 * (end + last)]
        batch = rewriter.rewrite(
            TokenArrays(
                tokens.surface_ids[start:end],
                tokens.marks[start:end],
                np.diff(tokens.offsets[first : last + 1]),
                pieces,
            )
        )
        surface_ids.append(batch.surface_ids)
        marks.append(batch.marks)
        lengths.append(batch.lengths)
        if piece_lengths is not None and batch.piece_lengths is not None:
            piece_lengths.append(batch.piece_lengths)
    offsets = csr_starts(np.concatenate([np.zeros(0, dtype=np.int64), *lengths]))
    return _RawTokens(surface_ids, np.concatenate([*marks, tokens.marks[-1:]]), offsets, piece_lengths)


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() and word[1:] == word[1:].lower()


def encode_corpus(
    documents: Iterable[Document],
    language: str,
    progress: Progress = no_progress,
    total: int = 0,
    processes: int = 1,
    with_piece_lengths: bool = False,
) -> EncodedCorpus:
    """Read the stream of documents once and encode it; a document without words keeps its place with no tokens.

    ``total`` is the number of documents for the progress, 0 if unknown; ``with_piece_lengths`` keeps what tells the
    character offsets of each token. Raise BadSetting if ``language`` is not a language code.
    """
    assembler, encoder = _CorpusAssembler(language, with_piece_lengths), _PartEncoder(with_piece_lengths)
    parts, documents_of = split_into_parts_and_reader(documents, _PART_SIZE)
    for _, part in map_in_order(lambda part: encoder.encode(documents_of(part)), parts, processes):
        assembler.add(part)
        progress("read", len(assembler.lengths), total)
    progress("read", len(assembler.lengths), total or len(assembler.lengths))
    return assembler.build_corpus()


def iterate_document_ranges(corpus: EncodedCorpus, tokens_per_range: int = _BATCH_TOKENS) -> Iterator[tuple[int, int]]:
    """Yield runs of whole documents with about this many tokens: the first document and the last (exclusive)."""
    return _iterate_ranges(corpus.offsets, tokens_per_range)


def _iterate_ranges(offsets: NDArray[np.int64], tokens_per_range: int) -> Iterator[tuple[int, int]]:
    first, document_count = 0, len(offsets) - 1
    while first < document_count:
        last = int(np.searchsorted(offsets, offsets[first] + tokens_per_range, side="right")) - 1
        last = min(max(last, first + 1), document_count)
        yield first, last
        first = last


def get_lemma_ids_and_marks(
    corpus: EncodedCorpus, first_document: int, end_document: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return the lemma ids, shape (tokens,), and marks, (tokens + 1,), of documents first to last (exclusive)."""
    start, end = int(corpus.offsets[first_document]), int(corpus.offsets[end_document])
    return corpus.lemma_ids[start:end], corpus.marks[start : end + 1]


def get_token_documents(corpus: EncodedCorpus, first_document: int, end_document: int) -> NDArray[np.int64]:
    """Return the document of each token of a range of documents, counted from ``first_document``; shape (tokens,)."""
    return np.repeat(
        np.arange(end_document - first_document), np.diff(corpus.offsets[first_document : end_document + 1])
    )


def count_document_frequency(corpus: EncodedCorpus) -> NDArray[np.int32]:
    """Count the documents of each lemma, shape (lemmas,)."""
    frequency = np.zeros(len(corpus.lemmas), dtype=np.int32)
    for first, last in iterate_document_ranges(corpus):
        lemma_ids, _ = get_lemma_ids_and_marks(corpus, first, last)
        keys = unique_keys(get_token_documents(corpus, first, last) << 32 | lemma_ids)
        frequency += np.bincount(keys & LOW_32_BITS, minlength=len(frequency)).astype(np.int32)
    return frequency
