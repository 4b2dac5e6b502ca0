"""Finds the neighbourhood of two sides in the phrase graph; NeighbourhoodRequest defines it.

A few phrases have most of the postings: of 55 in 150,000 abstracts seven have two thirds. They are in so many documents
that they tell the least, and have the smallest boosts. So the postings of the rarer phrases are scanned, and the others
only looked up for documents that can still be among the best (MaxScore, Turtle and Flood 1995). The result is the same,
in a million documents in less than half the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.engines.embedded.phrase_graph import Documents, Edges, Flags, LookedUpPostings, Posting, ScannedPostings
from indexer.engines.embedded.snapshot import EpochSnapshot
from indexer.engines.search_types import Groups, Neighbourhood, NeighbourhoodRequest

FindPhraseRow = Callable[[str], int | None]
"""Returns the row of a phrase in the graph, or None if it has none."""
MAX_SCANNED_EDGES = 100_000
"""Edges up to which postings are scanned, the shortest first; four times as many where these do not settle the best."""


def find_neighbourhood(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, request: NeighbourhoodRequest
) -> Neighbourhood:
    """Return the neighbourhood that ``request`` asks for, in the state of ``snapshot``."""
    phrases = tuple(dict.fromkeys([*request.boosts_a, *request.boosts_b]))
    postings = _collect_postings(snapshot, find_row, request, phrases)
    visible = snapshot.mask_visible(request.groups)
    included = _find_included_numbers(snapshot, request.include, visible)
    best, reached_count, parts = _find_best(snapshot, postings, request.limit, visible, included)
    is_selected = np.zeros(snapshot.size, dtype=np.bool_)
    is_selected[included] = True
    chosen = np.concatenate([included, best[~is_selected[best]]])
    is_selected[chosen] = True
    edges = Edges(*map(np.concatenate, zip(*[part.select(is_selected) for part in parts], strict=True)))
    column = np.empty(snapshot.size, dtype=np.int64)  # read for chosen documents only
    column[chosen] = np.arange(len(chosen))
    ids, titles, degrees = snapshot.read_ids_titles_and_degrees(chosen)
    return Neighbourhood(
        ids, titles, degrees, phrases, edges.rows, column[edges.documents], edges.weights, reached_count
    )


def count_holders(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, phrases: Sequence[str], groups: Groups
) -> list[int]:
    """Return for each phrase the number of visible documents with an edge to it."""
    visible = snapshot.mask_visible(groups)
    counts = []
    for phrase in phrases:
        documents, _ = _find_edges(snapshot, find_row, phrase)
        counts.append(len(documents) if visible is None else int(np.count_nonzero(visible[documents])))
    return counts


def _find_edges(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, phrase: str
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the numbers of the documents with an edge to the phrase, removed ones included, and the weights."""
    graph, row = snapshot.graph, find_row(phrase)
    start, end = (0, 0) if row is None else (graph.starts.item(row), graph.starts.item(row + 1))
    documents, weights = graph.documents[start:end], graph.weights[start:end]
    if phrase in snapshot.added_postings:
        added, added_weights = snapshot.added_postings[phrase]
        documents, weights = np.concatenate([documents, added]), np.concatenate([weights, added_weights])
    return documents, weights


def _collect_postings(
    snapshot: EpochSnapshot, find_row: FindPhraseRow, request: NeighbourhoodRequest, phrases: Sequence[str]
) -> list[Posting]:
    """Return the postings of the phrases, the shortest first."""
    boosts_a, boosts_b = request.boosts_a, request.boosts_b
    postings = [
        Posting(
            row, *_find_edges(snapshot, find_row, phrase), boosts_a.get(phrase, 0.0) + boosts_b.get(phrase, 0.0),
            phrase in boosts_a, phrase in boosts_b,
        )
        for row, phrase in enumerate(phrases)
    ]  # fmt: skip
    return sorted(postings, key=lambda posting: len(posting.documents))


def _find_best(
    snapshot: EpochSnapshot,
    postings: Sequence[Posting],
    limit: int,
    visible: Flags | None,
    included: Documents,
) -> tuple[Documents, int, Sequence[ScannedPostings | LookedUpPostings]]:
    """Return the best documents reached from both sides, how many are reached at least, and what has the edges of these
    and of the ``included`` ones.
    """
    ends = np.cumsum([len(posting.documents) for posting in postings])
    scanned_edges = MAX_SCANNED_EDGES
    while True:
        count = int(np.searchsorted(ends, scanned_edges, side="right"))
        scanned, others = ScannedPostings(postings[:count], snapshot.size), postings[count:]
        from_a, from_b = scanned.flag_reached()
        totals = scanned.sum_boosts()
        reached = np.flatnonzero(from_a & from_b if visible is None else from_a & from_b & visible)
        if not others:
            return _rank_reached(reached, totals[reached], snapshot, limit), len(reached), [scanned]
        # what an unscanned posting can add must not suffice to be among the best
        min_total = _find_least_of_best(totals[reached], limit) - sum(posting.boost for posting in others)
        if min_total > 0:
            break
        scanned_edges *= 4
    is_candidate = totals >= min_total * (1 - 1e-9)
    is_candidate[included] = True
    looked_up = LookedUpPostings(others, is_candidate)
    candidates = looked_up.documents
    more_from_a, more_from_b = looked_up.flag_reached()
    is_reached = (from_a[candidates] | more_from_a) & (from_b[candidates] | more_from_b)
    if visible is not None:
        is_reached &= visible[candidates]
    candidate_totals = totals[candidates] + looked_up.sum_boosts()
    best = _rank_reached(candidates[is_reached], candidate_totals[is_reached], snapshot, limit)
    return best, len(reached), [scanned, looked_up]


def _find_least_of_best(totals: NDArray[np.float64], limit: int) -> float:
    """Return the smallest of the ``limit`` largest totals; 0 if there are fewer."""
    return float(np.partition(totals, len(totals) - limit)[len(totals) - limit]) if 0 < limit <= len(totals) else 0.0


def _rank_reached(reached: Documents, totals: NDArray[np.float64], snapshot: EpochSnapshot, limit: int) -> Documents:
    """Return the ``limit`` documents with the largest totals, both of shape (reached,), ties by id."""
    is_above = totals >= _find_least_of_best(totals, limit)
    reached, totals = reached[is_above], totals[is_above]
    by_id = reached if snapshot.id_sort_keys is None else snapshot.id_sort_keys[reached]
    return reached[np.lexsort((by_id, -totals))[:limit]]


def _find_included_numbers(
    snapshot: EpochSnapshot, included_ids: tuple[str, ...], visible: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Return the numbers of the visible documents among ``included_ids``, in order."""
    numbers = snapshot.find_document_numbers(list(dict.fromkeys(included_ids)))
    numbers = numbers[numbers >= 0]
    return numbers if visible is None else numbers[visible[numbers]]
