"""All quality measurements in one run over a data folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.engines.base import Engine
from indexer.errors import BadInput, UnknownIndex
from indexer.indexing.build import build_index
from indexer.progress import Progress
from indexer.readers.docstrings import read_docstrings
from worker.comparer import Comparer
from worker.evaluation.author_keywords import BASELINE, MethodRun, evaluate_keywords
from worker.evaluation.datasets import DATASETS, Dataset, ensure_index, load_gold
from worker.evaluation.goals import KEYWORD_GOALS, MASKED_GOALS, check_goals, compare_with_baselines
from worker.evaluation.gold import draw_keyword_pairs, draw_random_pairs
from worker.evaluation.masked_phrases import draw_masked_cases, evaluate_masked
from worker.evaluation.quality_metrics import CaseProgress

BASELINES = (BASELINE, "cda/paper")
"""Rows that the table of goals shows next to the default."""


def evaluate_all(
    engine: Engine,
    data: Path,
    runs: list[MethodRun],
    *,
    pairs: int,
    cases: int,
    seed: int,
    part: str,
    progress: Progress,
) -> dict[str, Any]:
    """Evaluate keywords on every dataset and masked phrases on papers, news and docstrings, and check the goals.

    Raises BadInput if the data folder lacks a file of a dataset.
    """
    comparer = Comparer(engine)
    missing = [
        path
        for dataset in DATASETS
        for path in (*dataset.keyphrase_files, *dataset.background_files)
        if not (data / path).exists()
    ]
    if missing:
        raise BadInput(f"no {missing[0]} in {data}", fix="set --data to the folder with the data sets")
    results: dict[str, Any] = {"part": part, "seed": seed, "keywords": {}, "random": {}, "masked": {}, "ahead": {}}
    for dataset in DATASETS:
        name = dataset.name
        index = _ensure_dataset_index(engine, data, dataset, progress)
        gold = load_gold([data / path for path in dataset.keyphrase_files], part)
        step = _label_progress(progress, name)
        keyword_pairs = draw_keyword_pairs(gold, pairs, seed)
        results["keywords"][name] = evaluate_keywords(comparer, index, keyword_pairs, runs, seed=seed, progress=step)
        results["ahead"][name] = compare_with_baselines(results["keywords"][name])
        main_runs = [run for run in runs if run.method in ("cda", BASELINE)]
        random_pairs = draw_random_pairs(gold, pairs // 4, seed)
        results["random"][name] = evaluate_keywords(comparer, index, random_pairs, main_runs, seed=seed, progress=step)
    for name, index in _ensure_masked_indexes(engine, data, progress):
        masked_cases = draw_masked_cases(engine.open_reader(index), cases, seed)
        step = _label_progress(progress, f"masked {name}")
        results["masked"][name] = evaluate_masked(comparer, index, masked_cases, runs, seed=seed, progress=step)
    results["goals"] = check_goals(KEYWORD_GOALS, results["keywords"]["openreview"], BASELINES)
    results["goals"] += check_goals(MASKED_GOALS, results["masked"]["openreview"], BASELINES)
    return results


def _ensure_dataset_index(engine: Engine, data: Path, dataset: Dataset, progress: Progress) -> str:
    keyphrases = [data / path for path in dataset.keyphrase_files]
    background = [data / path for path in dataset.background_files]
    return ensure_index(engine, keyphrases, background, progress=progress)


def _ensure_masked_indexes(engine: Engine, data: Path, progress: Progress) -> Iterator[tuple[str, str]]:
    """Yield name and index of every corpus that masked phrases are drawn from."""
    yield "openreview", _ensure_dataset_index(engine, data, DATASETS[0], progress)
    if (data / "news.jsonl.gz").exists():
        yield "news", ensure_index(engine, [], [data / "news.jsonl.gz"], progress=progress)
    name = "evaluate-docstrings"
    try:
        engine.open_reader(name)
    except UnknownIndex:
        build_index(read_docstrings(), engine, name, progress=progress)
    yield "docstrings", name


def _label_progress(progress: Progress, name: str) -> CaseProgress:
    return lambda done, total: progress(name, done, total)
