"""The report of an evaluation, which has everything that was measured."""

from __future__ import annotations

import pytest

from tests.support.comparisons import INDEX
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun, evaluate_keywords
from worker.evaluation.goals import (
    KEYWORD_GOALS,
    MASKED_GOALS,
    QUERY_GOALS,
    check_goals,
    check_query_goals,
    compare_with_baselines,
)
from worker.evaluation.gold import GoldPair
from worker.evaluation.judged_hits import JUDGED_FIGURES, JudgedHit
from worker.evaluation.masked_phrases import draw_masked_cases, evaluate_masked
from worker.evaluation.query_quality import QuerySample, evaluate_queries
from worker.evaluation.report import SPACE_COLUMNS, list_space_rows, render_report

RUNS = [MethodRun("cda", "default"), MethodRun("cda", "paper"), MethodRun("containment", "default")]
BASELINES = ("containment", "cda/paper")


@pytest.fixture(scope="module")
def page(embedded_comparer: Comparer, gold_pairs: list[GoldPair]) -> str:
    keywords = evaluate_keywords(embedded_comparer, INDEX, gold_pairs, RUNS, resamples=5)
    cases = draw_masked_cases(embedded_comparer.engine.open_reader(INDEX), 4, 1)
    masked = evaluate_masked(embedded_comparer, INDEX, cases, RUNS, seed=1)
    judged = [JudgedHit("honey bee", "name", "a1", 2, ("waggle dance",)), JudgedHit("honey bee", "name", "a2", 0)]
    sample = QuerySample(title_queries=3, unrelated=2, forms=20)
    queries = evaluate_queries(embedded_comparer, INDEX, sample, judged=judged)
    return render_report(
        {
            "part": "report",
            "seed": 1,
            "keywords": {"papers": keywords},
            "random": {"papers": evaluate_keywords(embedded_comparer, INDEX, gold_pairs[:3], RUNS, resamples=2)},
            "ahead": {"papers": compare_with_baselines(keywords)},
            "masked": {"papers": masked},
            "queries": {"papers": queries},
            "editor": {"skipped": "no corpus papers.jsonl"},
            "goals": [
                *check_goals(KEYWORD_GOALS, keywords, BASELINES),
                *check_goals(MASKED_GOALS, masked, BASELINES),
                *check_query_goals("papers", queries),
            ],
        }
    )


def test_every_goal_is_a_row(page: str) -> None:
    for goal in (*KEYWORD_GOALS, *MASKED_GOALS):
        assert f"\n| {goal.measure} |" in page
    for goal in QUERY_GOALS:
        assert f"\n| papers: {goal.measure} |" in page


def test_every_figure_of_queries_is_a_row_of_its_table(page: str) -> None:
    table = page.partition("## Reasons for queries: papers")[2]
    for figure in ("hits told", "words told", "forms met", "documents met", "unrelated told"):
        assert table.count(f"| {figure} |") == 1
    for figure in JUDGED_FIGURES:
        assert table.count(f"| {figure.replace('_', ' ')} |") == 2  # of all queries, and of the one kind


def test_lists_of_an_editor_that_were_not_measured_say_why(page: str) -> None:
    assert page.endswith("\n## Lists of an editor\n\nNot measured: no corpus papers.jsonl.\n")


def test_every_method_is_a_row_of_every_table(page: str) -> None:
    tables = page.count("| method |")
    assert tables == 3
    assert all(page.count(f"\n| {run.name} |") == tables for run in RUNS)


def test_all_rows_of_a_table_have_as_many_cells_as_its_head(page: str) -> None:
    for part in page.split("\n\n"):
        rows = [line for line in part.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_each_selection_of_spaces_is_a_row_with_the_figures_that_were_measured() -> None:
    judged = {"figures": {"auc": 0.9, "relevant_told": 1.0}}
    rows = list(list_space_rows([{"spaces": ["words", "topics"], "judged": judged}, {"spaces": []}]))
    assert [row[0] for row in rows] == ["words + topics", "none"]
    assert dict(zip(SPACE_COLUMNS, rows[0], strict=True)) | {
        "auc": 0.9,
        "relevant told": 1.0,
        "faithful": None,
    } == dict(zip(SPACE_COLUMNS, rows[0], strict=True))
