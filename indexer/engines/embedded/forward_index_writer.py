"""Making the forward index of a new epoch: words and salience go to disk as documents come, edges with the graph."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.documents import AnalysedDocument
from indexer.engines.embedded import array_files
from indexer.engines.embedded.forward_index import LINE_END, file_name
from indexer.engines.embedded.varints import encoded, sizes_of
from indexer.ranges import ranges, starts_of

BATCH = 4096
"""Documents written at a time."""
_KINDS: dict[str, type[np.generic]] = {"words": np.int32, "salient_rows": np.int32, "salience": np.float64}
_NEW_LINE, _UNKNOWN = "\n", -1
_VERSION = re.compile("[0-9a-f]{16}")
Ints = NDArray[np.int64]


class _Numbers(dict[str, int]):
    """Names in order of arrival."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


class ForwardWriter:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._words = _Numbers({_NEW_LINE: 0})
        self._sizes: dict[str, array[int]] = {"words": array("q"), "salient": array("q")}
        self._versions = array("Q")
        self._files: dict[str, BufferedWriter] = {name: self._path(name).open("wb") for name in _KINDS}

    def add(self, analysed: AnalysedDocument, salient: list[int]) -> None:
        """``salient``: numbers of its salient phrases, in order of arrival."""
        version = _number(analysed.version)
        pieces = [_NEW_LINE] if version is None else _pieces(analysed.tokens)
        words = list(map(self._words.__getitem__, pieces))
        self._sizes["words"].append(len(words))
        array("i", words).tofile(self._files["words"])
        self._sizes["salient"].append(len(salient))
        array("i", salient).tofile(self._files["salient_rows"])
        array("d", [one.salience for one in analysed.salient]).tofile(self._files["salience"])
        self._versions.append(version or 0)

    def finish(self, arrival: Ints, rows: Ints, word_rows: Mapping[str, int]) -> None:
        """``arrival``: documents by id; ``rows``: of each phrase in order of arrival; ``word_rows``: the model's."""
        self._save("versions", np.frombuffer(self._versions, dtype=np.uint64)[arrival])
        self._save_words(arrival, word_rows)
        raw_starts = starts_of(np.frombuffer(self._sizes["salient"], dtype=np.int64))
        starts = starts_of(np.diff(raw_starts)[arrival])
        self._save("salient_starts", starts)
        for name in ("salient_rows", "salience"):
            raw, out = self._raw(name), self._create(name, int(starts[-1]), _KINDS[name])
            for first in range(0, len(arrival), BATCH):
                taken = raw[ranges(raw_starts, arrival[first : first + BATCH])]
                out[starts[first] : starts[first] + len(taken)] = rows[taken] if name == "salient_rows" else taken
        for name in _KINDS:
            self._path(name).unlink()

    def save_edges(self, starts: Ints) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and weights of the edges of each document, to be filled."""
        self._save("edge_starts", starts)
        total = int(starts[-1])
        return self._create("edge_rows", total, np.int32), self._create("edge_weights", total, np.float32)

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _save_words(self, arrival: Ints, word_rows: Mapping[str, int]) -> None:
        code = np.array(
            [word_rows[word] + 1 if word in word_rows else _UNKNOWN for word in self._words], dtype=np.int64
        )
        code[self._words[_NEW_LINE]] = LINE_END
        raw, raw_starts = self._raw("words"), starts_of(np.frombuffer(self._sizes["words"], dtype=np.int64))
        sizes = [np.zeros(0, dtype=np.int64)]
        with self._path("coded").open("wb") as out:
            for first in range(0, len(arrival), BATCH):
                batch = arrival[first : first + BATCH]
                codes, held = _known(code[raw[ranges(raw_starts, batch)]], np.diff(raw_starts)[batch])
                encoded(codes).tofile(out)
                ends = np.concatenate([[0], np.cumsum(sizes_of(codes))])
                sizes.append(np.diff(ends[np.cumsum(held)], prepend=0))
        starts = starts_of(np.concatenate(sizes))
        self._save("word_starts", starts)
        data = self._create("words", int(starts[-1]), np.uint8)
        if len(data):
            data[:] = np.memmap(self._path("coded"), dtype=np.uint8, mode="r")
        self._path("coded").unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"raw.forward_{name}"

    def _raw(self, name: str) -> NDArray[Any]:
        return array_files.raw(self._path(name), _KINDS[name])

    def _create(self, name: str, size: int, kind: type[np.generic]) -> NDArray[Any]:
        return array_files.create(self._folder / file_name(name), size, kind)

    def _save(self, name: str, values: NDArray[np.generic]) -> None:
        array_files.save(self._folder / file_name(name), values)


def _number(version: str) -> int | None:
    """A version as ``Document.version`` writes it; None for another."""
    return int(version, 16) if _VERSION.fullmatch(version) else None


def _pieces(tokens: str) -> list[str]:
    """Words with an end of line after each line; only such an end where there is more than words in lines."""
    if not tokens:
        return []
    pieces = f"{tokens}\n".replace("\n", " \n ")[:-1].split(" ")
    lines = tokens.count("\n") + 1
    plain = "" not in pieces and len(tokens.split()) == len(pieces) - lines
    return pieces if plain else [_NEW_LINE]


def _known(codes: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Codes and sizes of documents, those with a word unknown to the model cut to one end of line."""
    document = np.repeat(np.arange(len(sizes)), sizes)
    unknown = np.bincount(document[codes < 0], minlength=len(sizes)) > 0
    if not unknown.any():
        return codes, sizes
    first = np.cumsum(sizes) - sizes
    kept = ~unknown[document]
    kept[first[unknown]] = True
    codes = codes.copy()
    codes[first[unknown]] = LINE_END
    return codes[kept], np.where(unknown, 1, sizes)
