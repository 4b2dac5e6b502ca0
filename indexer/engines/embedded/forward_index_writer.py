"""Writes the forward index of a new epoch: words and salience as documents are added, edges with the graph."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from indexer import array_files
from indexer.documents import AnalysedDocument
from indexer.engines.embedded.forward_index import LINE_END, forward_file_name
from indexer.int_arrays import csr_positions, csr_starts

BATCH_DOCUMENTS = 4096
"""Documents written at a time."""
_RAW_CODES = {
    "words": "i", "salient_rows": "i", "salience": "d", "word_counts": "i", "salient_counts": "i", "versions": "Q",
}  # fmt: skip
"""Raw files of a build, in order of arrival, by the type code of ``array``; the last three have a number a document."""
_NEW_LINE = "\n"
_UNKNOWN = -2
"""Placeholder for a word that the model does not know, until its document is blanked."""
_VERSION = re.compile("[0-9a-f]{16}")
Ints = NDArray[np.int64]


class ForwardIndexWriter:
    """Writes raw files while documents are added, and the arrays when the model is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.word_ids: Mapping[str, int] | None = None
        """The model's ids of words, where they are known before the first document."""
        self._arrival_word_ids = {_NEW_LINE: 0}
        """Otherwise ids of words in order of arrival."""
        self._files: dict[str, BufferedWriter] = {name: self._raw_path(name).open("wb") for name in _RAW_CODES}

    def add(self, analysed: AnalysedDocument, salient_ids: list[int]) -> None:
        """Add a document; ``salient_ids`` numbers its salient phrases in order of arrival."""
        version = _parse_hex_version(analysed.version)
        words = [_NEW_LINE] if version is None else _split_words_and_newlines(analysed.tokens)
        self._write("words", self._get_word_ids(words))
        self._write("word_counts", [len(words)])
        self._write("salient_rows", salient_ids)
        self._write("salience", [one.salience for one in analysed.salient])
        self._write("salient_counts", [len(salient_ids)])
        self._write("versions", [version or 0])

    def finish(self, arrival_numbers: Ints, phrase_rows: Ints, model_word_ids: Mapping[str, int]) -> None:
        """Write the arrays, except those of the edges.

        ``arrival_numbers``: arrival number of each document, by document number; ``phrase_rows``: graph row of each
        phrase in order of arrival; ``model_word_ids``: the model's id of each word.
        """
        self._save_array("versions", self._memory_map_raw("versions")[arrival_numbers])
        self._save_word_ids(arrival_numbers, model_word_ids)
        counts = self._memory_map_raw("salient_counts")
        raw_starts, starts = csr_starts(counts), csr_starts(counts[arrival_numbers])
        self._save_array("salient_starts", starts)
        for name in ("salient_rows", "salience"):
            raw = self._memory_map_raw(name)
            out = self._create_array(name, int(starts[-1]), raw.dtype)
            for first in range(0, len(arrival_numbers), BATCH_DOCUMENTS):
                values = raw[csr_positions(raw_starts, arrival_numbers[first : first + BATCH_DOCUMENTS])]
                out[starts[first] : starts[first] + len(values)] = (
                    phrase_rows[values] if name == "salient_rows" else values
                )
        for name in _RAW_CODES:
            self._raw_path(name).unlink()

    def create_edge_arrays(self, edge_starts: Ints) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Create the arrays of rows and weights by document for the caller to fill; ``edge_starts``: their starts."""
        self._save_array("edge_starts", edge_starts)
        total = int(edge_starts[-1])
        return self._create_array("edge_rows", total, np.int32), self._create_array("edge_weights", total, np.float32)

    def close(self) -> None:
        """Close all files. Raise OSError if the end of one cannot be written."""
        with ExitStack() as stack:
            for file in self._files.values():
                stack.callback(file.close)

    def _get_word_ids(self, words: Sequence[str]) -> list[int]:
        """Return the model's ids of words, if they are known, otherwise ids by arrival."""
        if (known := self.word_ids) is not None:
            return [LINE_END if word == _NEW_LINE else known.get(word, _UNKNOWN) for word in words]
        arrived = self._arrival_word_ids
        return [arrived.setdefault(word, len(arrived)) for word in words]

    def _list_model_ids(self, model_word_ids: Mapping[str, int]) -> Ints | None:
        """Return the model's id of each word by its id of arrival; None if these are the model's already."""
        if self.word_ids is not None:
            return None
        ids = np.array([model_word_ids.get(word, _UNKNOWN) for word in self._arrival_word_ids], dtype=np.int64)
        ids[self._arrival_word_ids[_NEW_LINE]] = LINE_END
        return ids

    def _save_word_ids(self, arrival_numbers: Ints, model_word_ids: Mapping[str, int]) -> None:
        model_ids = self._list_model_ids(model_word_ids)
        raw, raw_counts = self._memory_map_raw("words"), self._memory_map_raw("word_counts")
        raw_starts, sizes = csr_starts(raw_counts), [np.zeros(0, dtype=np.int64)]
        with self._raw_path("word_ids").open("wb") as out:
            for first in range(0, len(arrival_numbers), BATCH_DOCUMENTS):
                batch = arrival_numbers[first : first + BATCH_DOCUMENTS]
                word_ids = raw[csr_positions(raw_starts, batch)].astype(np.int64)
                if model_ids is not None:
                    word_ids = model_ids[word_ids]
                word_ids, batch_sizes = _blank_documents_with_unknown_words(word_ids, raw_counts[batch])
                word_ids.astype(np.int32).tofile(out)
                sizes.append(batch_sizes)
        starts = csr_starts(np.concatenate(sizes))
        self._save_array("word_id_starts", starts)
        encoded = array_files.memory_map_raw_file(self._raw_path("word_ids"), np.dtype(np.int32))
        self._create_array("word_ids", int(starts[-1]), np.int32)[:] = encoded
        self._raw_path("word_ids").unlink()

    def _write(self, name: str, values: Iterable[float]) -> None:
        """Append numbers to a raw file."""
        array(_RAW_CODES[name], values).tofile(self._files[name])

    def _raw_path(self, name: str) -> Path:
        return self._folder / f"raw.forward_{name}"

    def _memory_map_raw(self, name: str) -> NDArray[Any]:
        return array_files.memory_map_raw_file(self._raw_path(name), np.dtype(_RAW_CODES[name]))

    def _create_array(self, name: str, size: int, dtype: DTypeLike) -> NDArray[Any]:
        return array_files.create_mapped_array(self._folder / forward_file_name(name), size, dtype)

    def _save_array(self, name: str, values: NDArray[np.generic]) -> None:
        array_files.save_array(self._folder / forward_file_name(name), values)


