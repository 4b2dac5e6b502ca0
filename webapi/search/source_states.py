"""How the documents of an answer differ from those of the attached source: sent beside the answer, not cached.

An answer is computed from documents as they were attached. The source is asked anew for each response, so a cached
answer stays valid and still tells that a document has changed since.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from indexer.engines.attached_source import AttachedSource, AttachedVersion, SourceAccess
from indexer.errors import PhraseComError
from webapi.context import WebContext
from webapi.http.job_responses import SourceStates
from webapi.http.problems import public_message
from webapi.search.source_search import NOT_INDEXED_DETAIL
from worker.access import Caller
from worker.json_bytes import loads
from worker.service.gateway import JobView

log = logging.getLogger(__name__)

_DETAILS = {
    "changed": "it was changed in the source after the last attach; this is about its former content",
    "deleted": "the source no longer has it, or hides it from this caller; this is about its former content",
    "not-indexed": NOT_INDEXED_DETAIL,
}
NO_REVISIONS_DETAIL = "unknown until it is attached again: revisions were not kept when it was attached"


def find_answer_states(
    context: WebContext, view: JobView, caller: Caller, skipped: Sequence[str] = ()
) -> SourceStates | None:
    """Return the states of the documents that an answer compares; None without an answer or without a source.

    ``skipped``: further ids that the index lacks, of which the source may have some.
    """
    if view.answer is None:
        return None
    stored = view.answer.stored
    if stored.index and context.catalog.recall_attached_source(stored.index) is None:
        return None
    answer = loads(stored.body)
    return find_source_states(context, stored.index or answer["index"], _list_side_ids(answer), caller, skipped)


def find_source_states(
    context: WebContext, index: str, ids: Sequence[str], caller: Caller, skipped: Sequence[str] = ()
) -> SourceStates | None:
    """Return ``state`` and ``detail`` of the documents that the source has not, or not as attached; None without a
    source.

    The state of all ``ids`` is ``unknown`` if the source does not answer or the index keeps no revisions. Nothing is
    said of documents that the caller may not read: the index must let them, and what the source hides from them is
    ``deleted``. Of ``skipped``, which the index lacks, only a caller without limits learns anything.
    """
    source = context.catalog.recall_attached_source(index)
    if source is None:
        return None
    if not source.has_revisions:
        return _make_unknown_states(ids, NO_REVISIONS_DETAIL)
    try:
        versions = context.gateway.get_readable_versions(index, ids, caller)
        attached: dict[str, AttachedVersion | None] = {
            id: AttachedVersion(version.version, version.revision) for id, version in versions.items()
        }
        if caller.groups is None:
            attached |= dict.fromkeys(skipped)
        states = source.find_states(attached, _make_access(source, attached, caller)) if attached else {}
    except PhraseComError as error:
        log.warning("the source of index %r cannot be asked: %s", index, error)
        return _make_unknown_states(ids, public_message(error))
    return {id: {"state": state, "detail": _DETAILS[state]} for id, state in states.items()}


def _make_access(source: AttachedSource, readable_ids: Collection[str], caller: Caller) -> SourceAccess | None:
    """Return what the caller may read of the source, given what the index lets them read; None for no limit."""
    return None if caller.groups is None else SourceAccess(caller.groups, tuple(readable_ids), source.fetch_guard())


def _make_unknown_states(ids: Sequence[str], detail: str) -> SourceStates:
    return {id: {"state": "unknown", "detail": detail} for id in ids}


def _list_side_ids(answer: Mapping[str, Any]) -> list[str]:
    """Return the ids of the documents that a comparison compares, or a page explains."""
    if "explanations" not in answer:
        return list(dict.fromkeys([*answer["a"]["ids"], *answer["b"]["ids"]]))
    compared = [answer["document"]] if answer["document"] is not None else []
    return list(dict.fromkeys([*(entry["hit"] for entry in answer["explanations"]), *compared]))
