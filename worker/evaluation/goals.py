"""Goals of the quality figures, and whether they are met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

DEFAULT_RUN = "cda/default"
"""Name of the row that goals are about."""


class QualityGoal(NamedTuple):
    """Least (or largest) value that a figure should have."""

    measure: str
    figure: str
    target: float
    is_maximum: bool = False

    def is_met(self, value: float) -> bool:
        return value <= self.target if self.is_maximum else value >= self.target


KEYWORD_GOALS = (
    QualityGoal("surface recall", "surface_recall", 0.98),
    QualityGoal("semantic F1", "semantic_f1", 0.65),
    QualityGoal("distinct F1", "distinct_f1", 0.91),
    QualityGoal("AUC of semantic against distinct", "auc", 0.87),
    QualityGoal("surface keywords in the first 3", "surface_at3", 0.90),
    QualityGoal("surface keywords in the first 8", "surface_at8", 0.95),
    QualityGoal("semantic keywords in the first 3", "semantic_at3", 0.45),
    QualityGoal("semantic keywords in the first 8", "semantic_at8", 0.70),
    QualityGoal("distinct keywords in the first 3", "distinct_at3", 0.30),
    QualityGoal("distinct keywords in the first 8", "distinct_at8", 0.50),
    QualityGoal("shown phrases of more than 1 % of documents", "frequent_share", 0.10, is_maximum=True),
)
MASKED_GOALS = (
    QualityGoal("masked phrase: AUC", "auc", 0.92),
    QualityGoal("masked phrase: in common at the cap", "found", 0.60),
    QualityGoal("masked phrase: other one-sided phrases there", "others", 0.12, is_maximum=True),
)
QUERY_GOALS = (
    QualityGoal("hits told by a query word they hold", "hits_told", 0.995),
    QualityGoal("word forms that meet their documents", "forms_met", 0.995),
    QualityGoal("unrelated documents with a common phrase", "unrelated_told", 0.05, is_maximum=True),
    QualityGoal("relevant hits told something", "relevant_told", 0.95),
    QualityGoal("an editor's reason in the first 3", "reason_at3", 0.80),
    QualityGoal("irrelevant hits with a score of 0.5 or more", "irrelevant_confident", 0.25, is_maximum=True),
    QualityGoal("AUC of relevant against irrelevant hits", "auc", 0.88),
)
VECTOR_QUERY_GOALS = (
    *QUERY_GOALS[:3],
    QualityGoal("relevant hits told something", "relevant_told", 0.98),
    QualityGoal("an editor's reason in the first 3", "reason_at3", 0.90),
    QualityGoal("irrelevant hits with a score of 0.5 or more", "irrelevant_confident", 0.15, is_maximum=True),
    QualityGoal("AUC of relevant against irrelevant hits", "auc", 0.95),
    QualityGoal("hits without a word of the query told something", "meaning_told", 0.90),
    QualityGoal("AUC of such hits against random documents", "meaning_auc", 0.98),
    QualityGoal("hits that reasons are faithful for", "faithful", 0.85),
)
"""Goals of an index with vectors."""


def check_goals(
    goals: tuple[QualityGoal, ...], evaluation: dict[str, Any], baselines: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return a row per goal: the figure of every baseline and of the default run, the goal, and whether it is met."""
    by_name = {row["name"]: row["figures"] for row in evaluation["rows"]}
    ours = by_name[DEFAULT_RUN]
    return [
        {
            "measure": goal.measure,
            **{name: by_name[name].get(goal.figure) for name in baselines if name in by_name},
            "measured": ours[goal.figure],
            "goal": goal.target,
            "met": goal.is_met(ours[goal.figure]),
        }
        for goal in goals
    ]


def check_query_goals(
    name: str, evaluation: dict[str, Any], goals: Sequence[QualityGoal] = QUERY_GOALS
) -> list[dict[str, Any]]:
    """Return a row per goal of the reasons for queries on one corpus, of those figures that were measured."""
    figures = collect_figures(evaluation)
    return [
        {
            "measure": f"{name}: {goal.measure}",
            "measured": figures[goal.figure],
            "goal": goal.target,
            "met": goal.is_met(figures[goal.figure]),
        }
        for goal in goals
        if figures.get(goal.figure) is not None
    ]


def collect_figures(evaluation: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of all parts of an evaluation of queries by name."""
    parts = [part for part in evaluation.values() if isinstance(part, dict)]
    return {name: value for part in parts for name, value in part.get("figures", {}).items()}


def compare_with_baselines(evaluation: dict[str, Any]) -> dict[str, bool]:
    """Return whether the default run beats containment (interval of the difference above zero) and every other run."""
    rows = {row["name"]: row for row in evaluation["rows"]}
    ours = rows[DEFAULT_RUN]
    best = max(row["figures"]["macro_f1"] for name, row in rows.items() if name != DEFAULT_RUN)
    return {
        "beats_containment": ours.get("above_containment", (0.0, 0.0))[0] > 0,
        "ahead_of_every_method": ours["figures"]["macro_f1"] > best,
    }
