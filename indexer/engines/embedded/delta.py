"""Documents added, replaced or deleted since the embedded epoch was built.

One small file beside the graph, rewritten whole and swapped in at each change, so that a reader in
another process sees either the state before it or the one after.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from indexer.documents import AnalysedDocument
from indexer.engines.embedded.phrase_graph import Graph
from indexer.strings import Strings


@dataclass(frozen=True, slots=True)
class Added:
    """What the graph needs to know of one document."""

    title: str
    acl: tuple[str, ...]
    degree: float
    phrases: tuple[str, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, analysed: AnalysedDocument) -> Added:
        document = analysed.document
        return cls(document.title, document.acl, analysed.degree, analysed.phrases, analysed.weights)


@dataclass(frozen=True)
class Delta:
    added: Mapping[str, Added] = field(default_factory=dict)
    """By id; a replaced document stands here and in ``gone``."""
    gone: frozenset[int] = frozenset()
    """Numbers of the epoch's documents that no longer count."""
    opstamp: int = 0
    """The state of the tantivy index that this goes with."""

    def with_documents(self, documents: Iterable[AnalysedDocument], graph: Graph) -> Delta:
        added, gone = dict(self.added), set(self.gone)
        for analysed in documents:
            added[analysed.document.id] = Added.of(analysed)
            gone.add(graph.ids.find(analysed.document.id))
        return Delta(added, frozenset(gone - {-1}), self.opstamp)

    def without(self, ids: Iterable[str], graph: Graph) -> Delta:
        added, gone = dict(self.added), set(self.gone)
        for name in ids:
            added.pop(name, None)
            gone.add(graph.ids.find(name))
        return Delta(added, frozenset(gone - {-1}), self.opstamp)


def save_delta(delta: Delta, path: Path) -> None:
    names = sorted(delta.added)
    documents = [delta.added[name] for name in names]
    numbers: dict[str, int] = {}
    edges = [numbers.setdefault(phrase, len(numbers)) for document in documents for phrase in document.phrases]
    packed = {
        "ids": Strings.of(names),
        "titles": Strings.of(document.title for document in documents),
        "phrases": Strings.of(numbers),
        "acls": Strings.of(orjson.dumps(document.acl).decode() for document in documents),
    }
    arrays: dict[str, Any] = {
        "sizes": np.array([len(document.phrases) for document in documents], dtype=np.int64),
        "degrees": np.array([document.degree for document in documents], dtype=np.float64),
        "edges": np.array(edges, dtype=np.int64),
        "weights": np.array([w for document in documents for w in document.weights], dtype=np.float32),
        "gone": np.array(sorted(delta.gone), dtype=np.int64),
        "opstamp": np.array(delta.opstamp),
    }
    for name, strings in packed.items():
        arrays |= {f"{name}_starts": strings.starts, f"{name}_blob": strings.blob}
    out = io.BytesIO()
    np.savez(out, **arrays)
    replace_file(path, out.getvalue())


def load_delta(path: Path) -> Delta:
    """Raises OSError or ValueError when the file is missing or broken."""
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
        ids, titles, phrases, acls = (
            Strings(arrays[f"{name}_starts"], arrays[f"{name}_blob"]).all()
            for name in ("ids", "titles", "phrases", "acls")
        )
        ends = np.cumsum(arrays["sizes"]).tolist()
        held = [phrases[i] for i in arrays["edges"].tolist()]
        weights, degrees = arrays["weights"].tolist(), arrays["degrees"].tolist()
        added = {
            name: Added(
                titles[i],
                tuple(orjson.loads(acls[i])),
                degrees[i],
                tuple(held[start:end]),
                tuple(weights[start:end]),
            )
            for i, (name, start, end) in enumerate(zip(ids, [0, *ends], ends, strict=False))
        }
        return Delta(added, frozenset(arrays["gone"].tolist()), int(arrays["opstamp"]))


def replace_file(path: Path, data: bytes) -> None:
    """Put ``data`` in place of the file in one step, so that nobody ever reads half of it."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)
