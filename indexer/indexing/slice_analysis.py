"""What a process computes of one slice of a shared build, in three passes over the source.

The first counts words with the model that was mined from the sample, the second phrases with the words of all
documents, the third analyses and writes the documents with the completed model. Documents are read in parts. What a
part counts is packed as arrays, which hold no code that could run where they are read.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.salience import SalienceOptions
from indexer.analysis.salient_phrases import analyse_batch
from indexer.analysis.vector_centroids import PlaceStatistics, count_places
from indexer.documents import AnalysedDocument, Document
from indexer.lazy_sequences import pack_strings, unpack_strings
from indexer.mining.corpus_statistics import PhraseStatistics, WordStatistics, count_slice, count_slice_words
from indexer.mining.document_sample import count_text_bytes
from indexer.mining.streamed_corpus import PART_DOCUMENTS, encode_documents
from indexer.model.phrase_model import PhraseModel
from indexer.model.topic_space import PhraseVectorSums
from indexer.model.vector_space import VectorProjection
from indexer.runtime.document_spool import encode_document
from indexer.segmentation.batch import CompiledModel, segment_batch
from indexer.vectors import stack_vectors

PART_BYTES = 1 << 22
"""Bytes of titles and texts of a part, unless a single document has more."""
HASH_BYTES = 16
_PLACES = "places_"
"""Start of the names of the arrays of PlaceStatistics."""

Arrays = Mapping[str, NDArray[np.generic]]


def split_into_parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield the documents in lists that bound the memory of what is computed of each."""
    part: list[Document] = []
    size = 0
    for document in documents:
        own_size = count_text_bytes(document)
        if part and (len(part) == PART_DOCUMENTS or size + own_size > PART_BYTES):
            yield part
            part, size = [], 0
        part.append(document)
        size += own_size
    if part:
        yield part


def sum_document_hashes(documents: Iterable[Document]) -> int:
    """Return a number that stands for a set of documents: those of its parts add up to it, in any order."""
    total = 0
    for document in documents:
        line = encode_document(replace(document, vector=None)) + (document.vector or b"")
        total += int.from_bytes(hashlib.blake2b(line, digest_size=HASH_BYTES).digest())
    return total % (1 << 8 * HASH_BYTES)


class SliceAnalyser:
    """Computes parts of slices with the model of a pass."""

    def __init__(self, model: PhraseModel, projection: VectorProjection | None = None) -> None:
        """``projection``: of the documents' vectors; None if they have none, or the pass is not that of phrases."""
        self._compiled = CompiledModel(model)
        self._options = SalienceOptions.from_model(model)
        self._projection = projection

    def count_words(self, documents: Sequence[Document]) -> Arrays:
        tokens = encode_documents(self._compiled, list(documents))
        words = self._compiled.model.words
        counted = count_slice_words(tokens.word_ids, tokens.document_lengths, len(words), tokens.new_words)
        return {
            "counts": np.array([counted.document_count, counted.token_count]),
            "words": counted.words.astype(np.int32),
            "document_frequency": counted.document_frequency.astype(np.int32),
            "new_words": pack_strings(counted.new_words),
            "new_document_frequency": counted.new_document_frequency.astype(np.int32),
        }

    def count_phrases(self, documents: Sequence[Document]) -> Arrays:
        batch, _, edges, weights = segment_batch(self._compiled, documents)
        topics = self._compiled.model.pair_topic_space
        counted = count_slice(topics, batch.word_ids, batch.token_documents, batch.document_lengths, edges, weights)
        arrays: dict[str, NDArray[np.generic]] = {
            "phrases": counted.phrases.astype(np.int32),
            "document_frequency": counted.document_frequency.astype(np.int32),
            "degree": counted.degree,
            "normalised_weight": counted.normalised_weight,
            "vector_phrases": counted.topic_vectors.phrases.astype(np.int32),
            "vector_sums": counted.topic_vectors.sums,
        }
        if self._projection is not None:
            numbers, vectors = stack_vectors([document.vector for document in documents])
            places = count_places(self._projection, numbers, vectors, edges, len(documents))
            arrays |= {_PLACES + name: np.asarray(value) for name, value in places._asdict().items()}
        return arrays

    def analyse(self, documents: Sequence[Document]) -> list[AnalysedDocument]:
        return analyse_batch(self._compiled, self._options, list(documents))


def read_word_statistics(arrays: Arrays) -> WordStatistics:
    """Return what ``SliceAnalyser.count_words`` counted."""
    documents, tokens = arrays["counts"].tolist()
    return WordStatistics(
        documents,
        tokens,
        arrays["words"].astype(np.int64),
        arrays["document_frequency"].astype(np.int64),
        unpack_strings(arrays["new_words"].astype(np.uint8)),
        arrays["new_document_frequency"].astype(np.int64),
    )


def read_phrase_statistics(arrays: Arrays) -> tuple[PhraseStatistics, PlaceStatistics | None]:
    """Return what ``SliceAnalyser.count_phrases`` counted."""
    vectors = PhraseVectorSums(arrays["vector_phrases"].astype(np.int64), arrays["vector_sums"].astype(np.float32))
    counted = PhraseStatistics(
        arrays["phrases"].astype(np.int64),
        arrays["document_frequency"].astype(np.int64),
        arrays["degree"].astype(np.float64),
        arrays["normalised_weight"].astype(np.float64),
        vectors,
    )
    if _PLACES + "phrases" not in arrays:
        return counted, None
    places = PlaceStatistics(
        arrays[_PLACES + "phrases"].astype(np.int64),
        arrays[_PLACES + "sums"].astype(np.float32),
        arrays[_PLACES + "counts"].astype(np.int64),
        arrays[_PLACES + "total"].astype(np.float32),
        int(arrays[_PLACES + "document_count"]),
    )
    return counted, places


def pack_projection(projection: VectorProjection) -> bytes:
    return pack_parts([{"mean": projection.mean, "axes": projection.axes}])


def read_projection(data: bytes) -> VectorProjection:
    """Return what ``pack_projection`` packed."""
    (arrays,) = unpack_parts(data)
    return VectorProjection(arrays["mean"].astype(np.float32), arrays["axes"].astype(np.float32))


def pack_parts(parts: Sequence[Arrays]) -> bytes:
    """Return the arrays of parts as bytes."""
    out = io.BytesIO()
    named: Any = {f"{number}/{name}": array for number, part in enumerate(parts) for name, array in part.items()}
    np.savez(out, part_count=np.array(len(parts)), **named)
    return out.getvalue()


def unpack_parts(data: bytes) -> list[Arrays]:
    """Return what ``pack_parts`` packed."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        parts: list[dict[str, NDArray[np.generic]]] = [{} for _ in range(int(stored["part_count"]))]
        for name in stored.files:
            number, _, own_name = name.partition("/")
            if own_name:
                parts[int(number)][own_name] = stored[name]
    return list(parts)
