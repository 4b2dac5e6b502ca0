"""Why each hit is on the page: phrases it shares with the query, phrases that set it apart from the rest."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from indexer.documents import PAIR, AnalysedDocument
from indexer.engines.base import Hit
from indexer.engines.salients import weighed
from indexer.errors import TooLarge, Unavailable, UnknownDocument, UnknownJob
from indexer.phrases.model import PhraseModel
from indexer.settings import Settings
from webapi.gate import require
from webapi.problems import told
from worker.asked import Against, AskedPage, part_id
from worker.callers import Caller
from worker.desk import Desk, Look, Ticket
from worker.jobs import OPEN
from worker.spelling import Speller
from worker.wire import loads

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
    """One ``why`` for each hit; never later than ``wait`` seconds. What is not ready by then is provisional, and so is
    all where nothing can be handed in: hits without reasons are better than no hits."""
    require(caller, "compare")
    model = desk.service.library.current(index).model
    documents = [hit.document for hit in hits]
    try:
        pages = {name: _page(desk, index, words.text, hits, against, caller) for name, (against, _) in _LISTS.items()}
        deadline = time.monotonic() + wait
        looks = {name: _wait(desk, page, caller, deadline) for name, page in pages.items()}
        ready = {name: _comparisons(desk, look, caller) for name, look in looks.items() if look is not None}
    except Unavailable as error:
        log.warning("a page is shown without reasons: %s: %s", error.code, error)
        why = {"state": "unavailable", "code": error.code, "detail": told(error), "provisional": True}
        return [{**why, **lists, "href": {}} for lists in _provisional(documents, words.lemmas, model, caller)]
    rough = _provisional(documents, words.lemmas, model, caller)
    return [_why(n, hit.id, pages, ready, rough[n]) for n, hit in enumerate(hits)]


def _page(desk: Desk, index: str, text: str, hits: Sequence[Hit], against: Against, caller: Caller) -> str | None:
    """Hand in the page; None where there is nothing to compare with."""
    if (against == "query" and not text) or (against == "page" and len(hits) < 2) or not hits:
        return None
    ids = tuple(hit.id for hit in hits)
    asked = AskedPage(index, ids, against, text or None, None, caller.groups)
    try:
        return desk.ask_page(asked, caller).id
    except UnknownDocument:
        return None  # a hit was deleted or closed this very moment


def _wait(desk: Desk, page: str | None, caller: Caller, deadline: float) -> Look | None:
    if page is None:
        return None
    try:
        return desk.wait(Ticket(page, new=True), caller, max(0.0, deadline - time.monotonic()))
    except UnknownJob:
        return None  # it names what was closed this very moment


def _comparisons(desk: Desk, look: Look, caller: Caller) -> dict[str, Mapping[str, Any]]:
    """What is ready, by hit."""
    if look.kept is not None:
        entries = loads(look.kept.answer.body)["explanations"]
        return {entry["hit"]: entry["comparison"] for entry in entries if entry["comparison"] is not None}
    if look.job.state not in OPEN:
        return {}
    return {hit: loads(body) for hit, body in desk.ready(look.job.id, caller).items()}


def _why(
    position: int,
    hit: str,
    pages: Mapping[str, str | None],
    ready: Mapping[str, Mapping[str, Mapping[str, Any]]],
    rough: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    why: dict[str, Any] = {"state": "done"}
    for name, (_, wanted) in _LISTS.items():
        comparison = ready.get(name, {}).get(hit)
        if comparison is not None:
            why[name] = [_brief(entry) for entry in comparison[wanted][:_SHOWN]]
        else:
            why[name] = rough[name]
            if pages[name] is not None:
                why |= {"state": "pending", "provisional": True}
    why["href"] = {
        name: f"/v1/comparisons/{part_id(page, position)}" for name, page in pages.items() if page is not None
    }
    return why


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
        speller = Speller([document], model, caller.groups)
        out.append({"common": _rough(common, "shared", speller), "distinct": _rough(distinct, "distinct", speller)})
    return out


def _rough(phrases: Sequence[str], kind: str, speller: Speller) -> list[dict[str, Any]]:
    return [{"phrase": p, "display": speller.display(p), "kind": kind} for p in phrases[:_SHOWN]]
