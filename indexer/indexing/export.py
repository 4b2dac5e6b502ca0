"""Export of an index: its documents as JSON lines, or its whole graph as one file of arrays.

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

from indexer.atomic_files import open_replacement
from indexer.engines.base import Reader
from indexer.errors import BadParameter
from indexer.progress import Progress, no_progress
from indexer.readers.jsonl import format_json_line

Arrays = dict[str, NDArray[np.generic]]


def export_graph(reader: Reader, path: Path, progress: Progress = no_progress) -> dict[str, int]:
    """Write the graph to ``path``; return the numbers of phrases, documents and edges.

    Raise BadParameter if the file cannot be written.
    """
    arrays = build_graph_arrays(reader, progress)
    with _open_output(path) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
    sizes = {"phrases": "phrases", "documents": "ids", "edges": "weights"}
    return {name: len(arrays[array]) for name, array in sizes.items()}


def export_documents(reader: Reader, path: Path, progress: Progress = no_progress) -> dict[str, int]:
    """Write the documents to ``path`` as JSON lines that ``phrasecom index`` reads; return their number.

    A name that ends in .gz is gzipped. Raise BadParameter if the file cannot be written.
    """
    count = 0
    with _open_output(path) as file, _compress_if_gz(file, path) as stream:
        for count, analysed in enumerate(reader.scan(), start=1):
            stream.write(format_json_line(analysed.document))
            if count % 500 == 0:
                progress("export", count, reader.info.documents)
    return {"documents": count}


@contextmanager
def _open_output(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears only when all of it is written."""
    try:
        with open_replacement(path) as stream:
            yield stream
    except OSError as error:
        raise BadParameter(f"cannot write {path}: {error.strerror}", fix="name a file in a writable folder") from None


def _compress_if_gz(stream: IO[bytes], path: Path) -> AbstractContextManager[IO[bytes]]:
    if path.suffix == ".gz":
        return cast(AbstractContextManager[IO[bytes]], gzip.GzipFile(path.name, "wb", fileobj=stream, mtime=0))
    return nullcontext(stream)


def build_graph_arrays(reader: Reader, progress: Progress = no_progress) -> Arrays:
    """Return the arrays of the file; the module's docstring describes them."""
    from scipy.sparse import csr_array

    phrase_ids = reader.model.phrase_ids
    ids: list[str] = []
    rows: list[int] = []
    weights: list[float] = []
    starts, salient_starts = [0], [0]
    salient: list[int] = []
    salience: list[float] = []
    for document in reader.scan():
        ids.append(document.document.id)
        rows += [phrase_ids[name] for name in document.phrases]
        weights += document.weights
        starts.append(len(rows))
        salient += [phrase_ids[phrase.phrase] for phrase in document.salient]
        salience += [phrase.salience for phrase in document.salient]
        salient_starts.append(len(salient))
        if len(ids) % 500 == 0:
            progress("export", len(ids), reader.info.documents)
    shape = (len(ids), len(phrase_ids))
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
