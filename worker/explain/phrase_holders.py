"""Documents that hold given phrases: what entitles a caller with limited groups to see a phrase of their own text."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.engines.base import Reader
from indexer.engines.search_types import Groups, Neighbourhood, NeighbourhoodRequest
from worker.explain.neighbourhood import SidePair

_DOCUMENTS_PER_REQUEST = 200


def find_holders(reader: Reader, phrases: Sequence[str], groups: Groups) -> dict[str, str]:
    """Return for each phrase the id of a document with it that these groups may read, if there is one.

    Each further request leaves out the phrases that have one already.
    """
    holders: dict[str, str] = {}
    missing = dict.fromkeys(phrases, 1.0)
    while missing:
        neighbourhood = reader.find_neighbourhood(
            NeighbourhoodRequest(missing, missing, (), _DOCUMENTS_PER_REQUEST, groups)
        )
        found = _read_holders(neighbourhood)
        holders = found | holders
        if len(neighbourhood.ids) < _DOCUMENTS_PER_REQUEST:
            break
        missing = {phrase: 1.0 for phrase in missing if phrase not in holders}
    return holders


def find_own_text_holders(
    pairs: Sequence[SidePair], neighbourhood: Neighbourhood | None, groups: Groups
) -> frozenset[str]:
    """Return documents that together hold all candidates of a limited caller's own texts, one for each candidate.

    An answer names them: once the caller may not read one of them, it is computed again. Those of the neighbourhood, if
    there is one, need no request.
    """
    if groups is None:
        return frozenset()
    phrases: dict[str, None] = {}
    for pair in pairs:
        for side, salient in ((pair.a, pair.candidates.salient_a), (pair.b, pair.candidates.salient_b)):
            phrases |= dict.fromkeys(salient if side.is_ad_hoc else ())
    holders = _read_holders(neighbourhood) if neighbourhood else {}
    missing = [phrase for phrase in phrases if phrase not in holders]
    if missing:
        holders |= find_holders(pairs[0].a.reader, missing, groups)
    return frozenset(holders[phrase] for phrase in phrases if phrase in holders)


def _read_holders(neighbourhood: Neighbourhood) -> dict[str, str]:
    """Return the first document of each phrase that a neighbourhood has an edge of."""
    holders: dict[str, str] = {}
    for row, column in zip(neighbourhood.rows.tolist(), neighbourhood.columns.tolist(), strict=True):
        holders.setdefault(neighbourhood.phrases[row], neighbourhood.ids[column])
    return holders
