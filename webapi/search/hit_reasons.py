"""Why each hit is on the page: phrases it shares with the query, phrases that set it apart from the rest."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from indexer.documents import PAIR, AnalysedDocument
from indexer.engines.base import Hit
from indexer.engines.lazy_documents import weighed
from indexer.errors import StoreUnavailable, TooLarge, Unavailable, UnknownDocument, UnknownJob
from indexer.model.phrase_model import PhraseModel
from indexer.settings import Settings
from webapi.auth.gate import require
from webapi.http.problems import told, told_of
from worker.access import Caller
from worker.explain.text.spans import Spans
from worker.jobs.job import OPEN
from worker.jobs.payloads import Against, AskedPage, part_id
from worker.json_bytes import loads
from worker.phrasing.display_form import Speller
from worker.service.gateway import Desk, Look, Ticket

log = logging.getLogger(__name__)

_SHOWN = 3
_LISTS: Mapping[str, tuple[Against, str]] = {"common": ("query", "common"), "distinct": ("page", "distinct_a")}
"""What is shown -> which page it comes from, and which list of its comparisons."""


class Words(NamedTuple):
    """All words that are searched for."""

    text: str
    """As written."""
    lemmas: Sequence[str]


def check_page(size: int, settings: Settings) -> None:
    """Raises TooLarge for more hits than are explained at once."""
    if size > settings.max_hits:
        raise TooLarge(
            f"reasons for {size} hits are above the limit of {settings.max_hits}",
            fix='ask for a smaller "size", or add "why": false',
        )


def explain_page(
    desk: Desk, index: str, words: Words, hits: Sequence[Hit], caller: Caller, wait: float
) -> list[dict[str, Any]]:
    """One ``why`` for each hit; never later than ``wait`` seconds. What is not ready by then, or cannot be had at all,
    is provisional: hits without reasons are better than no hits."""
    require(caller, "compare")
    model = desk.service.library.current(index).model
    asked: dict[str, _List] = {}
    for name, (against, _) in _LISTS.items():
        gone = _store_gone(asked)
        asked[name] = _List(trouble=gone) if gone else _hand_in(desk, index, words.text, hits, against, caller)
    deadline = time.monotonic() + wait
    lists: dict[str, _List] = {}
    for name, one in asked.items():
        gone = _store_gone({**asked, **lists})
        lists[name] = replace(one, trouble=gone) if gone else _collect(desk, one, caller, deadline)
    rough = _provisional([hit.document for hit in hits], words.lemmas, model, caller)
    return [_why(n, hit.id, lists, rough[n]) for n, hit in enumerate(hits)]


@dataclass(frozen=True, slots=True)
class _List:
    """Where one of the lists stands, for all hits."""

    page: str | None = None
    """The page it comes from; None where there is none to come."""
    ready: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Hit -> its comparison."""
    trouble: Mapping[str, str] = field(default_factory=dict)
    """``code`` and ``detail`` of the reason why no more will come."""


def _store_gone(lists: Mapping[str, _List]) -> Mapping[str, str]:
    """The trouble of one of the lists, if it is that the store does not answer: nobody waits for that twice."""
    found = (one.trouble for one in lists.values() if one.trouble.get("code") == StoreUnavailable.code)
    return next(found, {})


def _hand_in(desk: Desk, index: str, text: str, hits: Sequence[Hit], against: Against, caller: Caller) -> _List:
    if (against == "query" and not text) or (against == "page" and len(hits) < 2) or not hits:
        return _List()  # there is nothing to compare with
    ids = tuple(hit.id for hit in hits)
    asked = AskedPage(index, ids, against, text or None, None, caller.groups)
    try:
        return _List(desk.ask_page(asked, caller).id)
    except UnknownDocument:
        return _List()  # a hit was deleted or closed this very moment
    except Unavailable as error:
        return _List(trouble=_trouble(error.code, told(error)))


def _collect(desk: Desk, asked: _List, caller: Caller, deadline: float) -> _List:
    """What is ready of it at the deadline."""
    if asked.page is None:
        return asked
    try:
        look = desk.wait(Ticket(asked.page, new=True), caller, max(0.0, deadline - time.monotonic()))
        return replace(asked, ready=_comparisons(desk, look, caller), trouble=_ended(look))
    except (Unavailable, UnknownJob) as error:  # one that names what was closed this very moment is unknown
        return replace(asked, trouble=_trouble(error.code, told(error)))


def _comparisons(desk: Desk, look: Look, caller: Caller) -> dict[str, Mapping[str, Any]]:
    """What is ready, by hit."""
    if look.kept is not None:
        entries = loads(look.kept.answer.body)["explanations"]
        return {entry["hit"]: entry["comparison"] for entry in entries if entry["comparison"] is not None}
    if look.job.state not in OPEN:
        return {}
    return {hit: loads(body) for hit, body in desk.ready(look.job.id, caller).items()}


def _ended(look: Look) -> Mapping[str, str]:
    """Why a page ended without an answer, if it did."""
    job = look.job
    if look.kept is not None or job.state in OPEN:
        return {}
    if job.failure is not None:
        return _trouble(job.failure.code, told_of(job.failure))
    return _trouble(job.state, f"the job was {job.state}; search again")


def _trouble(code: str, detail: str) -> Mapping[str, str]:
    log.warning("a page is shown without reasons: %s: %s", code, detail)
    return {"code": code, "detail": detail}


def _why(
    position: int, hit: str, lists: Mapping[str, _List], rough: Mapping[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    missing: list[_List] = []
    for name, (_, wanted) in _LISTS.items():
        comparison = lists[name].ready.get(hit)
        if comparison is not None:
            shown[name] = [_brief(entry) for entry in comparison[wanted][:_SHOWN]]
        else:
            shown[name] = rough[name]
            missing.append(lists[name])
    pages = {name: one.page for name, one in lists.items() if one.page is not None}
    shown["href"] = {name: f"/v1/comparisons/{part_id(page, position)}" for name, page in pages.items()}
    return {**_state(missing), **shown}


def _state(missing: Sequence[_List]) -> dict[str, Any]:
    """Of a hit that lacks these lists."""
    trouble = next((one.trouble for one in missing if one.trouble), None)
    if trouble:
        return {"state": "unavailable", **trouble, "provisional": True}
    if any(one.page is not None for one in missing):
        return {"state": "pending", "provisional": True}
    return {"state": "done"}


def _brief(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("phrase", "display", "score", "kind") if name in entry}


def _provisional(
    documents: Sequence[AnalysedDocument], query: Sequence[str], model: PhraseModel, caller: Caller
) -> list[dict[str, list[dict[str, Any]]]]:
    """By containment alone: salient phrases that hold a word of the query; salient phrases no other hit has."""
    words = set(query)
    salient = [[phrase for phrase, _ in weighed(document.salient)] for document in documents]
    held = Counter(phrase for phrases in salient for phrase in set(phrases))
    out = []
    for document, phrases in zip(documents, salient, strict=True):
        common = [p for p in phrases if words.intersection(p.replace(PAIR, " ").split())]
        distinct = [p for p in phrases if held[p] == 1 and p not in common]
        speller = Speller([Spans(document)], model, caller.groups)
        out.append({"common": _rough(common, "shared", speller), "distinct": _rough(distinct, "distinct", speller)})
    return out


def _rough(phrases: Sequence[str], kind: str, speller: Speller) -> list[dict[str, Any]]:
    return [{"phrase": p, "display": speller.display(p), "kind": kind} for p in phrases[:_SHOWN]]
