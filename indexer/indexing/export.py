"""The whole graph of an index as one file of arrays, for working on it elsewhere.

``graph.npz`` holds (``numpy.load(..., allow_pickle=False)``):

    weights, indices, indptr   W in compressed rows, phrases x documents: BM25 of phrase i in document j
    phrases, ids               names of the rows and of the columns
    phrase_degree              D_P of the epoch, shape (phrases,)
    document_degree            sum of each column, shape (documents,)
    salient, salience          salient phrases of all documents one after the other (row numbers, scores)
    salient_start              document j has salient[salient_start[j]:salient_start[j + 1]]
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Reader
from indexer.errors import BadParameter
from indexer.progress import Progress, no_progress
from indexer.readers.jsonl import json_line

Arrays = dict[str, NDArray[np.generic]]


def export_graph(reader: Reader, path: Path, progress: Progress = no_progress) -> dict[str, int]:
    """How many phrases, documents and edges were written."""
    arrays = graph_arrays(reader, progress)
    with _whole_file(path) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
    sizes = {"phrases": "phrases", "documents": "ids", "edges": "weights"}
    return {name: len(arrays[array]) for name, array in sizes.items()}


def export_documents(reader: Reader, path: Path, progress: Progress = no_progress) -> dict[str, int]:
    """The documents as JSON lines that ``phrasecom index`` takes; gzipped for a name that ends in .gz."""
    count = 0
    with _whole_file(path) as raw, _zipped(raw, path) as stream:
        for count, analysed in enumerate(reader.scan(), start=1):
            stream.write(json_line(analysed.document))
            if count % 500 == 0:
                progress("export", count, reader.info.documents)
    return {"documents": count}


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there when all of it is written, and not before."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(path)
    except OSError as error:
        raise BadParameter(
            f"cannot write {path}: {error.strerror}", fix="name a file in a folder you may write"
        ) from None
    finally:
        part.unlink(missing_ok=True)


def _zipped(stream: IO[bytes], path: Path) -> AbstractContextManager[IO[bytes]]:
    if path.suffix == ".gz":
        return cast(AbstractContextManager[IO[bytes]], gzip.GzipFile(fileobj=stream, mode="wb", mtime=0))
    return nullcontext(stream)


def graph_arrays(reader: Reader, progress: Progress = no_progress) -> Arrays:
    """The arrays of the file, see the module's docstring."""
    from scipy.sparse import csr_array

    number = reader.model.phrase_ids
    ids: list[str] = []
    rows: list[int] = []
    weights: list[float] = []
    starts, salient_starts = [0], [0]
    salient: list[int] = []
    salience: list[float] = []
    for document in reader.scan():
        ids.append(document.document.id)
        rows += [number[name] for name in document.phrases]
        weights += document.weights
        starts.append(len(rows))
        salient += [number[found.phrase] for found in document.salient]
        salience += [found.salience for found in document.salient]
        salient_starts.append(len(salient))
        if len(ids) % 500 == 0:
            progress("export", len(ids), reader.info.documents)
    shape = (len(ids), len(number))
    matrix = csr_array((np.array(weights), np.array(rows, dtype=np.int64), np.array(starts)), shape=shape)
    document_degree = np.asarray(matrix.sum(axis=1)).ravel()
    by_phrase = matrix.T.tocsr()
    by_phrase.sort_indices()
    return {
        "weights": by_phrase.data,
        "indices": by_phrase.indices,
        "indptr": by_phrase.indptr,
        "phrases": np.array(reader.model.phrases, dtype=np.str_),
        "ids": np.array(ids, dtype=np.str_),
        "phrase_degree": reader.model.degree,
        "document_degree": document_degree,
        "salient": np.array(salient, dtype=np.int64),
        "salience": np.array(salience),
        "salient_start": np.array(salient_starts, dtype=np.int64),
    }
