"""Everything that is measured about quality, in one run over a data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import build_index
from indexer.readers.docstrings import read_docstrings
from worker.comparer import Comparer
from worker.evaluation.author_keywords import Run, evaluate_keywords
from worker.evaluation.datasets import SETS, Set, ensure_index, gold_of
from worker.evaluation.goals import KEYWORD_GOALS, MASKED_GOALS, ahead, judged
from worker.evaluation.gold import random_pairs, sample_pairs
from worker.evaluation.masked_phrases import evaluate_masked, masked_cases

Progress = Callable[[str, int, int], None]
AGAINST = ("containment", "cda/paper")


def evaluate_all(
    engine: Engine, data: Path, runs: list[Run], *, pairs: int, cases: int, seed: int, part: str, progress: Progress
) -> dict[str, Any]:
    """Keywords on every set, masked phrases on papers, news and docstrings, and the table of goals."""
    comparer = Comparer(engine)
    missing = [path for one in SETS for path in (*one.keyphrases, *one.background) if not (data / path).exists()]
    if missing:
        raise BadInput(f"no {missing[0]} in {data}", fix="name the folder that holds the data with --data")
    found: dict[str, Any] = {"part": part, "seed": seed, "keywords": {}, "random": {}, "masked": {}, "ahead": {}}
    for one in SETS:
        index = _index(engine, data, one, progress)
        gold = gold_of([data / path for path in one.keyphrases], part)
        step = _step(progress, one.name)
        drawn = sample_pairs(gold, pairs, seed)
        found["keywords"][one.name] = evaluate_keywords(comparer, index, drawn, runs, seed=seed, progress=step)
        found["ahead"][one.name] = ahead(found["keywords"][one.name])
        ours = [run for run in runs if run.method in ("cda", "containment")]
        chance = random_pairs(gold, pairs // 4, seed)
        found["random"][one.name] = evaluate_keywords(comparer, index, chance, ours, seed=seed, progress=step)
    for name, index in _masked_indexes(engine, data, progress):
        drawn_cases = masked_cases(engine.open(index), cases, seed)
        step = _step(progress, f"masked {name}")
        found["masked"][name] = evaluate_masked(comparer, index, drawn_cases, runs, seed=seed, progress=step)
    found["goals"] = judged(KEYWORD_GOALS, found["keywords"]["openreview"], AGAINST)
    found["goals"] += judged(MASKED_GOALS, found["masked"]["openreview"], AGAINST)
    return found


def _index(engine: Engine, data: Path, one: Set, progress: Progress) -> str:
    keyphrases, behind = ([data / path for path in paths] for paths in (one.keyphrases, one.background))
    return ensure_index(engine, keyphrases, behind, progress=progress)


def _masked_indexes(engine: Engine, data: Path, progress: Progress) -> Iterator[tuple[str, str]]:
    yield "openreview", _index(engine, data, SETS[0], progress)
    if (data / "news.jsonl.gz").exists():
        yield "news", ensure_index(engine, [], [data / "news.jsonl.gz"], progress=progress)
    name = "evaluate-docstrings"
    try:
        engine.open(name)
    except UnknownIndex:
        build_index(read_docstrings(), engine, name, progress=progress)
    yield "docstrings", name


def _step(progress: Progress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)
