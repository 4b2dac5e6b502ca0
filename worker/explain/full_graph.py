"""The whole corpus as one graph: every phrase, every document. For the shell and Python only.

The edges are read from the index once an epoch, with the weights the epoch was built on, and cached while the process
lives; once documents have been added or deleted, they are read again each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.engines.base import Reader
from indexer.engines.search_types import Groups
from indexer.model.phrase_model import PhraseModel
from worker.explain.neighbourhood import EdgeList, LocalGraph, SidePair
from worker.solver.subgraph import Subgraph


@dataclass(frozen=True, eq=False)
class CorpusGraph:
    """The edges of all documents a caller may read; phrases are numbered as in the model."""

    model: PhraseModel
    groups: Groups
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    degrees: NDArray[np.float64]
    """Degrees of the documents, shape (documents,)."""
    edges: EdgeList

    @classmethod
    def from_reader(cls, reader: Reader, groups: Groups) -> CorpusGraph:
        """Scan the index for all edges."""
        phrase_ids = reader.model.phrase_ids
        ids: list[str] = []
        titles: list[str] = []
        degrees: list[float] = []
        rows: list[int] = []
        weights: list[float] = []
        sizes: list[int] = []
        for document in reader.scan(groups):
            ids.append(document.document.id)
            titles.append(document.document.title)
            degrees.append(document.degree)
            pairs = zip(document.phrases, document.weights, strict=True)
            edges = [(phrase_ids[phrase], weight) for phrase, weight in pairs if phrase in phrase_ids]
            rows.extend(row for row, _ in edges)
            weights.extend(weight for _, weight in edges)
            sizes.append(len(edges))
        columns = np.repeat(np.arange(len(sizes)), np.array(sizes, dtype=np.int64)).astype(np.int64)
        edge_list = EdgeList(np.array(rows, dtype=np.int64), columns, np.array(weights))
        return cls(reader.model, groups, tuple(ids), tuple(titles), np.array(degrees), edge_list)


_CACHED_GRAPHS: list[CorpusGraph] = []
"""The last graph read; at most one."""


def build_full_graph(pair: SidePair, groups: Groups = None, excluded_ids: frozenset[str] = frozenset()) -> LocalGraph:
    """Build the graph of the whole corpus: the candidates first, then every other phrase.

    Ad-hoc documents are added as columns of their own; documents of ``excluded_ids`` lose their edges.
    """
    corpus = _get_corpus_graph(pair.a.reader, groups)
    model, candidate_ids = corpus.model, pair.candidates.phrase_ids
    order = np.concatenate([candidate_ids, np.setdiff1d(np.arange(len(model.phrases)), candidate_ids)])
    row_by_id = np.empty(len(order), dtype=np.int64)
    row_by_id[order] = np.arange(len(order))
    excluded = [i for i, id in enumerate(corpus.ids) if id in excluded_ids]
    inside = ~np.isin(corpus.edges.columns, excluded)
    rows, columns = row_by_id[corpus.edges.rows[inside]], corpus.edges.columns[inside]
    weights = corpus.edges.weights[inside]
    ids, titles, degrees = list(corpus.ids), list(corpus.titles), corpus.degrees.tolist()
    names = (*pair.candidates.phrases, *(model.phrases[i] for i in order[len(candidate_ids) :].tolist()))
    phrase_degrees = np.where(order >= 0, model.degree[order], 0.0)  # the model does not know every run of a query
    column_by_id = {id: i for i, id in enumerate(ids)}
    for side in (pair.a, pair.b):
        graph_id = side.graph_ids[0] if side.graph_ids else ""
        if not side.is_ad_hoc or graph_id in column_by_id:
            continue
        document = side.documents[0]
        new_rows = np.array([row_by_id[model.phrase_ids[p]] for p in document.phrases], dtype=np.int64)
        rows, weights = np.concatenate([rows, new_rows]), np.concatenate([weights, document.weights])
        columns = np.concatenate([columns, np.full(len(new_rows), len(ids))])
        phrase_degrees[new_rows] += document.weights
        column_by_id[graph_id] = len(ids)
        ids.append(graph_id)
        titles.append(document.document.title)
        degrees.append(document.degree)
    return LocalGraph(
        subgraph=Subgraph.from_edges(rows, columns, weights, phrase_degrees, np.array(degrees)),
        phrases=names,
        ids=tuple(ids),
        titles=tuple(titles),
        columns_a=np.array([column_by_id[id] for id in pair.a.graph_ids], dtype=np.int64),
        columns_b=np.array([column_by_id[id] for id in pair.b.graph_ids], dtype=np.int64),
        edges=EdgeList(rows, columns, weights),
        reached_count=len(corpus.ids),
        left_out_share=0.0,
    )


def _get_corpus_graph(reader: Reader, groups: Groups) -> CorpusGraph:
    for graph in _CACHED_GRAPHS:
        if graph.model is reader.model and graph.groups == groups and reader.info.drift == 0:
            return graph
    graph = CorpusGraph.from_reader(reader, groups)
    _CACHED_GRAPHS[:] = [graph] if reader.info.drift == 0 else []
    return graph
