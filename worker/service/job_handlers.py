"""The kinds of jobs: what each does once it is running."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from worker.explain.spec import ALGORITHM
from worker.jobs.job import Answer
from worker.jobs.payloads import Asked, AskedPage, algorithm_of, part_id
from worker.jobs.runner import More, NotMine, Running, Work
from worker.json_bytes import dumps
from worker.service.container import Service
from worker.service.ingest import ingest


def works(service: Service) -> dict[str, Work]:
    return {
        "comparison": lambda running: compare(service, _checked(running)),
        "explanation": lambda running: explain(service, _checked(running)),
        "ingest": lambda running: ingest(service, running),
    }


def _checked(running: Running) -> Running:
    """Raise NotMine for what was asked of a newer method: our answer would stand under the id of the newer one's."""
    asked = algorithm_of(running.claim.question)
    if asked > int(ALGORITHM):
        raise NotMine(f"it was asked of version {asked} of the method, this worker has version {ALGORITHM}")
    return running


def compare(service: Service, running: Running) -> Answer | More:
    """One comparison, stored under the id it was asked by."""
    asked = Asked.from_json(running.claim.question)
    comparison = service.comparer.compare(asked.question(), running.progress)
    body = comparison.to_dict() | {"id": running.claim.id}
    service.mirror.saw_epoch(asked.index, body["epoch"])
    return Answer(dumps(body), acls_of(service, asked.index, named_documents(body)), asked.index)


def explain(service: Service, running: Running) -> Answer | More:
    """A results page, each hit's comparison told as soon as it is ready."""
    asked = AskedPage.from_json(running.claim.question)
    page = running.claim.id
    places = {hit: position for position, hit in enumerate(asked.hits)}
    done: dict[str, dict[str, Any]] = {}
    for hit, comparison in _explained(service, asked):
        done[hit] = comparison.to_dict() | {"id": part_id(page, places[hit])}
        running.part(hit, dumps(done[hit]))
        running.progress(len(done) / len(places), hit)
    for epoch in {body["epoch"] for body in done.values()}:
        service.mirror.saw_epoch(asked.index, epoch)
    named = set(asked.ids()).union(*(named_documents(body) for body in done.values()))
    entries = [{"hit": hit, "state": "done", "comparison": done.get(hit)} for hit in asked.hits]
    whole = {"id": page, "state": "done", "progress": 1.0, "explanations": entries}
    return Answer(dumps(whole), acls_of(service, asked.index, named), asked.index)


def _explained(service: Service, asked: AskedPage) -> Iterator[tuple[str, Any]]:
    """Hit and comparison, all of them from one shared neighbourhood."""
    pairs = asked.pairs()
    answers = service.comparer.explain([pair.question() for _, pair in pairs])
    for (hit, _), comparison in zip(pairs, answers, strict=True):
        yield hit, comparison


def named_documents(answer: Mapping[str, Any]) -> set[str]:
    """Every document an answer names: sides, evidence, bridges and graph nodes."""
    found = {id for side in ("a", "b") for id in answer[side]["ids"]}
    for entry in (e for name in ("common", "distinct_a", "distinct_b") for e in answer[name]):
        found.update(place["id"] for place in entry.get("evidence", ()) if place["id"])
        found.update(bridge["id"] for bridge in entry.get("via", ()))
    for node in (answer.get("graph") or {}).get("nodes", ()):
        if node.get("kind") == "document":
            found.add(node["id"])
    return found


def acls_of(service: Service, index: str, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The acl of each document, as it is now; one that has gone meanwhile is named too, so that it is looked for."""
    wanted = sorted(ids)
    found = service.mirror.look_up(index, service.mirror.epoch(index), wanted)
    return {id: found[id].acl if id in found else () for id in wanted}
