"""All quality measurements in one run over a data folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.engines.base import Engine
from indexer.errors import BadInput
from indexer.progress import Progress
from worker.comparer import Comparer
from worker.evaluation.author_keywords import BASELINE, MethodRun, evaluate_keywords
from worker.evaluation.datasets import (
    DATASETS,
    QUERY_DATASETS,
    Dataset,
    ensure_docstring_index,
    ensure_index,
    ensure_query_index,
    load_gold,
)
from worker.evaluation.editor_lists.editor_pairs import load_editor_data
from worker.evaluation.editor_lists.list_evaluation import evaluate_editor_lists
from worker.evaluation.goals import (
    KEYWORD_GOALS,
    MASKED_GOALS,
    QUERY_GOALS,
    VECTOR_QUERY_GOALS,
    check_goals,
    check_query_goals,
    compare_with_baselines,
)
from worker.evaluation.gold import draw_keyword_pairs, draw_random_pairs
from worker.evaluation.judged_hits import read_judged_hits
from worker.evaluation.masked_phrases import draw_masked_cases, evaluate_masked
from worker.evaluation.quality_metrics import CaseProgress
from worker.evaluation.query_quality import QuerySample, evaluate_queries
from worker.evaluation.sentence_encoder.text_vectors import TextEncoder

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
    encoder: TextEncoder | None = None,
    progress: Progress,
) -> dict[str, Any]:
    """Evaluate keywords on every dataset, masked phrases and queries on papers, news and docstrings, and an editor's
    lists where their corpora are; check the goals.

    ``encoder``: makes vectors, with which queries are evaluated once more; without it they are not. Raises BadInput if
    the data folder lacks a file of a dataset.
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
        lemmatizer = engine.open_reader(index).model.lemmatizer
        gold = load_gold([data / path for path in dataset.keyphrase_files], part, lemmatizer)
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
    results["queries"] = dict(evaluate_query_datasets(comparer, data, part, seed, progress, encoder))
    results["editor"] = evaluate_editor_or_skip(comparer, runs, part, seed, progress)
    results["goals"] = check_goals(KEYWORD_GOALS, results["keywords"]["openreview"], BASELINES)
    results["goals"] += check_goals(MASKED_GOALS, results["masked"]["openreview"], BASELINES)
    for name, evaluation in results["queries"].items():
        goals = VECTOR_QUERY_GOALS if "meaning" in evaluation else QUERY_GOALS
        results["goals"] += check_query_goals(name, evaluation, goals)
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
    yield "docstrings", ensure_docstring_index(engine, progress)


def evaluate_query_datasets(
    comparer: Comparer, data: Path, part: str, seed: int, progress: Progress, encoder: TextEncoder | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and figures of every corpus to query whose file is there: without vectors and, if there is an encoder,
    with them."""
    half = choose_half_of_part(part)
    for dataset in QUERY_DATASETS.values():
        if dataset.file is not None and not (data / dataset.file).exists():
            continue
        path = dataset.find_judged_file()
        judged = read_judged_hits(path, half) if path else []
        queries = list(dict.fromkeys(hit.query for hit in judged))
        for own in (None,) if encoder is None else (None, encoder):
            index = ensure_query_index(comparer.engine, dataset, data, progress, own)
            name = dataset.name if own is None else f"{dataset.name} with vectors"
            yield name, evaluate_queries(
                comparer, index, QuerySample(seed=seed),
                queries=() if own is None else queries, judged=judged, encoder=own,
                progress=_prefix_progress(progress, name),
            )  # fmt: skip


def evaluate_editor_or_skip(
    comparer: Comparer, runs: list[MethodRun], part: str, seed: int, progress: Progress
) -> dict[str, Any]:
    """Return the figures by an editor's lists, or under ``skipped`` why there are none."""
    try:
        data = load_editor_data(choose_half_of_part(part))
        return evaluate_editor_lists(comparer, data, runs, seed=seed, progress=progress)
    except BadInput as error:
        return {"skipped": str(error)}


def choose_half_of_part(part: str) -> str:
    """Return the half of what has two halves: nothing in it is there to fit weights on."""
    return "choose" if part == "tune" else part


def _prefix_progress(progress: Progress, name: str) -> Progress:
    return lambda stage, done, total: progress(f"{name} {stage}", done, total)


def _label_progress(progress: Progress, name: str) -> CaseProgress:
    return lambda done, total: progress(name, done, total)