def _parse_hex_version(version: str) -> int | None:
    """Return a content version of 16 hexadecimal digits as a number, None for any other string."""
    return int(version, 16) if _VERSION.fullmatch(version) else None


def _split_words_and_newlines(tokens: str) -> list[str]:
    """Split tokens into words with a newline after each line; a lone newline if the white space is irregular."""
    if not tokens:
        return []
    pieces = f"{tokens}\n".replace("\n", " \n ")[:-1].split(" ")
    lines = tokens.count("\n") + 1
    is_regular = "" not in pieces and len(tokens.split()) == len(pieces) - lines
    return pieces if is_regular else [_NEW_LINE]


def _blank_documents_with_unknown_words(word_ids: Ints, document_sizes: Ints) -> tuple[Ints, Ints]:
    """Replace the words of each document that has an unknown one by a single LINE_END; return word ids and sizes."""
    document = np.repeat(np.arange(len(document_sizes)), document_sizes)
    has_unknown = np.bincount(document[word_ids == _UNKNOWN], minlength=len(document_sizes)) > 0
    if not has_unknown.any():
        return word_ids, document_sizes
    first = np.cumsum(document_sizes) - document_sizes
    is_kept = ~has_unknown[document]
    is_kept[first[has_unknown]] = True
    word_ids = word_ids.copy()
    word_ids[first[has_unknown]] = LINE_END
    return word_ids[is_kept], np.where(has_unknown, 1, document_sizes)
